"""Unsteady points of a release are listed with their reasons, and picked for asv."""

import json
import re
import shutil
from pathlib import Path

import example_points as points_of_tests
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("asv", reason="results are read by asv")
from deepbench_ops.analysis import point_reading, unsteady_list
from deepbench_ops.analysis.points import Origin
from deepbench_ops.asv_adapter import plugin, result_saving
from deepbench_ops.cli import cli as deepbench
from deepbench_ops.commands.submit import submit
from deepbench_ops.commands.unsteady import _wide
from deepbench_ops.commands.unsteady import unsteady as command
from deepbench_ops.errors import DeepbenchError, NoAnswer
from deepbench_ops.releases import release_table
from deepbench_ops.storage import compression, measurement_files

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE, RELEASE = "epyc-9005-2core", "numpy-2.2.6"
GEMM = points_of_tests.GEMMS[0]
ORIGIN = Origin("numpy.jsonl.gz", "numpy-2.0", 10, 1.0, 0.99, 1.01, (0.9, 1.1))
RELEASES = {release.hash: release for release in release_table.load()}
KERNEL = "gemm.InferenceServer.kernel_forward", ("m35_n700_k2048_NN", "float32")


@pytest.fixture
def results(tmp_path):
    """A copy of a machine with one release, whose headline kernel alone was disturbed."""
    found = release_table.find(RELEASE, release_table.load())
    folder = tmp_path / MACHINE
    folder.mkdir()
    for path in (RESULTS / MACHINE).iterdir():
        if path.name.startswith((found.hash[:8], "machine.")):
            shutil.copy(path, folder)
    times = {key(point): point.seconds for point in point_reading.load(tmp_path, MACHINE, RELEASES)}
    (path,) = measurement_files.paths(folder)
    facts, entries = measurement_files.load(path)
    for entry in entries:
        kernel = entry["benchmark"], tuple(map(str, entry["params"]))
        reading = 5.5 if kernel == KERNEL else 1.1
        entry["yardstick"] = [reading * entry["nominal"]] * len(entry["seconds"])
        entry["seconds"] = [reading * times[kernel]] * len(entry["seconds"])
        entry.pop("spent", None)
    measurement_files.write(path, facts, entries)
    return tmp_path


def key(point):
    """The benchmark and parameters of a point."""
    return point.benchmark, (point.problem_id, point.precision)


def run(results, *more):
    return CliRunner().invoke(
        command, [RELEASE, "--machine", MACHINE, "--results", str(results), *more]
    )


def test_the_command_prints_a_pattern_reasons_and_the_command_that_mends(results):
    """The pattern alone goes to stdout, so that a shell can hand it to asv."""
    done = run(results)
    pattern = done.stdout.strip()
    assert re.search(pattern, f"{KERNEL[0]}('m35_n700_k2048_NN', 'float32')")
    assert not re.search(pattern, f"{KERNEL[0]}('m35_n700_k2048_NN', 'int8')")
    (reason,) = [line for line in done.stderr.splitlines() if "m35_n700_k2048_NN" in line]
    assert "float32: yardstick off: 5.5 times its nominal reading" in reason
    assert f"1 of 248 points of {RELEASE} are unsteady (1 yardstick off)" in done.stderr
    assert f'asv run --bench "$(deepbench unsteady {RELEASE})" {RELEASE}' in done.stderr


def test_points_that_lie_further_apart_can_be_asked_for(results):
    """Their processes differ by nothing here, but for one that is made to."""
    (path,) = measurement_files.paths(results / MACHINE)
    facts, entries = measurement_files.load(path)
    entries[-1]["seconds"] = [1.25 * seconds for seconds in entries[-1]["seconds"]]
    measurement_files.write(path, facts, entries)
    done = run(results, "--beyond", "0.2")
    assert "its processes lie 25% apart" in done.stderr
    assert "2 of 248 points" in done.stderr


def test_nothing_unsteady_picks_nothing():
    """The pattern matches no benchmark at all, rather than all of them."""
    assert not re.search(unsteady_list.pattern([]), f"{KERNEL[0]}('steady', 'float32')")


