"""`deepbench history` files results and rounds: real files, workers with known times."""

import copy
import dataclasses
import json
import os
import shutil
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from statistics import fmean

import known_workers
import pytest
from command import deepbench
from known_workers import TASK, TIMES, launch_of
from processes import marked_pids

from deepbench_ops import project
from deepbench_ops.analysis import history_stores, new_release_measurement, point_reading, points
from deepbench_ops.analysis.ensemble_verdicts import Goal
from deepbench_ops.asv_adapter import (
    ensemble_filing,
    filing_target,
    machine_entry,
    private_result_fields,
    result_files,
)
from deepbench_ops.asv_adapter.filing_target import FilingTarget
from deepbench_ops.asv_adapter.history_join import Joining
from deepbench_ops.commands import history as history_command
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure import (
    core_latency,
    ensemble_round_json,
    ensemble_sweeps,
    threads,
    worker_turns,
    yardstick,
)
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.nominal_readings import NominalReadings
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import table_location, worker_launch
from deepbench_ops.run_conditions import CACHE, EXECUTION
from deepbench_ops.statistics.stopping_rule import FEWEST_FOR_WIDTH
from deepbench_ops.storage import (
    atomic_write,
    ensemble_round_files,
    measured_rounds,
    measurement_files,
)


@pytest.fixture
def target(monkeypatch, tmp_path):
    """A results folder with the suite's benchmarks, and a yardstick of half its nominal speed."""
    found = known_workers.filing(tmp_path / "results")
    monkeypatch.setattr(project, "environments", lambda: tmp_path / "env")
    monkeypatch.setattr(project, "histories", lambda: tmp_path / "history")
    monkeypatch.setattr(core_latency.Reader, "read", lambda reader: 250.0)
    monkeypatch.setattr(filing_target, "find", lambda release, say: found)
    monkeypatch.setattr(
        worker_launch,
        "launch",
        lambda release, folder, say: launch_of(release.name, TIMES[release.name]),
    )
    member = launch_of("yardstick", 2e-3)
    monkeypatch.setattr(history_stores, "member", lambda: member)
    return found


def history(*more: str, span: str = "2.2.4..2.3.0", rounds: int = 5) -> tuple[int, str, str]:
    """Run the command on one kernel over four releases."""
    kernel = ("--problem", TASK.problem, "--family", "gemm")
    return deepbench("history", "numpy", span, *kernel, "--rounds", str(rounds), *more)


def filed(target: FilingTarget, execution: str = EXECUTION.usual) -> dict[str, points.Point]:
    """Return the points of the kernel in one of its sets, by release."""
    releases = {release.hash: release for release in table_location.load(target.results)}
    found = point_reading.load(target.results, "m", releases, rounds=True, samples=True)
    named = ("inference_server", execution)
    return {each.release.name: each for each in found if (each.set, each.execution) == named}


def rounds_of(target: FilingTarget) -> list[Round]:
    """Return the filed rounds of the kernel."""
    return ensemble_round_json.load(ensemble_round_files.path_of(target.folder, "numpy")).get(
        TASK, []
    )


def test_a_result_of_each_release_is_filed(target):
    """Anchor's calibrated seconds times the ratio, with its interval and where it comes from."""
    status, _, err = history()
    assert 0 == status
    assert f"filed in {target.folder}: results of 1 kernels" in err
    found = filed(target)
    assert set(TIMES) == set(found)
    for name, seconds in TIMES.items():
        point = found[name]
        assert pytest.approx(seconds / 2, rel=0.01) == point.seconds  # the yardstick takes twice
        assert point.interval is not None
        assert point.interval[0] <= point.seconds <= point.interval[1]
        assert (5, 5) == (point.samples, len(point.rounds))
        assert str(threads.wanted()) == point.threads
        assert "" == point.unsteady
        assert ("numpy-2.3.0", 5) == (point.ensemble.anchor, point.ensemble.rounds)
        assert {
            "route": "r",
            "implementation": f"library {name}",
            "state of the machine": "one level",
        } == dict(point.notes)
        assert f"library {name}" == point.implementation
    assert pytest.approx(1.25, rel=0.01) == found["numpy-2.2.6"].ensemble.ratio
    assert 5 == len(rounds_of(target))
    assert not history_stores.journal_of("numpy").exists()


