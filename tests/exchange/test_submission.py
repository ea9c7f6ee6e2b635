"""A machine's results travel in one file: whole, unchanged, possible, merged alike everywhere."""

import copy
import json
import math
import re
from pathlib import Path
from unittest import mock

import pytest
import workbooks
from click.testing import CliRunner
from example_submissions import (
    DIGEST,
    FACTS,
    GOOD,
    KERNELS,
    NAME,
    RELEASE,
    RELEASES,
    made,
    measured,
    of_rounds,
    sealed,
    submissions,
    taken,
    values,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.asv_adapter import asv_api, machine_entry, result_files
from deepbench_ops.commands.import_ import import_
from deepbench_ops.commands.submit import submit
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.published import published_machines, published_result_filing
from deepbench_ops.exchange.submissions import (
    submission,
    submission_checks,
    submission_files,
    submission_merging,
    submission_records,
)
from deepbench_ops.exchange.submissions.submission_files import SubmissionFiles
from deepbench_ops.exchange.unchanged_files import UnchangedFiles
from deepbench_ops.exchange.workbooks import workbook_values
from deepbench_ops.machine import steadiness
from deepbench_ops.problems import load
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.releases import release_table
from deepbench_ops.storage import locks, measurement_files

RESULTS = Path(__file__).resolve().parents[2] / "results"


def refused(results, *sent):
    """Take in one after the other; return whether any was refused."""
    try:
        for each in sent:
            taken(results, each)
    except DeepbenchError:
        return True
    return False


@settings(max_examples=60, deadline=None)
@given(one=submissions(), two=submissions())
def test_the_order_of_merging_does_not_matter(tmp_path_factory, one, two):
    """Two submissions of a machine give the same files, imported once or twice each, or do not fit
    together."""
    there, back = (tmp_path_factory.mktemp(name) for name in ("there", "back"))
    assert refused(there, one, two) == refused(back, two, one)
    if not refused(back, one, two):
        assert values(there) == values(back)
        assert 0 == taken(there, one)
        assert values(there) == values(back)


@settings(max_examples=20, deadline=None)
@given(sent=st.lists(submissions(), min_size=3, max_size=3))
def test_neither_does_it_matter_who_came_last(tmp_path_factory, sent):
    """Three of them in any order."""
    folders = [tmp_path_factory.mktemp("there") for _ in range(3)]
    turned = [refused(f, *sent[i:], *sent[:i]) for i, f in enumerate(folders)]
    first, *others = (values(folder) for folder in folders)
    assert any(turned) or [first, first] == others


@settings(max_examples=20, deadline=None)
@given(sent=submissions())
def test_what_was_taken_in_packs_to_the_same(tmp_path_factory, sent):
    """Times, samples, raw seconds, libraries, conditions and noise survive the journey."""
    folder = tmp_path_factory.mktemp("results")
    taken(folder, sent)
    with mock.patch.object(steadiness, "reason", return_value=""):  # of times drawn at random
        again = submission.pack(folder, "box", RELEASES)
    assert by_key(sent) == by_key(again)
    for name in ("libraries", "variables", "environment", "framework", "release", "date"):
        assert sent["results"][0][name] == again["results"][0][name]
    records = [result["results"][0].get("measurements", []) for result in (sent, again)]
    assert submission_records.text(records[0]) == submission_records.text(records[1])
    factors = [result["profile"].get("factor_by_chance", 0.0) for result in (sent, again)]
    assert factors[1] == max(factors[0], steadiness.LEAST_APART)


def by_key(sent):
    points = sent["results"][0]["points"]
    return {
        submission_merging.key_of(point): submission_merging.as_stored(point) for point in points
    }


def test_what_asv_knows_of_other_points_stays(tmp_path):
    """A file that was measured here keeps versions, dates and statistics of its times."""
    results = asv_api.Results(
        *({**GOOD["machine"], "python": "3"}, {}, RELEASE.hash, 0, "3", "release-py3"),
        GOOD["results"][0]["variables"],
    )
    benchmark = {"name": NAME, "version": "1", "params": [[KERNELS[1][0]], [KERNELS[1][1]]]}
    samples = [[0.1, 0.11, 0.12]]
    outcome = asv_api.run_outcome([True], samples, [1])
    results.add_result(benchmark, outcome, record_samples=True)
    results.save(str(tmp_path))
    result_files.write_machine(tmp_path / "box" / "machine.json", GOOD["machine"])
    [path] = (tmp_path / "box").glob("*-release-py3.json")
    params = benchmark["params"]
    before = asv_api.Results.load(str(path)).get_result_stats(NAME, params)
    assert 1 == taken(tmp_path, GOOD)
    after = asv_api.Results.load(str(path))
    assert before == after.get_result_stats(NAME, params)
    assert "1" == after.benchmark_version[NAME]
    assert {key[1][0] for key in submission_merging.points_of(after)} == {
        KERNELS[0][0],
        KERNELS[1][0],
    }


def test_raw_seconds_go_with_the_point_that_stands(tmp_path):
    """Those of a point that gives way go with it; those of other kernels stay."""
    other = measured(KERNELS[1], [9.0], started=5.0)
    skip = {**measured(KERNELS[0], [1.0]), "skipped": "no such kernel"}
    path = tmp_path / "box" / f"{RELEASE.hash[:8]}-release-py3.measurements.jsonl"
    path.parent.mkdir()
    measurement_files.write(path, {DIGEST: FACTS}, [skip, other])
    few = measured(KERNELS[0], [0.7], started=9.0)
    many = [measured(KERNELS[0], [0.5, 0.6], started) for started in (2.0, 3.0)]
    taken(tmp_path, made([(KERNELS[0], 0.7, [0.7])], records=[few]))
    assert ({DIGEST: FACTS}, [other, few]) == measurement_files.load(path)
    taken(tmp_path, made([(KERNELS[0], 0.55, [0.5, 0.6])], records=many))
    assert [*many, other] == measurement_files.load(path)[1]
    assert 0 == taken(tmp_path, made([(KERNELS[0], 0.7, [0.7])], records=[few]))


def test_a_submission_of_the_first_form_is_taken_in(tmp_path):
    """It has no raw seconds, and takes none away from the same point."""
    first = copy.deepcopy(GOOD)
    first["version"] = 1
    del first["results"][0]["conditions"], first["results"][0]["measurements"]
    taken(tmp_path, GOOD)
    before = values(tmp_path)
    assert 0 == taken(tmp_path, sealed(first))
    assert before == values(tmp_path)


def test_an_import_that_breaks_off_goes_on(tmp_path, monkeypatch):
    """Raw seconds that were written before their result are completed, not doubled."""

    def full(*args):
        raise OSError("No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(asv_api.Results, "save", full)
        with pytest.raises(OSError, match="No space"):
            taken(tmp_path / "torn", GOOD)
    assert 1 == taken(tmp_path / "torn", GOOD)
    taken(tmp_path / "whole", GOOD)
    assert values(tmp_path / "whole") == values(tmp_path / "torn")


def test_days_are_listed_before_the_first_result(tmp_path):
    """A submission of published figures that breaks off leaves a day, never results without."""
    content = made([(KERNELS[0], 0.5, [0.5])], framework="published", release="2026.7.8")
    content["results"][0]["environment"] = "published"
    sent = sealed(content)

    def refused(days):
        assert ["published-2026.7.8"] == [day.name for day in days]
        raise OSError("Read-only file system")

    with pytest.raises(OSError, match="Read-only"):
        taken(tmp_path, sent, {}, refused)
    assert not list(tmp_path.iterdir())


def changed(change):
    content = copy.deepcopy(GOOD)
    change(content)
    return content


def faster_than_its_peak(content):
    [point] = content["results"][0]["points"]
    point |= {"seconds": 1e-6, "samples": [1e-6]}
    record_of(content)["seconds"] = [1e-6, 1e-6]


def in_milliseconds(content):
    content["results"][0]["points"][0]["seconds"] = 1e6


def without_its_yardstick(content):
    record_of(content).update(yardstick=[2.0, 2.4], nominal=1.0)


def longer_than_what_was_spent(content):
    record_of(content).update(number=3, spent={"kernel": 3.2})


def faster_than_its_bandwidth(content):
    """400 kB in 10 ns, by a card of 732 GB/s; an all-reduce has no FLOPs."""
    content["profile"]["bandwidth"]["cpu"] = {"value": 732e9, "unit": "bytes/s", "how": "x"}
    [point] = content["results"][0]["points"]
    point |= {"benchmark": "all_reduce.Training.kernel_sum", "seconds": 1e-8, "samples": [1e-8]}
    point["params"] = ["'n100000'", "'float32'", "2"]
    content["results"][0]["measurements"] = []


def a_family_in_milliseconds(content):
    """Without raw seconds that would tell: the best of three needs a 500th of the peak."""
    result = content["results"][0]
    of = [problem.id for problem in load("gemm", "training")[:3]]
    peak = content["profile"]["peaks"]["cpu"]["float32"]["value"]
    result["points"] = [
        {
            "benchmark": NAME,
            "params": [repr(id), "'float32'"],
            "seconds": 500 * place * problem_of("gemm", id).flops / peak,
        }
        for place, id in enumerate(of, 1)
    ]
    result["measurements"] = []


def twice(content):
    content["results"][0]["points"] *= 2


def negative(content):
    content["results"][0]["points"][0]["seconds"] = -1.0


def another_folder(content):
    content["machine"]["machine"] = "../elsewhere"


def a_name_of_300_letters(content):
    content["machine"]["machine"] = content["profile"]["machine"] = "a" * 300


def profile_of_another(content):
    content["profile"]["machine"] = "another"


def torn_profile(content):
    del content["profile"]["date"]


def without_points(content):
    content["results"][0]["points"] = []


def record_of(content):
    return content["results"][0]["measurements"][0]


def a_record_of_nothing(content):
    record_of(content)["params"] = [text.strip("'") for text in KERNELS[1]]


def a_record_of_another_release(content):
    record_of(content)["release"] = "torch-2.12.0"


def a_record_without_times(content):
    record_of(content)["seconds"] = []


def a_negative_record(content):
    record_of(content)["seconds"][0] = -0.5


def an_endless_record(content):
    record_of(content)["seconds"][0] = math.inf


def a_record_of_no_number(content):
    record_of(content)["seconds"][0] = math.nan


def a_record_that_skips(content):
    record_of(content)["skipped"] = "no such kernel"


def a_yardstick_too_few(content):
    record_of(content)["yardstick"] = [0.1]


def unknown_conditions(content):
    record_of(content)["fingerprint"] = "0" * 12


def other_conditions(content):
    content["results"][0]["conditions"][DIGEST] = {"python": "2.7"}


def the_release_twice(content):
    content["results"] *= 2


def the_release_in_two_environments(content):
    again = {**content["results"][0], "environment": "release-py3-other"}
    content["results"].append(again)


def on_another_day(content):
    content["results"][0]["date"] = "2026-07-09"


def published_on_another_day(content):
    content["results"][0] |= {"framework": "published", "release": "2026.7.9"}
    content["results"][0]["environment"] = "published"
    record_of(content)["release"] = "published-2026.7.9"


def filed_as_published(content):
    content["results"][0]["environment"] = "published"


def a_third_parameter(content):
    content["results"][0]["points"][0]["params"].append("8")


def an_unknown_set(content):
    content["results"][0]["points"][0]["benchmark"] = "gemm.Nonsense.kernel_forward"


def an_unknown_operation(content):
    content["results"][0]["points"][0]["benchmark"] = "gemm.Training.kernel_foo"


def an_unknown_precision(content):
    content["results"][0]["points"][0]["params"][1] = "'float3'"


def without_quotes(content):
    content["results"][0]["points"][0]["params"][0] = KERNELS[0][0].strip("'")


def an_alias(content):
    point = content["results"][0]["points"][0]
    point |= {"benchmark": "all_reduce.Training.kernel_sum"}
    point["params"] = ["'n16777216'", "'float32'", "2"]
    content["results"][0]["measurements"] = []


def without_a_stride(content):
    point = content["results"][0]["points"][0]
    point["benchmark"] = "conv.Training.kernel_forward"
    point["params"][0] = "'w9_h9_c1_n1_k1_r3_s3_pad0_0_stride0_1'"
    content["results"][0]["measurements"] = []


def below_its_interval(content):
    content["results"][0]["points"][0] |= {"low": 0.51, "high": 0.6}


def turned_interval(content):
    content["results"][0]["points"][0] |= {"low": 0.6, "high": 0.5}


def far_from_its_samples(content):
    content["results"][0]["points"][0]["samples"] = [500.0, 600.0]


def far_from_its_raw_seconds(content):
    record_of(content)["seconds"] = [500.0, 600.0]


def a_record_below_a_nanosecond(content):
    record_of(content)["seconds"][0] = 1e-10


def with_a_line_break(content):
    content["machine"]["machine"] += "\n"


def a_peak_in_words(content):
    content["profile"]["peaks"]["cpu"]["float32"]["value"] = "1e13"


def no_day(content):
    content["results"][0]["date"] = "2026-13-01"


def an_unknown_condition(content):
    content["results"][0]["variables"]["DEEPBENCH_MOOD"] = "good"


def a_layout_that_is_none(content):
    content["results"][0]["variables"]["DEEPBENCH_LAYOUT"] = "x\nrm -r . #"


def a_device_that_is_none(content):
    content["results"][0]["variables"]["DEEPBENCH_DEVICE"] = "cpu; rm -r ."


REFUSED = {
    an_unknown_condition: "unknown condition 'DEEPBENCH_MOOD'",
    a_layout_that_is_none: "DEEPBENCH_LAYOUT is .*, no layout of a run",
    a_device_that_is_none: "DEEPBENCH_DEVICE is .*, no device of a run",
    a_record_of_nothing: "the submission has no result of it",
    a_record_of_another_release: "of torch-2.12.0, another release",
    a_record_without_times: "results/0/measurements/0/seconds",
    a_negative_record: "results/0/measurements/0/seconds/0",
    an_endless_record: "results/0/measurements/0/seconds/0",
    a_record_of_no_number: "not finite",
    a_record_that_skips: "results/0/measurements/0: .*skipped",
    a_yardstick_too_few: "2 seconds and 1 readings of the yardstick",
    unknown_conditions: "its conditions 000000000000 are missing",
    other_conditions: "they are other conditions",
    the_release_twice: "torch-2.13.0 is in it twice",
    the_release_in_two_environments: "torch-2.13.0 is in it twice",
    no_day: "2026-13-01 is no day",
    on_another_day: "torch-2.13.0 is of 2026-07-08, not of 2026-07-09",
    published_on_another_day: "published-2026.7.9 was published on another day than 2026-07-08",
    filed_as_published: "published is no environment of it",
    a_third_parameter: "8 are not the parameters of gemm: it has 2",
    an_unknown_set: "unknown set 'Nonsense'",
    an_unknown_operation: "unknown operation of gemm 'foo'",
    an_unknown_precision: "unknown precision of gemm 'float3'",
    without_quotes: "write its parameters as 'm1760_n16_k1760_NN', 'float32'",
    an_alias: "write its parameters as 'n16777217'",
    without_a_stride: "stride_w is '0'",
    below_its_interval: "0.5 s is outside of its interval",
    turned_interval: "0.5 s is outside of its interval",
    far_from_its_samples: "0.5 s is far from 550 s, the median of its samples",
    far_from_its_raw_seconds: "0.5 s is far from 550 s, the median of its raw seconds",
    without_its_yardstick: "0.5 s is not 0.25 s, the median of its raw seconds over their",
    longer_than_what_was_spent: "raw seconds add up to 3.3 s, and its process spent 3.2 s",
    faster_than_its_bandwidth: "would take 54.6 times the bandwidth that its profile says",
    a_family_in_milliseconds: "best of 3 kernels of gemm in float32 reaches 1/500 of the peaks",
    a_name_of_300_letters: "machine/machine",
    a_record_below_a_nanosecond: "results/0/measurements/0/seconds/0",
    with_a_line_break: "machine/machine",
    a_peak_in_words: "profile: ValueError: float32 is '1e13', no possible number above 0",
    faster_than_its_peak: "times the peak that its profile says",
    in_milliseconds: "results/0/points/0/seconds",
    twice: "it is there twice",
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
    """Packed again after the change, so that only the content shows it; nothing is written."""
    with pytest.raises(DeepbenchError, match=reason):
        taken(tmp_path, sealed(changed(change)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("file", "anchor") for value in (None, 5)),
        *((name, value) for name in ("ratio", "low", "high") for value in (None, "1.0", True)),
        *(("rounds", value) for value in (0, 10**30, 1e300, "3")),
        *(("seconds", value) for value in (None, 1e-10, 1e6, "0.5")),
        *(("interval", value) for value in (5, [0.4], {"low": 0.4, "high": 0.9}, [0.4, None])),
        *(("states", value) for value in (5, None, "near", [5])),
    ],
)
def test_the_rounds_of_raw_seconds_are_checked_before_they_are_filed(tmp_path, name, value):
    """As every later reader checks them, in whatever order the versions of a point come."""
    _, _, fields = of_rounds(3, 0.5)
    content = made(
        [(KERNELS[0], 0.5, [0.5])],
        records=[{**measured(KERNELS[0], [0.5]), "ensemble": {**fields["ensemble"], name: value}}],
    )
    taken(tmp_path, GOOD)
    before = values(tmp_path)
    shown = re.escape(str(value)[:40])
    with pytest.raises(DeepbenchError, match=rf"kernel_forward\(.*its ensemble.{name} is {shown}$"):
        taken(tmp_path, content)
    assert before == values(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("number", value) for value in (0, 2.0, 1e300, 10**10)),
        *(("started_at", value) for value in (-1, 1e300)),
    ],
)
def test_numbers_of_raw_seconds_have_the_limits_of_stored_ones(tmp_path, name, value):
    """Calls of each time, and the time of day."""
    content = copy.deepcopy(GOOD)
    record_of(content)[name] = value
    with pytest.raises(DeepbenchError, match=re.escape(f"its {name} is {value}")):
        taken(tmp_path, sealed(content))
    assert not list(tmp_path.iterdir())


