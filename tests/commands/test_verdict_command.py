"""`deepbench verdict` on recorded results: lines, causes, output, repeated changes."""

import json
import math
import shutil
import sys
import xml.etree.ElementTree as xml
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import example_points as points_of_tests
import numpy as np
import pytest
import simulated_rounds
from click.testing import CliRunner

pytest.importorskip("asv", reason="results are read by asv")
from deepbench_ops.analysis import change_causes, change_confirmation, kernel_lines, point_reading
from deepbench_ops.analysis.change_courses import Courses
from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.commands import terminal_tables, verdict_documents
from deepbench_ops.commands import verdict as command
from deepbench_ops.commands.output_format import as_json
from deepbench_ops.commands.verdict import verdict
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import core_latency, ensemble_sweeps
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.pages import index_page_data
from deepbench_ops.releases import release_table
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import measurement_files

RESULTS = Path(__file__).resolve().parents[2] / "results"
GEMMS = points_of_tests.GEMMS
SHARED = "cannot be measured in shared rounds"
RELEASES = [Release("numpy", f"2.{n}.0", date(2024, 1, 1 + n)) for n in range(8)]


def point(release, rounds, problem=GEMMS[0], machine="here", **changed):
    """A point of one kernel whose processes took these seconds."""
    said = {"seconds": float(np.median(rounds)), "samples": len(rounds), "rounds": tuple(rounds)}
    return points_of_tests.point(
        release=release, problem_id=problem, machine=machine, **{**said, **changed}
    )


def line(levels, seed=0, **about):
    """The points of one kernel, two processes a release, at these levels and 1 % noise."""
    random = np.random.default_rng(seed)
    return [
        point(release, level * np.exp(random.normal(0, 0.01, 2)), **about)
        for release, level in zip(RELEASES, levels, strict=True)
    ]


STEP = (1, 1, 1, 1, 1.2, 1.2, 1.2, 1.2)
FLAT = (1,) * 8


def test_a_change_lies_between_two_releases():
    """Sixteen processes of eight releases tell which of them was the first slow one."""
    (found,) = kernel_lines.lines(line(STEP), RELEASES)
    (shift,) = found.changes
    assert (RELEASES[3], RELEASES[4]) == (shift.before.release, shift.after.release)
    assert shift.slower
    assert shift.change.low < 1.2 < shift.change.high


def test_a_line_needs_twelve_processes():
    """Five releases of two are too few to judge, six are enough; figures count as one each."""
    full = line(STEP)
    assert [False, True] == [
        kernel_lines.lines(full[:number], RELEASES)[0].judgeable for number in (5, 6)
    ]
    eleven = [*full[:5], full[5]._replace(rounds=full[5].rounds[:1])]
    assert not kernel_lines.lines(eleven, RELEASES)[0].judgeable
    published = [one._replace(rounds=()) for one in full]
    assert not kernel_lines.lines(published, RELEASES)[0].judgeable


def test_points_of_one_line_share_everything_but_the_release():
    """Another machine, precision, device, cache or number of ranks is another line."""
    others = [
        {"machine": "there"},
        {"precision": "int8"},
        {"device": "cuda"},
        {"cache": "cold"},
        {"ranks": 2},
        {"problem": GEMMS[1]},
    ]
    both = line(FLAT)
    for about in others:
        both += line(FLAT, **about)
    assert 1 + len(others) == len(kernel_lines.lines(both, RELEASES))


def test_releases_go_in_the_order_of_the_table():
    """The order is that of the releases given, however the points come."""
    (found,) = kernel_lines.lines(line(STEP)[::-1], RELEASES)
    assert RELEASES == [one.release for one in found.points]


def several(levels, count, seed=100, **about):
    """Lines of so many kernels at the same levels."""
    found = []
    for number, problem in enumerate(GEMMS[:count]):
        found += line(levels, seed=seed + number, problem=problem, **about)
    return found


def judged(given, each=False):
    return change_causes.causes(kernel_lines.lines(given, RELEASES), each)