def test_rounds_of_one_state_are_filed(target, monkeypatch):
    """Of seven rounds the two of the far state are left out, and one line says so."""
    monkeypatch.setattr(threads, "wanted", lambda: 2)
    of_rounds = iter([(200.0, 210.0)] * 5 + [(500.0, 490.0)] * 2)
    own: dict[core_latency.Reader, Iterator[float]] = {}

    def read(reader):
        if reader not in own:
            own[reader] = cycle(next(of_rounds))
        return next(own[reader])

    monkeypatch.setattr(core_latency.Reader, "read", read)
    by_level = {200.0: {"2": {"compute": 4e-3}}, 500.0: {"2": {"compute": 1e-3}}}
    nominal = NominalReadings({"2": {"compute": 1e-3}}, {"2": 500.0}, by_level)
    there = dataclasses.replace(target, nominal=nominal, levels=[200.0, 500.0])
    monkeypatch.setattr(filing_target, "find", lambda release, say: there)
    status, _, err = history("--within", "0.0001%", rounds=7)
    assert 0 == status
    line = "state of the machine: near (1 of 1 kernels); 2 of 7 rounds left out"
    assert 1 == sum(line in each for each in err.splitlines())
    for name, point in filed(target).items():
        assert (5, ("near",)) == (point.ensemble.rounds, point.ensemble.states)
        assert pytest.approx(TIMES[name] * 2, rel=0.01) == point.seconds  # nominal near is 4e-3
    for path in result_files.paths(target.folder):
        for record in measurement_files.load(measurement_files.file_of(path))[1]:
            assert [200.0, 210.0] == record["core_latencies"]


def test_seconds_are_raw_without_a_nominal_reading_of_the_state(target, monkeypatch):
    """The record gives the reason, as that of a kernel measured on its own."""
    monkeypatch.setattr(threads, "wanted", lambda: 2)
    monkeypatch.setattr(core_latency.Reader, "read", lambda reader: 500.0)
    nominal = NominalReadings({"2": {"compute": 1e-3}}, {"2": 200.0}, {200.0: {}, 500.0: {}})
    there = dataclasses.replace(target, nominal=nominal, levels=[200.0, 500.0])
    monkeypatch.setattr(filing_target, "find", lambda release, say: there)
    history()
    for name, point in filed(target).items():
        assert pytest.approx(TIMES[name], rel=0.01) == point.seconds
        reason = "raw seconds: the nominal reading of state 'far' is missing"
        assert dict(point.notes)["calibration"].startswith(reason)


def test_every_set_that_lists_the_problem_has_the_point(target):
    """The kernel is measured once, and is a benchmark in two sets."""
    history()
    (path, *_) = result_files.paths(target.folder)
    names = {one.name for one in private_result_fields.each(result_files.undamaged(path))}
    assert {f"gemm.Inference{kind}.kernel_forward" for kind in ("Server", "Device")} == names


def test_old_records_of_the_kernel_are_replaced_and_others_stay(target):
    """A point measured on its own, of this kernel and of another one."""
    history()
    path = next(p for p in result_files.paths(target.folder) if "009d7279" in p.name)
    records = measurement_files.file_of(path)
    facts, stored = measurement_files.load(records)
    plain = {name: value for name, value in stored[0].items() if name != "ensemble"}
    other = {**plain, "params": ["m1760_n128_k1760_NN", "float32"]}
    measurement_files.write(records, facts, [plain, other])
    history("--within", "0.0001%", rounds=6)
    _, after = measurement_files.load(records)
    assert other in after
    assert plain not in after
    assert [6, 6] == [one["ensemble"]["rounds"] for one in after if "ensemble" in one]