def in_another_unit(content, factor):
    """The same with every time of it multiplied, and counts of the machine's own left alone."""
    content = copy.deepcopy(content)
    for result in content["results"]:
        for point in result["points"]:
            for name in {"seconds", "low", "high"} & set(point):
                point[name] *= factor
            if "samples" in point:
                point["samples"] = [factor * each for each in point["samples"]]
        for record in result.get("measurements", ()):
            record["seconds"] = [factor * each for each in record["seconds"]]
    return sealed(content)


def test_a_file_in_milliseconds_contradicts_itself(tmp_path):
    """Points, samples and raw seconds multiplied alike: the seconds spent in the kernel show it."""
    content = copy.deepcopy(GOOD)
    record_of(content).update(yardstick=[2.0, 2.4], nominal=2.0, spent={"kernel": 1.3})
    taken(tmp_path, sealed(content))
    with pytest.raises(DeepbenchError, match="its raw seconds add up to 1100 s, and its process"):
        taken(tmp_path, in_another_unit(content, 1000))


@pytest.mark.slow
@pytest.mark.parametrize(
    "machine", ["epyc-9005-2core", "huawei-ascend-910", "intel-knl-7250", "nvidia-t4"]
)
def test_no_machine_of_ours_may_be_sent_in_milliseconds(machine):
    """As they are they may be."""
    packed = submission.pack(RESULTS, machine, {each.hash: each for each in release_table.load()})
    submission.check(packed)
    with pytest.raises(DeepbenchError, match=r"another unit|in seconds, the peak in FLOP/s"):
        submission.check(in_another_unit(packed, 1000))