def test_most_of_a_framework_is_one_cause():
    """Ten of twelve kernels that change together are one line."""
    (cause,) = judged(several(STEP, 10) + several(FLAT, 12)[10 * 8 :])
    assert ("framework", 10, 12, True) == (
        cause.scope,
        len(cause.shifts),
        cause.watched,
        cause.slower,
    )
    assert cause.ratio == pytest.approx(1.2, abs=0.02)


def test_most_of_a_family_and_single_kernels():
    """All of one precision is a family; two of another are listed one by one."""
    (family, *single) = judged(
        several(STEP, 6)
        + several(FLAT, 20, precision="int8")[2 * 8 :]
        + several(STEP, 2, precision="int8")
    )
    assert ("family", "gemm, float32", 6) == (family.scope, family.name, family.watched)
    assert ["kernel", "kernel"] == [cause.scope for cause in single]
    assert GEMMS[0] in single[0].name + single[1].name


def test_a_cause_leads_to_the_line_that_shows_it():
    """That of as many ranks, not of the fewest."""
    points = line(STEP, ranks=8) + line(FLAT, ranks=2)
    (cause,) = judged(points)
    places = {release: place for place, release in enumerate(RELEASES)}
    content = index_page_data.change(cause, places, Courses(kernel_lines.lines(points, RELEASES)))
    assert 8 == content["lines"][0]["at"]["ranks"]


def test_the_latest_changes_are_those_of_a_year_largest_first():
    """A change that is older than that of the newest release by more than a year is left out."""
    (slower,), (faster,) = judged(line(STEP)), judged(line([1 / level**2 for level in STEP]))
    old = replace(slower, after=replace(slower.after, date=slower.after.date - timedelta(366)))
    assert [faster, slower] == change_causes.latest([slower, old, faster])
    assert [] == change_causes.latest([])


def test_the_latest_changes_have_a_kernel_of_several_sets_once():
    """The larger of its changes; another kernel of the set is one of its own."""
    larger = line([level**2 for level in STEP], set="inference_server")
    again, (first,) = judged(line(STEP)), judged(larger)
    (other,) = judged(line(STEP, set="inference_server", problem=GEMMS[1]))
    assert [first, other] == change_causes.latest([*again, first, other])


def test_a_group_without_shared_rounds_has_the_range_of_its_kernels():
    """A single kernel has its interval."""
    places = {release: place for place, release in enumerate(RELEASES)}
    one, many = (several(STEP, count) for count in (1, 6))
    for given, sure in ((one, True), (many, False)):
        (cause,) = judged(given)
        content = index_page_data.change(
            cause, places, Courses(kernel_lines.lines(given, RELEASES))
        )
        ratios = [shift.change.ratio for shift in cause.shifts]
        ends = [cause.shifts[0].change.low, cause.shifts[0].change.high]
        expected = ends if sure else [min(ratios), max(ratios)]
        assert sure == content["sure"]
        assert expected == pytest.approx(content["span"], rel=5e-3)


def test_the_same_elsewhere():
    """A change that another machine shows as well is said to be there too."""
    here, there = judged(several(STEP, 5) + several(STEP, 5, machine="there"))
    assert (("there",), ("here",)) == (here.elsewhere, there.elsewhere)


def test_other_kernels_elsewhere_are_not_the_same():
    """Three of six float32 products are not three others of them."""
    mine = several(STEP, 3) + several(FLAT, 10)[3 * 8 :]
    theirs = several(FLAT, 10, machine="there")
    theirs[4 * 8 : 7 * 8] = several(STEP, 7, machine="there")[4 * 8 :]
    here, there = judged(mine + theirs)
    assert ("several", "several") == (here.scope, there.scope)
    assert ((), ()) == (here.elsewhere, there.elsewhere)


def recorded(machine="epyc-9004-2core"):
    """The lines of a machine in results/."""
    order = [release for release in release_table.load() if release.measurable]
    known = {release.hash: release for release in order}
    return kernel_lines.lines(point_reading.load(RESULTS, machine, known, rounds=True), order)