def test_more_rounds_join_the_same_file(target):
    """The second command measures the kernels that the first has not."""
    history()
    status, _, _ = history("--within", "0.0001%", rounds=8)
    assert 0 == status
    assert 8 == len(rounds_of(target))
    assert 8 == filed(target)["numpy-2.2.5"].ensemble.rounds


def test_a_round_that_was_sent_with_other_numbers_is_named(target):
    """The history goes on with both records on file."""
    assert 0 == history()[0]
    path = ensemble_round_files.path_of(target.folder, "numpy")
    content = ensemble_round_files.load(path)
    other = copy.deepcopy(content.entries[0])
    for column in other["seconds"].values():
        column[0] = 1e-3
    measured_rounds.add(path, content.facts, [other])
    status, _, err = history(rounds=6)
    assert (0, True) == (status, ": 1 round with different numbers, one of each is used" in err)


def test_a_later_release_is_measured_in_a_block(target):
    """Anchor, previous and new: releases that have their rounds are not measured again, and the
    newest is compared with all."""
    history("--anchor", "numpy-2.2.4", span="2.2.4..2.2.6")
    status, _, _ = history()
    assert 0 == status
    new = rounds_of(target)[5:]
    assert 5 == len(new)
    assert {"numpy-2.2.4", "numpy-2.2.6", "numpy-2.3.0"} == {n for each in new for n in each.names}
    found = filed(target)
    assert {"numpy-2.2.4"} == {point.ensemble.anchor for point in found.values()}
    assert pytest.approx(0.6e-3, rel=0.01) == found["numpy-2.3.0"].seconds
    assert 10 == found["numpy-2.2.6"].ensemble.rounds


def test_a_release_without_the_kernel_is_a_skip(target, monkeypatch):
    """Its reason is filed as asv run files it, and its value is none."""
    monkeypatch.setenv("LACKS", "numpy-2.2.5")
    history()
    assert set(TIMES) - {"numpy-2.2.5"} == set(filed(target))
    assert ["no such operation"] * 2 == skips(target)


def test_a_release_beyond_the_limits_is_no_skip_and_is_tried_again(target, monkeypatch):
    """It has the kernel: with less next to it the same command measures it."""
    monkeypatch.setenv("LACKS", "numpy-2.2.5")
    monkeypatch.setenv("REASON", "BeyondLimits: it needs 2e9 bytes")
    _, _, err = history()
    assert "left out: numpy-2.2.5, gemm forward: BeyondLimits: it needs 2e9 bytes" in err
    assert (set(TIMES) - {"numpy-2.2.5"}, []) == (set(filed(target)), skips(target))
    monkeypatch.delenv("LACKS")
    _, _, err = history()
    assert "left out: numpy" not in err
    assert (set(TIMES), []) == (set(filed(target)), skips(target))


def skips(target):
    """Return the filed reasons of skipped kernels."""
    return [
        one["skipped"]
        for path in result_files.paths(target.folder)
        for one in measurement_files.load(measurement_files.file_of(path))[1]
        if "skipped" in one
    ]


@pytest.mark.parametrize("how", ["DIES", "HANGS"])
def test_a_worker_that_is_lost_leaves_the_others(target, monkeypatch, mark, how):
    """Killed or silent in the middle of every round: it has no result, the others have theirs."""
    monkeypatch.setattr(worker_turns, "ANSWER_SECONDS", 1.0)
    monkeypatch.setenv(how, "numpy-2.2.5")
    status, _, err = history(rounds=3)
    assert 0 == status
    assert "left out: numpy-2.2.5, gemm forward: " in err
    assert set(TIMES) - {"numpy-2.2.5"} == set(filed(target))
    assert [] == marked_pids(mark)