def test_a_few_small_kernels_may_be_slow(tmp_path):
    """Two say nothing of a family, nor do those whose bytes take the time."""
    content = changed(a_family_in_milliseconds)
    few = copy.deepcopy(content)
    few["results"][0]["points"].pop()
    with pytest.raises(DeepbenchError, match="the best of 3 kernels of gemm"):
        taken(tmp_path / "all", sealed(content))
    assert 1 == taken(tmp_path / "few", sealed(few))
    content["profile"]["bandwidth"]["cpu"] = {"value": 1e5, "unit": "bytes/s", "how": "x"}
    assert 1 == taken(tmp_path / "bytes", sealed(content))


def test_a_name_that_no_folder_can_have_is_one_line(tmp_path):
    """Of a machine that is looked for, of one that is to be, and of one whose file is sent."""
    name, results = "a" * 300, tmp_path / "results"
    taken(results, GOOD)
    for refused in (
        lambda: submission.pack(results, name, RELEASES),
        lambda: published_machines.named(name, {}),
        lambda: machine_entry.check_name(name),
    ):
        with pytest.raises(DeepbenchError, match=r"unknown machine|300 letters") as caught:
            refused()
        assert 1 == len(str(caught.value).splitlines())


@pytest.mark.parametrize("name", ["allowed_signers", "Benchmarks.json", "releases.csv"])
def test_a_machine_with_the_name_of_a_file_of_results_is_refused(tmp_path, name):
    """Its folder would stand where the file belongs."""
    for refused in (
        lambda: taken(tmp_path, made([(KERNELS[0], 0.5, [0.5])], machine=name)),
        lambda: published_machines.named(name, {}),
        lambda: machine_entry.check_name(name),
    ):
        with pytest.raises(DeepbenchError, match=f"machine name '{name}': .*choose another"):
            refused()
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("problem", "operation"),
    [
        (load(family)[0], operation)
        for family, kind in TYPES.items()
        for operation in sorted({*kind.operations, *kind.uncompared})
    ],
)
def test_every_operation_that_is_measured_may_be_sent(problem, operation):
    """First calls, and times of a network's operations alone, as well."""
    [listed, *_] = problem.sets
    ranks = ["2"] if problem.ranks else []
    params = [repr(problem.id), repr(problem.precisions[0]), *ranks]
    benchmark = f"{problem.family}.{CLASSES[listed]}.kernel_{operation}"
    submission_checks.refuse_unknown(benchmark, params)
    with pytest.raises(DeepbenchError, match=f"unknown operation of {problem.family}"):
        submission_checks.refuse_unknown(f"{benchmark}_x", params)


