"""A machine's results travel in one file: whole, unchanged, possible, merged alike everywhere."""

import copy
import json
from datetime import date
from pathlib import Path

import pytest
import workbooks
from asv.results import Results
from asv.runner import BenchmarkResult
from asv.util import write_json
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.commands.import_ import import_
from deepbench_ops.commands.submit import submit
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.published import filing, publication, submission
from deepbench_ops.releases import table
from deepbench_ops.releases.table import Release

RELEASE = Release("torch", "2.13.0", date(2026, 7, 8))
RELEASES = {RELEASE.hash: RELEASE}
KERNELS = [("'m1760_n16_k1760_NN'", "'float32'"), ("'m1760_n32_k1760_NN'", "'float32'")]
NAME = "gemm.Training.kernel_forward"


def made(points, machine="box", framework="torch", release="2.13.0", peak=1e13):
    """A submission of these (parameters, seconds, samples)."""
    figure = {"value": peak, "unit": "FLOP/s", "how": "data sheet: x"}
    content = {
        "format": submission.FORMAT,
        "version": submission.VERSION,
        "machine": {
            "machine": machine,
            **dict.fromkeys(("accelerator", "arch", "cpu", "num_cpu", "os", "ram"), "x"),
        },
        "profile": {
            "version": 1,
            "machine": machine,
            "date": "2026-11-21",
            "facts": {},
            "peaks": {"cpu": {"float32": figure}},
            "bandwidth": {},
            "yardstick_version": "",
            "yardsticks": {},
        },
        "results": [
            {
                "framework": framework,
                "release": release,
                "date": "2026-07-08",
                "environment": "release-py3",
                "variables": {"DEEPBENCH_DEVICE": "cpu", "DEEPBENCH_CACHE": "warm"},
                "libraries": {"numpy": "2.4.6"},
                "points": [
                    {"benchmark": NAME, "params": list(key), "seconds": s, "samples": list(several)}
                    for key, s, several in points
                ],
            }
        ],
    }
    return sealed(content)


def sealed(content):
    content = {name: value for name, value in content.items() if name != "digest"}
    return {**content, "digest": submission._digest(content)}


def values(results):
    """What a results folder holds, by file."""
    return {
        path.relative_to(results): path.read_bytes() for path in sorted(results.rglob("*.json"))
    }


A_TIME = st.floats(1e-3, 10.0).map(lambda x: float(f"{x:.4g}"))
SUBMISSIONS = st.lists(
    st.tuples(st.sampled_from(KERNELS), A_TIME, st.lists(A_TIME, min_size=1, max_size=3)),
    min_size=1,
    max_size=2,
    unique_by=lambda point: point[0],
).map(made)


@settings(max_examples=30, deadline=None)
@given(one=SUBMISSIONS, two=SUBMISSIONS)
def test_the_order_of_merging_does_not_matter(tmp_path_factory, one, two):
    """Whoever takes in two submissions of a machine has the same results, once or twice each."""
    there, back = (tmp_path_factory.mktemp(name) for name in ("there", "back"))
    for each in (one, two):
        submission.accept(there, each, RELEASES)
    for each in (two, one, two):
        submission.accept(back, each, RELEASES)
    assert values(there) == values(back)
    assert 0 == submission.accept(there, one, RELEASES)


@settings(max_examples=20, deadline=None)
@given(sent=SUBMISSIONS)
def test_what_was_taken_in_packs_to_the_same(tmp_path_factory, sent):
    """Times, samples, libraries and conditions survive the journey."""
    folder = tmp_path_factory.mktemp("results")
    submission.accept(folder, sent, RELEASES)
    again = submission.pack(folder, "box", RELEASES)
    assert by_key(sent) == by_key(again)
    for name in ("libraries", "variables", "environment", "framework", "release", "date"):
        assert sent["results"][0][name] == again["results"][0][name]


def by_key(sent):
    return {submission._key(point): point for point in sent["results"][0]["points"]}


def test_what_asv_knows_of_other_points_stays(tmp_path):
    """A file that was measured here keeps versions, dates and statistics of what it had."""
    results = Results(
        {**GOOD["machine"], "python": "3"}, {}, RELEASE.hash, 0, "3", "release-py3", {}
    )
    benchmark = {"name": NAME, "version": "1", "params": [[KERNELS[1][0]], [KERNELS[1][1]]]}
    samples = [[0.1, 0.11, 0.12]]
    outcome = BenchmarkResult([True], samples, [1], 0, "", None)
    results.add_result(benchmark, outcome, record_samples=True)
    results.save(str(tmp_path))
    write_json(str(tmp_path / "box" / "machine.json"), GOOD["machine"], 1)
    [path] = (tmp_path / "box").glob("*-release-py3.json")
    params = benchmark["params"]
    before = Results.load(str(path)).get_result_stats(NAME, params)
    assert 1 == submission.accept(tmp_path, GOOD, RELEASES)
    after = Results.load(str(path))
    assert before == after.get_result_stats(NAME, params)
    assert "1" == after.benchmark_version[NAME]
    assert {key[1][0] for key in submission._points(after)} == {KERNELS[0][0], KERNELS[1][0]}