def test_ctrl_c_files_what_is_measured(target, monkeypatch, mark):
    """Rounds and results of four rounds are filed, and the same command goes on from there."""
    measure, begun = ensemble_sweeps.run_round, []

    def interrupted(launches, tasks, number, *more, **options):
        begun.append(number)
        if len(begun) == 5:
            raise KeyboardInterrupt
        return measure(launches, tasks, number, *more, **options)

    monkeypatch.setattr(ensemble_sweeps, "run_round", interrupted)
    status, _, err = history(rounds=6)
    assert 130 == status
    assert "numpy.jsonl.gz keeps all rounds: the same command goes on" in err
    assert 4 == len(rounds_of(target))
    assert 4 == filed(target)["numpy-2.2.4"].ensemble.rounds
    assert [] == marked_pids(mark)
    history(rounds=6)
    assert [0, 1, 2, 3, 4, 4, 5] == begun


def test_ctrl_c_while_results_are_filed_loses_nothing(target, monkeypatch):
    """After the last round, and again while the interrupted command files: the journal stays."""
    forget, interruptions = RoundStore.forget, [KeyboardInterrupt] * 2

    def interrupted(store):
        if interruptions:
            raise interruptions.pop()
        forget(store)

    monkeypatch.setattr(RoundStore, "forget", interrupted)
    journal = history_stores.journal_of("numpy")
    for _ in range(2):
        status, out, err = history()
        assert (130, "") == (status, out)
        assert err.endswith(f"interrupted: {journal} keeps all rounds: the same command goes on\n")
    status, _, _ = history()
    assert (0, 5) == (status, len(rounds_of(target)))
    assert {5} == {point.samples for point in filed(target).values()}
    assert not journal.exists()


@pytest.mark.parametrize("broken", ["disk", "result"])
def test_what_cannot_be_filed_stays_in_the_journal(target, monkeypatch, broken):
    """A full disk, or a damaged result: one line, nothing replaced, and the next run files all."""
    write = result_files.write
    if broken == "disk":

        def full(path, results, save=None):
            raise OSError(28, os.strerror(28), str(path))

        monkeypatch.setattr(ensemble_filing.result_files, "write", full)
    else:
        name = "009d7279-release-py3.json"
        (target.folder / name).write_text("{")
    status, out, err = history()
    assert (2, "") == (status, out)
    assert "the rounds are not filed (" in err.splitlines()[-1]
    journal = history_stores.journal_of("numpy")
    assert str(journal) in err.splitlines()[-1]
    assert [] == rounds_of(target)
    assert [] == list(target.folder.rglob(f"*{atomic_write.SUFFIX}"))
    if broken == "disk":
        monkeypatch.setattr(ensemble_filing.result_files, "write", write)
    else:
        (target.folder / "009d7279-release-py3.json").unlink()
    status, _, _ = history()
    assert (0, 5) == (status, len(rounds_of(target)))
    assert not journal.exists()


def test_rounds_of_another_machine_wait_for_that(target, monkeypatch):
    """Machines of one kind may share a project folder; a journal of earlier versions is taken."""
    monkeypatch.setattr(machine_entry, "default_name", lambda: "other")
    history("--no-save")
    monkeypatch.setattr(machine_entry, "default_name", lambda: "m")
    history()
    assert 5 == len(rounds_of(target))
    monkeypatch.setattr(machine_entry, "default_name", lambda: "other")
    journal = history_stores.journal_of("numpy")
    assert journal.exists()
    journal.rename(journal.with_name("numpy.jsonl"))
    history()
    assert (10, False) == (len(rounds_of(target)), history_stores.journal_of("numpy").exists())


def test_looking_files_nothing(target):
    """With --no-save the rounds wait in .asv/history/, and the next run files them."""
    status, _, err = history("--no-save")
    assert 0 == status
    assert "not filed: " in err
    assert [] == result_files.paths(target.folder)
    history()
    assert (5, set(TIMES)) == (len(rounds_of(target)), set(filed(target)))