def test_a_result_without_a_time_is_not_sent(tmp_path):
    """A release without any time does not keep a machine from being packed."""
    taken(tmp_path, GOOD)
    [path] = (tmp_path / "box").glob("*-release-py3.json")
    stored = json.loads(path.read_text())
    stored["env_name"] = "release-py3-compiled"
    stored["results"] = {
        name: [[math.nan] * len(entry[0]), *entry[1:2]] for name, entry in stored["results"].items()
    }
    path.with_name(path.name.replace("py3", "py3-compiled")).write_text(json.dumps(stored))
    packed = submission.pack(tmp_path, "box", RELEASES)
    assert ["release-py3"] == [result["environment"] for result in packed["results"]]
    submission.check(packed)


def test_a_change_after_packing_is_noticed(tmp_path):
    """A time made a little better fits everything but the digest, and so does a raw one."""

    def better(content):
        content["results"][0]["points"][0]["seconds"] *= 0.9

    def better_raw(content):
        record_of(content)["seconds"][0] *= 0.9

    for change in (better, better_raw):
        with pytest.raises(DeepbenchError, match="changed after it was packed"):
            taken(tmp_path, changed(change))


def test_another_machine_of_the_same_name_is_refused(tmp_path):
    """Its results would be mixed with those of a machine that is something else."""
    taken(tmp_path, GOOD)

    def other(content):
        content["machine"]["cpu"] = "another"

    with pytest.raises(DeepbenchError, match="another machine is called box here"):
        taken(tmp_path, sealed(changed(other)))