@given(st.sets(st.sampled_from(points_of_tests.GEMMS), min_size=1, max_size=5))
def test_the_pattern_picks_these_points_only(problems):
    """asv searches it in the benchmark's name with the repr of its parameters."""
    chosen = [points_of_tests.point(problem_id=name) for name in problems]
    pattern = re.compile(unsteady_list.pattern(chosen[1:]))
    shown = [f"{each.benchmark}({each.problem_id!r}, 'float32')" for each in chosen]
    assert [False] + [True] * len(shown[1:]) == [bool(pattern.search(text)) for text in shown]


def test_the_pattern_names_ranks_as_asv_does():
    point = points_of_tests.point(family="all_reduce", operation="sum", ranks=2)
    assert re.search(unsteady_list.pattern([point]), f"{point.benchmark}({GEMM!r}, 'float32', 2)")


def test_unusual_conditions_are_part_of_the_command():
    """A point measured with cold caches is measured again with cold caches."""
    chosen = [points_of_tests.point(), points_of_tests.point(cache="cold")]
    plain, cold = unsteady_list.commands(chosen)
    assert f"DEEPBENCH_CACHE=cold {plain}" == cold


def test_points_of_a_history_are_measured_on_their_own():
    """As a part of it they have enough rounds, and nothing would be measured."""
    of_history = points_of_tests.point(ensemble=ORIGIN)
    (command,) = unsteady_list.commands([points_of_tests.point(), of_history])
    (plain,) = unsteady_list.commands([points_of_tests.point()])
    assert f"DEEPBENCH_ALONE=1 {plain}" == command


def test_ruined_rounds_of_a_history_do_not_pick_its_point():
    """Its interval does, where that is wider than asked for."""
    wide = points_of_tests.point(ensemble=ORIGIN, rounds=(1.0, 1.01, 3.0), low=0.9, high=1.1)
    assert "its interval of 99 % is 22% wide" == _wide(wide, 0.2)
    assert "" == _wide(wide, 0.3)
    without = wide._replace(low=None, high=None)
    assert _wide(without, 0.3).startswith("it has no interval of 99 %: ")


def test_a_question_without_answer_counts_what_is_left_out():
    """A time that was measured and does not count is named with its reason."""
    chosen = [points_of_tests.point(unsteady="yardstick off: 5.5 times"), points_of_tests.point()]
    error = unsteady_list.without_answer("nothing in common", chosen)
    assert str(error).startswith("nothing in common; 1 unsteady times of ")
    assert "nothing" == str(unsteady_list.without_answer("nothing", chosen[1:]))


def test_a_run_names_unsteady_points_at_its_end(results):
    """Of the releases that it saved, with the command."""
    files = [path for path in (results / MACHINE).glob("*.json") if path.name != "machine.json"]
    (line,) = unsteady_list.after_run(files, RELEASES)
    assert line.startswith(f"1 of 248 points of {RELEASE} are unsteady (1 yardstick off)")
    assert line.endswith(f'asv run --bench "$(deepbench unsteady {RELEASE})" {RELEASE}')
    assert [] == unsteady_list.after_run([], RELEASES)