def test_rounds_that_are_filed_later_are_calibrated(at_target):
    """With --no-save too the nominal readings of the machine's profile count."""
    reading = {"compute": Figure(1e-3, "s", "measured: here")}
    readings = {str(threads.wanted()): reading}
    profile = Profile("m", yardstick_version=yardstick.VERSION, yardsticks=readings)
    machine_profile.write(at_target.results, profile)
    history("--no-save")
    history()
    for name, point in filed(at_target).items():
        assert pytest.approx(TIMES[name] / 2, rel=0.01) == point.seconds
        assert 5 == point.ensemble.rounds


def test_rounds_under_other_conditions_wait_for_their_own_command(target, monkeypatch):
    """Those of a compiled history that was killed are filed, with their results, by the next one;
    a plain one in between files its own alone."""
    environ = EXECUTION.variable, "compiled"
    with monkeypatch.context() as compiled:
        compiled.setenv(*environ)
        history("--no-save")
    history()
    journal = history_stores.journal_of("numpy")
    assert (5, True) == (len(rounds_of(target)), journal.exists())
    assert ([*TIMES], {}) == (sorted(filed(target)), filed(target, "compiled"))
    variables = dict([*target.variables.items(), environ])
    there = dataclasses.replace(target, environment="release-py3-compiled", variables=variables)
    monkeypatch.setattr(filing_target, "find", lambda release, say: there)
    monkeypatch.setattr(filing_target, "demand_environment", lambda: None)
    monkeypatch.setenv(*environ)
    status, _, err = history()
    assert (0, True) == (status, f"filed in {target.folder}: results of 1 kernels" in err)
    assert (10, False) == (len(rounds_of(target)), journal.exists())
    assert ([*TIMES], [*TIMES]) == (sorted(filed(target)), sorted(filed(target, "compiled")))


def test_fewer_than_three_rounds_are_no_result(target):
    """The rounds are filed, and results when there are enough of them."""
    history("--budget", "0.000001s")
    assert 1 == len(rounds_of(target))
    assert {} == filed(target)


@pytest.mark.slow
def test_the_yardstick_may_be_missing(target, monkeypatch):
    """Then values are raw seconds, and the records say so."""
    monkeypatch.setattr(history_stores, "member", lambda: Launch("/bin/false"))
    status, _, err = history()
    assert 0 == status
    assert pytest.approx(1.5e-3, rel=0.01) == filed(target)["numpy-2.2.6"].seconds
    path = result_files.paths(target.folder)[0]
    assert not measurement_files.load(measurement_files.file_of(path))[1][0]["ensemble"][
        "calibrated"
    ]
    assert "left out: yardstick" in err


@pytest.fixture
def at_target(target, monkeypatch):
    """The target as the project that an asv run is in."""
    listed = Path(table_location.release_table.__file__).with_name("releases.csv")
    shutil.copy(listed, target.results / "releases.csv")
    monkeypatch.setattr(project, "results", lambda: target.results)
    monkeypatch.setattr(machine_entry, "default_name", lambda: "m")
    return target


def joining(*names: str) -> Joining:
    """Return the parts that an asv run of releases brings along."""
    known = {release.name: release for release in table_location.release_table.load()}
    return Joining("numpy", [known[name] for name in names], [TASK])


@pytest.mark.slow
def test_a_new_release_joins_the_history(at_target):
    """asv run measures it in a block with the anchor and the release before, and leaves it out."""
    history("--anchor", "numpy-2.2.4", span="2.2.4..2.2.6")
    before, said = len(rounds_of(at_target)), []
    done = new_release_measurement.measure(joining("numpy-2.3.0"), said.append)
    assert {"numpy-2.3.0": {TASK}} == done
    new = rounds_of(at_target)[before:]
    assert {"numpy-2.2.4", "numpy-2.2.6", "numpy-2.3.0"} == {n for each in new for n in each.names}
    assert pytest.approx(0.6e-3, rel=0.01) == filed(at_target)["numpy-2.3.0"].seconds
    assert ["numpy-2.3.0: 1 kernels are in the history"] == said