def test_another_submission_next_to_it_must_fit_too(tmp_path):
    """Several files are all fit, each after those before it, or none is taken in."""

    def other(content):
        content["results"][0]["variables"]["DEEPBENCH_DEVICE"] = "cuda"

    both = {Path("one.json"): GOOD, Path("two.json"): sealed(changed(other))}
    with pytest.raises(DeepbenchError, match=r"two\.json: torch-2\.13\.0 was measured under other"):
        list(submission.checked_all(tmp_path, both, RELEASES))


def test_a_second_environment_of_the_same_conditions_is_refused(tmp_path):
    """Either way round: a kernel would have two times at one release."""

    def other(content):
        content["results"][0]["environment"] = "release-py3-other"

    two = sealed(changed(other))
    for name, (first, second) in {"a": (GOOD, two), "b": (two, GOOD)}.items():
        taken(tmp_path / name, first)
        with pytest.raises(DeepbenchError, match="same conditions here, in another environment"):
            taken(tmp_path / name, second)


def test_a_workbook_that_is_refused_keeps_a_submission_out(tmp_path, monkeypatch):
    """Files of one import are all taken in, or none is."""
    workbooks.with_release_of_2017(tmp_path, monkeypatch)
    monkeypatch.setattr(release_table, "load", lambda: (RELEASE,))
    sent = tmp_path / "sent.json"
    sent.write_text(json.dumps(GOOD))
    rows = [workbooks.gemm((1760, 16, 1760, "N", "N", time)) for time in (1, 2)]
    books = [
        workbooks.write(tmp_path / f"2017-07-14__train__DeepBench_NV_P100{end}.xlsx", row)
        for end, row in zip(("", "__9e297a"), rows, strict=True)
    ]
    done = CliRunner().invoke(
        import_, [*map(str, (sent, *books)), "--results", str(tmp_path / "results")]
    )
    assert "took 0.002 s" in str(done.exception)
    assert [locks.NAME] == [path.name for path in (tmp_path / "results").iterdir()]