GOOD = made([(KERNELS[0], 0.5, [0.5, 0.6])])


def changed(change):
    content = copy.deepcopy(GOOD)
    change(content)
    return content


def faster_than_its_peak(content):
    content["results"][0]["points"][0]["seconds"] = 1e-6


def in_milliseconds(content):
    content["results"][0]["points"][0]["seconds"] = 1e6


def twice(content):
    content["results"][0]["points"] *= 2


def negative(content):
    content["results"][0]["points"][0]["seconds"] = -1.0


def another_folder(content):
    content["machine"]["machine"] = "../elsewhere"


def profile_of_another(content):
    content["profile"]["machine"] = "another"


def torn_profile(content):
    del content["profile"]["date"]


def without_points(content):
    content["results"][0]["points"] = []


REFUSED = {
    faster_than_its_peak: "more than the 1e\\+13 that its profile says",
    in_milliseconds: "results/0/points/0/seconds",
    twice: "is in it twice",
    negative: "results/0/points/0/seconds",
    another_folder: "machine/machine",
    profile_of_another: "of 'another', another machine",
    torn_profile: "profile: KeyError",
    without_points: "results/0/points",
}


@pytest.mark.parametrize(
    ("change", "reason"), REFUSED.items(), ids=lambda x: getattr(x, "__name__", "")
)
def test_a_dishonest_submission_is_refused_with_the_reason(tmp_path, change, reason):
    """Packed anew after the change, so that only the content can tell; nothing is written."""
    with pytest.raises(DeepbenchError, match=reason):
        submission.accept(tmp_path, sealed(changed(change)), RELEASES)
    assert not list(tmp_path.iterdir())


def test_a_change_after_packing_is_noticed(tmp_path):
    """A time made a little better fits everything but the digest."""

    def better(content):
        content["results"][0]["points"][0]["seconds"] *= 0.9

    with pytest.raises(DeepbenchError, match="changed after it was packed"):
        submission.accept(tmp_path, changed(better), RELEASES)


def test_another_machine_of_the_same_name_is_refused(tmp_path):
    """Its results would be mixed with those of a machine that is something else."""
    submission.accept(tmp_path, GOOD, RELEASES)

    def other(content):
        content["machine"]["cpu"] = "another"

    with pytest.raises(DeepbenchError, match="describes another machine"):
        submission.accept(tmp_path, sealed(changed(other)), RELEASES)


def test_a_release_that_the_table_lacks_is_named(tmp_path):
    """It could not be put on the x-axis."""
    with pytest.raises(DeepbenchError, match=r"torch-2\.13\.0 is not in the release table"):
        submission.accept(tmp_path, GOOD, {})


def test_the_commands_pack_and_take_in(tmp_path: Path, monkeypatch):
    """`submit` writes what `import` takes, a damaged file is one line."""
    name = "2017-07-14__train__DeepBench_NV_P100.xlsx"
    book = workbooks.write(tmp_path / name, workbooks.gemm((1760, 16, 1760, "N", "N", 0.055)))
    filing.file(tmp_path / "results", publication.read(book), len)
    workbooks.with_release_of_2017(tmp_path, monkeypatch)
    monkeypatch.setattr(table, "TABLE", tmp_path / "releases.csv")
    sent = tmp_path / "p100.json"
    arguments = ["--machine", "nvidia-p100", "--results", str(tmp_path / "results")]
    packed = CliRunner().invoke(submit, [str(sent), *arguments])
    assert packed.exit_code == 0, packed.output
    taken = CliRunner().invoke(import_, [str(sent), "--results", str(tmp_path / "other")])
    assert taken.exit_code == 0, taken.output
    assert "1 times of nvidia-p100, 1 files written" in taken.output
    again = submission.pack(tmp_path / "other", "nvidia-p100", {r.hash: r for r in table.load()})
    assert json.loads(sent.read_text()) == again
    sent.write_text(sent.read_text()[:-20])
    broken = CliRunner().invoke(import_, [str(sent)])
    assert "is no JSON" in str(broken.exception)