@pytest.mark.slow
def test_no_round_of_a_joining_release_is_begun_after_the_limit_of_the_run(at_target):
    """The release is left to the next run."""
    history("--anchor", "numpy-2.2.4", span="2.2.4..2.2.6")
    before = len(rounds_of(at_target))
    done = new_release_measurement.measure(
        joining("numpy-2.3.0"), lambda line: None, time.monotonic()
    )
    assert {} == done
    assert before == len(rounds_of(at_target))


@pytest.mark.slow
def test_the_seconds_of_what_joins_are_expected(at_target):
    """Of as many rounds as the history has, in a block of three releases, each as long as before;
    no seconds for a release that has its rounds."""
    history("--anchor", "numpy-2.2.4", "--within", "0.0001%", span="2.2.4..2.2.6", rounds=8)
    lasted = [(each.ended_at - each.started_at) / 3 for each in rounds_of(at_target)]
    assert 8 == len(lasted)
    expected = pytest.approx(8 * 3 * fmean(lasted))
    assert {TASK: expected} == new_release_measurement.forecast(joining("numpy-2.3.0"))
    assert {TASK: 0.0} == new_release_measurement.forecast(joining("numpy-2.2.5"))
    assert 8 == len(rounds_of(at_target))
    new_release_measurement.measure(joining("numpy-2.3.0"), lambda line: None)
    new = rounds_of(at_target)[8:]
    assert {3} == {len(each.names) for each in new}
    assert 0 < len(new) <= 8


def test_most_rounds_are_expected_of_a_kernel_that_is_not_known_well(at_target, monkeypatch):
    """The interval of the history's releases is wider than that of the goal."""
    history("--anchor", "numpy-2.2.4", span="2.2.4..2.2.6")
    lasted = [(each.ended_at - each.started_at) / 3 for each in rounds_of(at_target)]
    monkeypatch.setattr(new_release_measurement, "GOAL", Goal(within=1e-9, most=12))
    expected = pytest.approx(12 * 3 * fmean(lasted))
    assert {TASK: expected} == new_release_measurement.forecast(joining("numpy-2.3.0"))


def test_nothing_is_expected_to_join_with_cold_caches(at_target, monkeypatch):
    """Slices of ensembles are warm."""
    history(span="2.2.4..2.2.6")
    monkeypatch.setenv(CACHE.variable, "cold")
    assert {} == new_release_measurement.forecast(joining("numpy-2.3.0"))


def test_a_release_that_the_history_has_is_not_measured_again(at_target):
    """Its points stay those of the ensemble, and are left out of the run."""
    history(rounds=8)
    before = len(rounds_of(at_target))
    done = new_release_measurement.measure(joining("numpy-2.2.5"), lambda line: None)
    assert ({"numpy-2.2.5": {TASK}}, before) == (done, len(rounds_of(at_target)))


def test_a_release_that_cannot_be_installed_is_left_to_asv(at_target, monkeypatch):
    """One line says why, and nothing is measured."""
    history("--anchor", "numpy-2.2.4", span="2.2.4..2.2.6")
    launch = worker_launch.launch

    def failing(release, folder, say):
        if release.name == "numpy-2.3.0":
            raise DeepbenchError("no such wheel")
        return launch(release, folder, say)

    monkeypatch.setattr(worker_launch, "launch", failing)
    said = []
    assert {} == new_release_measurement.measure(joining("numpy-2.3.0"), said.append)
    assert ["no such wheel"] == said


FRAMEWORKS = ("--frameworks", "numpy,torch", "--newest")


def together(*more: str) -> tuple[int, str, str]:
    """Run the command on one kernel over the newest numpy and torch."""
    kernel = ("--problem", TASK.problem, "--family", "gemm", "--rounds", "5")
    return deepbench("history", *FRAMEWORKS, *kernel, *more)