def test_a_submission_has_a_largest_size(tmp_path, monkeypatch):
    """As workbooks have."""
    sent = tmp_path / "sent.json"
    sent.write_text(json.dumps(GOOD))
    monkeypatch.setattr(submission_files, "LARGEST_BYTES", 1000)
    with pytest.raises(DeepbenchError, match="the most that is read"):
        SubmissionFiles([sent], UnchangedFiles())[sent]


def test_a_submission_that_no_import_would_read_is_not_written(tmp_path, monkeypatch):
    """Where a release alone is too large the sender learns the limit, and no file is left."""
    taken(tmp_path / "results", GOOD)
    monkeypatch.setattr(release_table, "load", lambda: (RELEASE,))
    monkeypatch.setattr(submission, "LARGEST_BYTES", 1_500_000)
    large = {**GOOD["results"][0], "pad": "x" * 1_600_000}
    monkeypatch.setattr(submission, "pack", lambda *_: {**GOOD, "results": [large]})
    monkeypatch.setattr(submission, "check", lambda _: None)
    arguments = ["--machine", "box", "--results", str(tmp_path / "results")]
    done = CliRunner().invoke(submit, [str(tmp_path / "sent.json"), *arguments])
    assert "box: this would be refused: 2 MB: the largest is 2 MB" == str(done.exception)
    assert not (tmp_path / "sent.json").exists()