def test_two_machines_saw_numpy_2_become_slower():
    """A product with one column is slower since numpy 2.0.2 on both machines in results/."""
    lines = recorded() + recorded("epyc-9005-2core")
    found = [
        cause
        for cause in change_causes.causes(lines, each=True)
        if "m3072_n1_k128_NN" in cause.name and ", float32" in cause.name
    ]
    assert 2 == len(found)
    for cause in found:
        assert ("numpy-1.26.4", "numpy-2.0.2") == (cause.before.name, cause.after.name)
        assert 1.5 < cause.ratio < 2.2
        assert 1 == len(cause.elsewhere)


def run(*arguments):
    """The command's exit status and output, on the recorded results."""
    done = CliRunner().invoke(verdict, ["--results", str(RESULTS), *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit | DeepbenchError)
    return done


def test_the_table_names_release_and_kernel():
    done = run("--machine", "epyc-9005-2core", "--each", "--since", "numpy-1.26.4")
    rows = [text for text in done.output.splitlines() if "m3072_n1_k128_NN" in text]
    assert any("numpy-2.0.2" in row and "slower" in row for row in rows)
    assert "epyc-9004-2core:" not in done.output
    assert "numpy-1.25.2" not in done.output


@pytest.mark.slow
def test_other_new_software_of_a_release_is_listed():
    """Another BLAS came with numpy 2.4.6: below the table, and with each change in JSON."""
    asked = ("--machine", "epyc-7003-2core", "--release", "numpy-2.4.6")
    prefix = "- new under numpy-2.4.6 since numpy-2.4.1: "
    (line,) = [text for text in run(*asked).output.splitlines() if text.startswith(prefix)]
    assert line.startswith(f"{prefix}blas scipy-openblas 0.3.31")
    assert "numpy 2.4.6 (" not in line
    found = json.loads(run(*asked, "--format", "json").output)["changes"]
    assert found
    assert ["scipy-openblas 0.3.30", "scipy-openblas 0.3.31.188.0"] == found[0]["new"]["blas"]


def test_one_release_can_be_asked_for(monkeypatch):
    """Only kernels that changed with it are listed, and measured again."""
    asked = []
    monkeypatch.setattr(
        change_confirmation,
        "confirm",
        lambda causes, *_: asked.extend(causes) or change_confirmation.Confirmed("epyc-9005-2core"),
    )
    monkeypatch.setattr(machine_entry, "default_name", lambda: "epyc-9005-2core")
    here = ("--machine", "epyc-9005-2core")
    said = json.loads(run(*here, "--release", "numpy-2.0.2", "--format", "json").output)["changes"]
    assert {"numpy-2.0.2"} == {change["after"] for change in said}
    every = json.loads(run(*here, "--format", "json").output)["changes"]
    assert [change for change in every if change["after"] == "numpy-2.0.2"] == said != every
    run(*here, "--release", "numpy-2.0.2", "--confirm")
    assert len(said) == len(asked)


def test_suspicions_are_not_confirmed():
    """A slower kernel that no one has measured again ends in status 3."""
    assert 3 == run("--machine", "epyc-9005-2core").exit_code


def test_a_machine_without_lines_cannot_be_judged(monkeypatch):
    """The line says how many releases it takes, and the command that measures them."""
    monkeypatch.setattr(machine_entry, "default_name", lambda: "xeon-avx512-2core")
    for arguments in (["--machine", "nvidia-v100"], ["--machine", "xeon-avx512-2core"], []):
        done = run(*arguments)
        assert isinstance(done.exception, DeepbenchError)
        assert "6 releases" in str(done.exception)
        assert "asv run --bench" in str(done.exception)
        assert "" == done.output


@pytest.mark.slow
def test_this_machine_is_the_usual_one(monkeypatch):
    """Others are shown when asked for: one by its name, or all after this one."""
    monkeypatch.setattr(machine_entry, "default_name", lambda: "epyc-9005-2core")
    since = ("--since", "numpy-1.26.4")
    mine, every = run(*since).output, run(*since, "--all-machines").output
    assert run(*since, "--machine", "epyc-9005-2core").output == mine
    assert "epyc-9005-2core:" in mine and "epyc-9004-2core:" not in mine
    assert 0 < every.index("\nepyc-9005-2core:\n") < every.index("\nepyc-9004-2core:\n")


def test_a_release_that_no_kernel_has_is_said():
    """Nothing changed with it, but nothing was looked at either."""
    done = run("--machine", "epyc-9005-2core", "--release", "torch-2.13.0")
    assert "torch-2.13.0: no kernel with enough releases" in str(done.exception)
    done = run("--machine", "epyc-9005-2core", "--since", "numpy-2.4.6")
    assert "no release after numpy-2.4.6" in str(done.exception)


def test_json_holds_every_kernel():
    content = json.loads(run("--machine", "epyc-9005-2core", "--format", "json").output)
    assert content["judged"] == sum(line.judgeable for line in recorded("epyc-9005-2core"))
    assert content["changes"]
    for change in content["changes"]:
        assert change["verdict"] == ("slower" if change["ratio"] > 1 else "faster")
        for kernel in change["kernels"]:
            assert kernel["low"] <= kernel["ratio"] <= kernel["high"]


def test_a_cause_is_of_one_device():
    """Kernels that became slower on the processor and on the GPU are two causes, each named."""
    points = [
        each
        for problem in GEMMS[:4]
        for device in ("cpu", "cuda")
        for each in line(STEP, problem=problem, device=device)
    ]
    found = change_causes.causes(kernel_lines.lines(points, RELEASES))
    assert {"most kernels of numpy", "most kernels of numpy, cuda"} == {one.name for one in found}
    assert [4, 4] == [one.watched for one in found]


def test_changes_since_a_release_are_those_of_higher_versions():
    """Also of its day, and without later patches of older minors; of other frameworks later days
    count."""
    day = date(2024, 6, 1)
    since = Release("numpy", "2.0.0", day)
    others = [
        Release("numpy", "2.0.1", day),
        Release("numpy", "1.26.9", day + timedelta(9)),
        Release("torch", "2.0.0", day),
        Release("torch", "1.0.0", day + timedelta(1)),
    ]
    after = command._is_after
    assert [True, False, False, True] == [after(since, one) for one in others]
    assert all(after(None, one) for one in others)


def test_junit_fails_what_became_slower():
    """A case for each line judged; failures are those of the table."""
    root = xml.fromstring(run("--machine", "epyc-9005-2core", "--format", "junit").output)
    (suite,) = root.findall("testsuite")
    failed = [
        case.get("name") for case in suite.findall("testcase") if case.find("failure") is not None
    ]
    judged = [line for line in recorded("epyc-9005-2core") if line.judgeable]
    assert int(suite.get("tests")) == len(judged)
    assert int(suite.get("failures")) == len(failed)
    assert "m3072_n1_k128_NN, OPENBLAS_CORETYPE=Haswell, float32, numpy" in failed


def test_junit_tells_lines_of_one_kernel_apart():
    """By device, framework and state of the machine: only the slower one fails."""
    others = [
        {"device": "cuda"},
        {"state": "far"},
        {"precision": "float16"},
        {"set": "inference_server"},
    ]
    points = line(STEP, state="near")
    points += [each for changed in others for each in line(FLAT, **{"state": "near", **changed})]
    torch = [replace(release, framework="torch") for release in RELEASES]
    for each, release in zip(line(FLAT, state="near"), torch, strict=True):
        points.append(each._replace(release=release))
    points[7] = points[7]._replace(state="")
    found = kernel_lines.lines(points, [*RELEASES, *torch])
    assert len(found) == 6
    root = xml.fromstring(verdict_documents.as_junit(found, change_causes.causes(found)))
    cases = root.findall("testsuite/testcase")
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == 6
    (failed,) = (case.get("name") for case in cases if case.find("failure") is not None)
    assert failed == f"{GEMMS[0]}, float32, near, numpy"


@pytest.mark.parametrize(
    ("arguments", "offender"),
    [
        (["--machine", "epyc"], "epyc"),
        (["--since", "numpy-9"], "numpy-9"),
        (["--release", "torch-9"], "torch-9"),
        (["--machine", "nvidia-v100", "--confirm"], "nvidia-v100"),
        (["--results", "nowhere"], "nowhere"),
    ],
)
def test_wrong_names_get_a_line(arguments, offender):
    done = run(*arguments)
    assert isinstance(done.exception, DeepbenchError)
    assert offender in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_torn_file_of_samples_is_named(tmp_path):
    """In one line, where a compressed file ends too early."""
    shutil.copytree(RESULTS / "epyc-9005-2core", tmp_path / "epyc-9005-2core")
    torn = measurement_files.paths(tmp_path / "epyc-9005-2core")[0]
    torn.write_bytes(torn.read_bytes()[:-100])
    done = CliRunner().invoke(verdict, ["--results", str(tmp_path), "--all-machines"])
    assert isinstance(done.exception, DeepbenchError)
    assert torn.name in str(done.exception)


@pytest.fixture
def same_release(monkeypatch, tmp_path):
    """Whatever the two releases are, both are this interpreter's numpy; a new folder."""
    here = Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy"})
    monkeypatch.setattr(core_latency.Reader, "read", lambda reader: None)
    monkeypatch.setattr(change_confirmation.worker_launch, "launch", lambda *_: here)
    return tmp_path / "env"


def measuring(ratios, before_each=lambda tasks, number: None):
    """A substitute for ensemble.run_round: two releases whose ratio `ratios` gives, by the kernel
    and the number of the round."""

    def run_round(launches, tasks, number, *_, **__):
        before_each(tasks, number)
        for task in tasks:
            yield task, simulated_rounds.of_ratios(*launches, [ratios(task, number)] * 20)

    return run_round


def noting(asked):
    """Note the kernels that each round is asked for."""
    return lambda tasks, number: asked.extend(tasks)


@pytest.mark.slow
def test_what_does_not_repeat_is_dropped(same_release, monkeypatch):
    """A release against itself, in live processes: the suspicion of 20 % goes.

    On one thread, whose times other work on the machine disturbs least.
    """
    monkeypatch.setenv("DEEPBENCH_THREADS", "1")
    (cause,) = judged(line(STEP, problem="m35_n700_k2048_NN"))
    said = []
    found = change_confirmation.confirm([cause], 6, said.append, same_release)
    ((_, judgement),) = found.of(cause)
    assert judgement.kind in ("same", "ambiguous")
    assert judgement.low < 1 < judgement.high
    assert judgement.ratio == pytest.approx(1, abs=0.15)
    assert not found.repeats(cause)
    assert 1 == len(said)


def test_what_repeats_is_kept(same_release, monkeypatch):
    """Verdicts in the cause's own direction keep it, the other direction does not."""
    (cause,) = judged(line(STEP))
    for ratio, kept in ((1.2, True), (0.8, False)):
        ratios = [ratio * (1 + noise) for noise in (-0.01, 0.0, 0.01, 0.005)]
        measured = measuring(lambda task, number, ratios=ratios: ratios[number])
        monkeypatch.setattr(ensemble_sweeps, "run_round", measured)
        found = change_confirmation.confirm([cause], 4, str, same_release)
        assert kept == found.repeats(cause)
        assert found.summaries(cause)[0].startswith("slower" if kept else "faster")


def test_what_has_answered_is_not_measured_further(same_release, monkeypatch):
    """Five rounds of ten for a kernel that is surely as slow; the other goes on."""
    listed = ("m35_n8457_k1760_NN", "m64_n8457_k1760_NN")
    both = judged([one for name in listed for one in line(STEP, problem=name)])
    asked = []

    def ratio(task, number):
        after = {listed[0]: 1.2 + 0.002 * (number % 5), listed[1]: 1.05 + 0.1 * (-1) ** number}
        return after[task.problem]

    monkeypatch.setattr(ensemble_sweeps, "run_round", measuring(ratio, noting(asked)))
    found = change_confirmation.confirm(both, 10, str, same_release)
    assert [5, 10] == [[task.problem for task in asked].count(name) for name in listed]
    assert ["slower", "ambiguous"] == [found.of(cause)[0][1].kind for cause in both]


def test_all_looks_share_one_error_probability(same_release, monkeypatch):
    """A kernel that stays open is judged after 5, 10, 15 and 20 rounds; the shares add up to 1."""
    (cause,) = judged(line(STEP))
    spent, judge = [], change_confirmation.compare_in_one_state

    def judging(rounds, before, after, share):
        spent.append((len(rounds), share))
        return judge(rounds, before, after, share)

    measured = measuring(lambda task, number: 1.05 + 0.1 * (-1) ** number)
    monkeypatch.setattr(change_confirmation, "compare_in_one_state", judging)
    monkeypatch.setattr(ensemble_sweeps, "run_round", measured)
    change_confirmation.confirm([cause], 20, str, same_release)
    assert [5, 10, 15, 20] == [rounds for rounds, _ in spent]
    assert 1.0 == pytest.approx(sum(share for _, share in spent))


def test_what_did_not_repeat_is_counted_and_listed(same_release, monkeypatch):
    """With the causes and the verdicts of their rounds; JSON has them apart."""
    names = ("m35_n8457_k1760_NN", "m64_n8457_k1760_NN", "m128_n8457_k1760_NN")
    causes = judged([one for name in names for one in line(STEP, problem=name)], each=True)
    after = dict(zip(names, (1.2, 1.0, 1.0), strict=True))

    measured = measuring(lambda task, number: after[task.problem] + 0.001 * (number % 3))
    monkeypatch.setattr(ensemble_sweeps, "run_round", measured)
    found = change_confirmation.confirm(causes, 10, str, same_release)
    lines = command._not_repeated(causes, found).splitlines()
    assert (["", "2 of 3 did not repeat:"], 2) == (lines[:2], len(lines[2:]))
    assert all("measured again: same 1" in text for text in lines[2:])
    left = [cause for cause in causes if found.repeats(cause)]
    content = json.loads(as_json(verdict_documents.all_as_data([], left, found, {}, causes)))
    assert (1, 2) == (len(content["changes"]), len(content["did_not_repeat"]))


def test_a_slowdown_that_stays_open_is_listed_apart_and_no_all_clear(same_release, monkeypatch):
    """Rounds that do not agree neither confirm it nor contradict it: the status is 3, not 0."""
    names = ("m35_n8457_k1760_NN", "m64_n8457_k1760_NN")
    causes = judged([one for name in names for one in line(STEP, problem=name)], each=True)

    def ratio(task, number):
        return 1.0 if task.problem == names[0] else 1.05 + 0.1 * (-1) ** number

    monkeypatch.setattr(ensemble_sweeps, "run_round", measuring(ratio))
    found = change_confirmation.confirm(causes, 10, str, same_release)
    assert [False, True] == [found.is_open(cause) for cause in causes]
    text = command._not_repeated(causes, found)
    assert "1 of 2 did not repeat:\n" in text
    assert f"1 of 2 {command.STAYED_OPEN}:\n" in text
    content = json.loads(as_json(verdict_documents.all_as_data([], [], found, {}, causes)))
    assert [1, 1] == [len(content[key]) for key in ("did_not_repeat", "stayed_open")]
    long_enough = [SimpleNamespace(judgeable=True)]
    assert command.UNDECIDED == command._status(long_enough, causes, found)
    assert command.NOTHING == command._status(long_enough, causes[:1], found)


def test_kernels_that_did_not_repeat_are_named_within_a_change_that_did(same_release, monkeypatch):
    """The JSON has a verdict for each kernel measured again, and null for the others."""
    names = [f"m{m}_n8457_k1760_NN" for m in (35, 64, 128, 256)]
    times = [one for name in names for one in line(STEP, problem=name)]
    (cause,) = judged(times)
    largest = max(cause.shifts, key=lambda shift: shift.change.ratio)
    unlike = largest.after.problem_id

    def ratio(task, number):
        return (1 + 0.005 * (-1) ** number) * (0.9 if task.problem == unlike else 1.2)

    monkeypatch.setattr(ensemble_sweeps, "run_round", measuring(ratio))
    found = change_confirmation.confirm([cause], 10, str, same_release)
    text = command._not_repeated([cause], found).splitlines()
    shifts = [shift for shift, _ in found.of(cause)]
    assert len(shifts) == 3 and unlike in [shift.after.problem_id for shift in shifts]
    assert "kernels of the changes above that did not repeat:" == text[3]
    assert "faster 0.9" in " ".join(text[4:]) and unlike in " ".join(text[4:])
    content = json.loads(as_json(verdict_documents.all_as_data([], [cause], found, {}, [cause])))
    (change,) = content["changes"]
    again = {one["problem"]: one["measured_again"] for one in change["kernels"]}
    assert "faster" == again[unlike]["verdict"]
    assert 1 == list(again.values()).count(None)


def test_a_change_on_another_machine_is_no_answer_to_the_one_measured_here(
    same_release, monkeypatch
):
    """It stays in the list, and says that it was not measured again."""
    here, there = judged(line(STEP) + line(STEP, machine="other"))
    monkeypatch.setattr(ensemble_sweeps, "run_round", measuring(lambda *_: 1.0))
    found = change_confirmation.confirm([here], 10, str, same_release)
    assert (False, True) == (found.repeats(here), found.repeats(there))
    assert ["not measured again: it is on other"] == found.summaries(there)
    (shift,) = there.shifts
    assert found.again(shift) is None


def test_changes_that_did_not_repeat_fit_the_terminal(same_release, monkeypatch):
    """Their lines are wrapped; where nothing could be measured again, one line says so."""
    causes = judged(line(STEP), each=True)
    monkeypatch.setattr(ensemble_sweeps, "run_round", measuring(lambda *_: 1.0))
    monkeypatch.setattr(terminal_tables, "terminal_width", lambda: 60)
    found = change_confirmation.confirm(causes, 10, str, same_release)
    lines = command._not_repeated(causes, found).splitlines()
    assert "1 of 1 did not repeat:" == lines[1]
    assert 1 < len(lines[2:]) and 60 >= max(map(len, lines))
    assert "\nnothing was measured again" == command._not_repeated([], found)


def test_a_problem_of_two_sets_is_measured_once(same_release, monkeypatch):
    """Its verdict answers for both."""
    both = judged(line(STEP) + line(STEP, seed=1, set="inference_server"))
    asked = []
    monkeypatch.setattr(ensemble_sweeps, "run_round", measuring(lambda *_: 1.2, noting(asked)))
    found = change_confirmation.confirm(both, 4, str, same_release)
    assert (2, 1) == (len(both), len(set(asked)))
    assert all(found.of(cause) for cause in both)


def test_three_different_kernels_of_a_cause_are_measured(same_release, monkeypatch):
    """One that two sets list is one of them, and is listed once."""
    listed = [("m35_n8457_k1760_NN", "training"), ("m35_n8457_k1760_NN", "inference_server")]
    listed += [(f"m{m}_n8457_k1760_NN", "training") for m in (64, 128, 256)]
    (cause,) = judged([one for name, set in listed for one in line(STEP, problem=name, set=set)])
    asked = []
    monkeypatch.setattr(ensemble_sweeps, "run_round", measuring(lambda *_: 1.2, noting(asked)))
    found = change_confirmation.confirm([cause], 4, str, same_release)
    assert (5, 3) == (len(cause.shifts), len({task.problem for task in asked}))
    assert 3 == len(found.summaries(cause))


def test_an_interrupted_confirmation_goes_on(same_release, monkeypatch):
    """Measured rounds are not measured again; once all is printed, none is kept."""
    (cause,) = judged(line(STEP))
    numbers = []

    def interrupted_once(tasks, number):
        numbers.append(number)
        if numbers == [0, 1, 2]:
            raise KeyboardInterrupt

    noise = (-0.01, 0.0, 0.01, 0.005)
    measured = measuring(lambda task, number: 1.2 + noise[number], interrupted_once)
    monkeypatch.setattr(ensemble_sweeps, "run_round", measured)
    with pytest.raises(KeyboardInterrupt):
        change_confirmation.confirm([cause], 4, str, same_release)
    (kept,) = (same_release.parent / "confirm").glob("*.jsonl")
    with kept.open("a") as file:
        file.write('{"task": {"fam')
    found = change_confirmation.confirm([cause], 4, str, same_release)
    assert numbers == [0, 1, 2, 2, 3]
    assert found.summaries(cause)[0].startswith("slower 1.2")
    assert not kept.exists()


def test_a_kernel_that_one_release_lacks_is_left_out(same_release, monkeypatch):
    """The others of its releases have their verdicts; without any, the reason stands there."""
    listed = ("m35_n8457_k1760_NN", "m64_n8457_k1760_NN")
    both = judged([one for name in listed for one in line(STEP, problem=name)], each=True)

    def run_round(launches, tasks, number, *_, **__):
        for task in tasks:
            taken = simulated_rounds.of_ratios(*launches, [1.2] * 20)
            if task.problem == listed[0]:
                taken.sweeps, taken.reasons = [], dict.fromkeys(launches, "no such kernel")
            yield task, taken

    monkeypatch.setattr(ensemble_sweeps, "run_round", run_round)
    found = change_confirmation.confirm(both, 4, str, same_release)
    assert [0, 1] == sorted(len(found.of(cause)) for cause in both)
    (lacking,) = [cause for cause in both if not found.of(cause)]
    found = change_confirmation.confirm([lacking], 4, str, same_release)
    assert ["no such kernel"] == found.summaries(lacking)


@pytest.mark.parametrize(("later", "measured"), [(3600, 2), (change_confirmation.FRESH + 3600, 4)])
def test_rounds_of_another_day_are_measured_again(same_release, monkeypatch, later, measured):
    """Those of the last 24 hours count when the same question is asked again."""
    (cause,) = judged(line(STEP))
    monkeypatch.setattr(RoundStore, "forget", lambda store: None)
    asked = []
    monkeypatch.setattr(ensemble_sweeps, "run_round", measuring(lambda *_: 1.2, noting(asked)))
    for now in (4e9, 4e9 + later):
        monkeypatch.setattr(change_confirmation.time, "time", lambda now=now: now)
        change_confirmation.confirm([cause], 2, str, same_release)
    assert measured == len(asked)


def test_what_cannot_be_measured_stays_a_suspicion(monkeypatch, tmp_path):
    """An install that fails, or an all-reduce: the reason is printed, and nothing is dropped."""
    (cause,) = judged(line(STEP))
    (ranks,) = judged(line(STEP, ranks=2))

    def fails(*_):
        raise DeepbenchError("no network")

    monkeypatch.setattr(change_confirmation.worker_launch, "launch", fails)
    found = change_confirmation.confirm([cause], 3, str, tmp_path / "env")
    assert (["no network"], True) == (found.summaries(cause), found.repeats(cause))
    found = change_confirmation.confirm([ranks], 3, str)
    assert ([SHARED], True) == (
        found.summaries(ranks),
        found.repeats(ranks),
    )


def test_only_the_kernels_that_changed_most_are_measured(same_release, monkeypatch):
    """Three of a cause, whichever moved furthest."""
    (cause,) = judged(several(STEP, 6))
    asked = []
    monkeypatch.setattr(ensemble_sweeps, "run_round", measuring(lambda *_: 1.0, noting(asked)))
    change_confirmation.confirm([cause], 3, str, same_release)
    furthest = sorted(cause.shifts, key=lambda shift: -math.log(shift.change.ratio))[:3]
    assert {shift.after.problem_id for shift in furthest} == {task.problem for task in asked}