@pytest.fixture
def two_frameworks(at_target, monkeypatch):
    """Torch takes 1.25 times as long as numpy, and any other one twice as long."""

    def launch(release, folder, say):
        seconds = {"numpy": 1e-3, "torch": 1.25e-3}
        return launch_of(release.name, seconds.get(release.framework, 2e-3))

    monkeypatch.setattr(worker_launch, "launch", launch)
    return at_target


def test_frameworks_are_measured_in_the_same_rounds(two_frameworks):
    """Results that are missing are filed, and `deepbench frameworks` rests on the rounds."""
    status, out, _ = together()
    assert 0 == status
    assert "numpy-" in out
    assert "1.25" in out
    path = ensemble_round_files.path_of(two_frameworks.folder, ensemble_round_files.SEVERAL)
    (rounds,) = ensemble_round_json.load(path).values()
    assert 5 == len(rounds)
    where = ("--machine", "m", "--results", str(two_frameworks.results))
    asked = ("--selection", "inference-server", "--format", "json")
    status, out, _ = deepbench("frameworks", *where, *asked)
    (contest,) = json.loads(out)
    assert (0, "numpy", 5) == (status, contest["fastest"], contest["shared_rounds"])
    assert pytest.approx(1.25, rel=0.01) == contest["ahead"]


def test_frameworks_are_compared_where_the_anchor_lacks_the_kernel(two_frameworks, monkeypatch):
    """The last one named has no such operation: the others have their lead, and JSON its ratio."""
    newest = history_command._newest("jax").name
    monkeypatch.setenv("LACKS", newest)
    asked = ("--frameworks", "torch,numpy,jax", "--newest", "--problem", TASK.problem)
    asked = ("history", *asked, "--family", "gemm", "--rounds", "10")
    status, out, _ = deepbench(*asked, "--format", "json")
    assert 0 == status
    document = json.loads(out)
    (kernel,) = document["kernels"]
    assert (newest, "numpy") == (document["anchor"], kernel["anchor"].partition("-")[0])
    (against,) = kernel["releases"].values()
    assert pytest.approx(1.25, rel=0.01) == against["ratio"]
    _, out, err = deepbench(*asked, "--anchor", newest)
    assert "1 of 1 kernels are known to 1 % or better" in err
    row = out.splitlines()[2].split()
    assert row[2] == str(FEWEST_FOR_WIDTH)
    assert row[3].startswith("numpy-")


def test_times_of_a_frameworks_own_history_stay(two_frameworks, monkeypatch):
    """Rounds over several frameworks replace no stored time."""
    newest = [r for r in table_location.release_table.load() if r.framework == "numpy"][-2:]
    span = "..".join(release.version for release in newest)
    history(span=span)
    before = filed(two_frameworks)[newest[-1].name]
    together()
    after = filed(two_frameworks)
    assert before == after[newest[-1].name]
    assert {"numpy.jsonl.gz", "frameworks.jsonl.gz"} == {p.ensemble.file for p in after.values()}


@pytest.mark.parametrize(
    "asked",
    [
        (),
        ("numpy", "--newest"),
        ("--frameworks", "numpy,torch"),
        ("numpy", *FRAMEWORKS),
        ("--frameworks", "numpy", "--newest"),
        ("--frameworks", "numpy,nunpy", "--newest"),
    ],
)
def test_questions_that_are_none_are_one_line(target, asked):
    """One framework, or several with --newest."""
    status, out, err = deepbench("history", *asked)
    assert (2, "", 1) == (status, out, len(err.splitlines()))


def test_cold_caches_are_refused(target, monkeypatch):
    """One line that says why and what to do."""
    monkeypatch.setenv("DEEPBENCH_CACHE", "cold")
    status, _, err = history()
    assert 2 == status
    assert "this command measures with warm caches alone" in err