def test_the_end_of_asv_run_is_where_it_is_said(results, monkeypatch):
    """About the results that this process has saved; damaged results are named instead."""
    files = [path for path in (results / MACHINE).glob("*.json") if path.name != "machine.json"]
    said = []
    monkeypatch.setattr(result_saving, "saved_files", files)
    monkeypatch.setattr(plugin.log, "warning", said.append)
    plugin.report_unsteady(results)
    (path,) = measurement_files.paths(results / MACHINE)
    path.write_bytes(compression.pack(b"{"))
    plugin.report_unsteady(results)
    assert said[0].startswith(f"1 of 248 points of {RELEASE} are unsteady")
    assert "line 1 is not a measurement" in said[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["fastest"],
        ["frameworks", "--machine", "epyc-9004-2core"],
        ["compare", "epyc-9005-2core@numpy", "epyc-9005-2core@torch"],
        ["verdict", "--machine", "epyc-9005-2core"],
    ],
)
def test_answers_say_what_they_leave_out(arguments):
    """On standard error, with the command that lists it."""
    done = CliRunner().invoke(deepbench, [*arguments, "--results", str(RESULTS)])
    (line,) = [text for text in done.stderr.splitlines() if "unsteady times" in text]
    assert "lists those of a release" in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["frameworks", "--machine", MACHINE],
        ["compare", f"{MACHINE}@numpy", f"{MACHINE}@torch"],
        ["fastest"],
        ["fastest", "--history"],
    ],
)
def test_times_that_are_all_unsteady_are_the_reason_for_no_answer(arguments, monkeypatch):
    """As after a first run on a busy machine: measuring again mends it, not another selection."""
    found = [
        points_of_tests.point(
            machine=MACHINE,
            release=[each for each in RELEASES.values() if each.framework == name][-1],
            problem_id="m1760_n128_k1760_NN",
            unsteady="yardstick off",
        )
        for name in ("numpy", "torch")
    ]
    monkeypatch.setattr(point_reading, "load", lambda *_, **__: found)
    monkeypatch.setattr(point_reading, "machines", lambda _: [MACHINE])
    done = CliRunner().invoke(deepbench, [*arguments, "--results", str(RESULTS)])
    assert isinstance(done.exception, NoAnswer)
    assert "2 unsteady times of epyc-9005-2core are left out" in str(done.exception)
    assert "deepbench unsteady RELEASE" in str(done.exception)


def test_an_answer_that_leaves_nothing_out_says_nothing():
    assert [] == unsteady_list.remarks([points_of_tests.point()])


def test_a_submission_leaves_unsteady_times_out(results, tmp_path):
    """It says how many and why, and takes the rest."""
    sent = tmp_path / "sent.json"
    arguments = [str(sent), "--machine", MACHINE, "--results", str(results)]
    (path,) = measurement_files.paths(results / MACHINE)
    shutil.copy(next((RESULTS / MACHINE).glob(path.name)), path)
    known = point_reading.load(results, MACHINE, RELEASES)
    done = CliRunner().invoke(submit, arguments)
    (result,) = json.loads(sent.read_text())["results"]
    left = [point for point in known if point.unsteady]
    assert left
    assert len(known) - len(left) == len(result["points"])
    assert f"{len(left)} unsteady times are left out (" in done.stderr


def test_a_point_that_is_measured_again_is_judged_by_what_is_new(results):
    """Its records replace those of the earlier run."""
    (path,) = measurement_files.paths(results / MACHINE)
    facts, entries = measurement_files.load(path)
    mine = [e for e in entries if (e["benchmark"], tuple(map(str, e["params"]))) == KERNEL]
    fresh = [
        {
            **entry,
            "seconds": [seconds / 5 for seconds in entry["seconds"]],
            "yardstick": [1.1 * entry["nominal"]] * len(entry["seconds"]),
            "started_at": entry["started_at"] + 1e6,
            "fingerprint": facts[entry["fingerprint"]],
        }
        for entry in mine
    ]
    assert 1 == len([p for p in point_reading.load(results, MACHINE, RELEASES) if p.unsteady])
    measurement_files.add(path, fresh)
    again = measurement_files.load(path)[1]
    assert len(entries) == len(again)
    assert not [p for p in point_reading.load(results, MACHINE, RELEASES) if p.unsteady]


@pytest.mark.parametrize(
    ("machine", "release", "message"),
    [
        ("bix", RELEASE, "unknown machine 'bix'"),
        (MACHINE, "numpy-2.2.7", "unknown measured release 'numpy-2.2.7'.*numpy-2.2.6"),
    ],
)
def test_bad_input_is_named(results, machine, release, message):
    """A machine or release that does not exist ends in one line."""
    with pytest.raises(DeepbenchError, match=message):
        unsteady_list.of_release(results, machine, release, RELEASES)


@pytest.mark.parametrize("limit", ["0", "nan", "-1"])
def test_a_limit_that_is_none_is_named(results, limit):
    assert "no share above 0" in str(run(results, "--beyond", limit).exception)