def test_a_release_that_the_table_lacks_is_named(tmp_path):
    """It could not be put on the x-axis."""
    with pytest.raises(DeepbenchError, match=r"torch-2\.13\.0 is not in the release table"):
        taken(tmp_path, GOOD, {})


def test_the_commands_pack_and_take_in(tmp_path: Path, monkeypatch):
    """`import` takes the files of `submit`, and a damaged one is one line."""
    name = "2017-07-14__train__DeepBench_NV_P100.xlsx"
    book = workbooks.write(tmp_path / name, workbooks.gemm((1760, 16, 1760, "N", "N", 0.055)))
    published_result_filing.file(tmp_path / "results", workbook_values.read(book), len)
    workbooks.with_release_of_2017(tmp_path, monkeypatch)
    monkeypatch.setattr(release_table, "TABLE", tmp_path / "releases.csv")
    sent = tmp_path / "p100.json"
    arguments = ["--machine", "nvidia-p100", "--results", str(tmp_path / "results")]
    packed = CliRunner().invoke(submit, [str(sent), *arguments])
    assert packed.exit_code == 0, packed.output
    taken = CliRunner().invoke(import_, [str(sent), "--results", str(tmp_path / "other")])
    assert taken.exit_code == 0, taken.output
    assert "1 time of nvidia-p100, 1 file written" in taken.output
    again = submission.pack(
        tmp_path / "other", "nvidia-p100", {r.hash: r for r in release_table.load()}
    )
    assert json.loads(sent.read_text()) == again
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(submit, arguments).exit_code == 0
    assert sent.read_bytes() == Path("nvidia-p100.json").read_bytes()
    sent.write_text(sent.read_text()[:-20])
    broken = CliRunner().invoke(import_, [str(sent), "--results", str(tmp_path / "other")])
    assert "is no JSON" in str(broken.exception)
