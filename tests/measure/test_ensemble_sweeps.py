"""Ensembles: real processes in sweeps, releases that fail, blocks that share an anchor."""

import math
import os
import sys
import time
from itertools import chain, cycle, repeat
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import marked_pids

from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.measure import (
    core_latency,
    ensemble_sweeps,
    release_blocks,
    threads,
    worker_turns,
)
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.nominal_readings import NominalReadings
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.statistics import sweep_levels

TASK = KernelIdentity("gemm", "m35_n700_k2048_NN", "float32")

PROGRAM = """
import json, os, sys, time
burned, fails = float(os.environ["BURNED"]), os.environ.get("FAILS", "")
if fails == "start":
    sys.exit(1)
print(json.dumps({"ready": True}), flush=True)
for number, line in enumerate(sys.stdin):
    command = json.loads(line)
    if command["do"] == fails or (fails == "third" and number == 3):
        print(json.dumps({"error": "Unsupported: not here"}), flush=True)
        continue
    if command["do"] == "prepare":
        stoppable = bool(os.environ.get("STOPPABLE"))
        kind = os.environ.get("YARDSTICK", "")
        answer = {"seconds": burned, "stoppable": stoppable, "yardstick": kind}
        print(json.dumps(answer), flush=True)
        continue
    if "WOKEN" in os.environ and command["do"] == "slice":
        with open(os.environ["WOKEN"], "a") as log:
            print(os.environ["BURNED"], command.get("woken", False), file=log)
    if command["do"] == "check":
        print(json.dumps({}), flush=True)
        continue
    if fails == "die" and number == 3:
        sys.exit(1)
    if fails == "hang" and number == 3:
        time.sleep(3600)
    began, spent = time.monotonic(), time.process_time()
    while time.process_time() - spent < burned * command["calls"]:
        pass
    ended, spent = time.monotonic(), time.process_time() - spent
    seconds = (ended - began if os.environ.get("STOPPABLE") else spent) / command["calls"]
    print(json.dumps({"seconds": seconds, "ended": ended}), flush=True)
"""
"""A worker whose calls keep a core busy for a given time, and that fails on request.

It reports processor time, which other programs do not change, but for calls that can be stopped.
"""


def burning(seconds: float, **environ: str) -> Launch:
    """Return how to start a worker whose calls take so long."""
    return Launch(sys.executable, {"BURNED": str(seconds), **environ}, ("-c", PROGRAM))


@pytest.fixture(autouse=True)
def no_latency(monkeypatch):
    """The latency between cores is not read, which would take most of a test's time."""
    monkeypatch.setattr(core_latency.Reader, "read", lambda reader: None)


def test_a_kernel_is_not_measured_that_takes_longer_than_it_may():
    """The first release that has it shows that: a second each, in four sweeps at least of two."""
    other = KernelIdentity("gemm", "m1760_n128_k1760_NN", "float32")
    launches = {"a": burning(1.0), "b": burning(1.0), "c": burning(1.0, FAILS="prepare")}
    given, began = {TASK: 11.0, other: math.inf}, time.monotonic()
    measured = ensemble_sweeps.run_round(launches, [TASK, other], 0, seconds=given.__getitem__)
    task, found = next(measured)
    assert (TASK, [], {}) == (task, found.sweeps, found.calls)
    assert 12.0 < found.too_long < 24.0
    assert time.monotonic() - began < 8.0
    measured.close()


def test_ratios_of_all_releases_come_out_of_one_round():
    """Three workers whose calls differ by known factors: their levels differ by those factors."""
    launches = {"a": burning(0.001), "b": burning(0.0015), "c": burning(0.003)}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=8)
    assert {"a", "b", "c"} == set(found.names)
    fitted = sweep_levels.fit(found.logs(["a", "b", "c"]))
    assert pytest.approx(1.5, rel=0.1) == math.exp(fitted.difference(0, 1)[0])
    assert pytest.approx(3.0, rel=0.1) == math.exp(fitted.difference(0, 2)[0])


def test_real_kernels_are_measured():
    """numpy against itself, by the workers that releases run."""
    launches = dict.fromkeys(("a", "b"), Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy"}))
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 1, sweeps=4)
    assert 4 == len(found.sweeps)
    assert np.isfinite(found.logs(["a", "b"])).all()
    named = NumpyBackend().implementation()
    assert {"a": named, "b": named} == found.implementations


WRONG = """
import time
from dataclasses import replace
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.measure import worker_program

build = NumpyBackend.build

def idle_at_full_size(backend, problem, *rest):
    kernel = build(backend, problem, *rest)
    return replace(kernel, run=lambda: time.sleep(CALL)) if problem.id == FULL else kernel

NumpyBackend.build = idle_at_full_size
worker_program.main()
"""
"""A worker of numpy whose product of problem FULL computes nothing and takes CALL seconds."""


def idle(problem: str, call: float) -> Launch:
    """Return how to start such a worker."""
    program = WRONG.replace("FULL", repr(problem)).replace("CALL", str(call))
    return Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy"}, ("-c", program))


@pytest.mark.parametrize("call", [0.001, 0.02])
def test_a_kernel_that_is_wrong_only_at_full_size_has_no_times(call):
    """In slices of several calls and of one; a kernel measured next has its times."""
    right = Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy"})
    launches = {"a": right, "b": right, "wrong": idle(TASK.problem, call)}
    other = KernelIdentity("gemm", "m512_n1_k512_NN", "float32")
    found = dict(ensemble_sweeps.run_round(launches, [TASK, other], 0, sweeps=4))
    assert {"a", "b"} == set(found[TASK].names)
    assert ["wrong"] == list(found[TASK].reasons)
    assert "m35_n700_k2048_NN computes a wrong result" in found[TASK].reasons["wrong"]
    assert ({"a", "b", "wrong"}, {}) == (set(found[other].names), found[other].reasons)


FULL_MEMORY = """
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.measure import worker_program

NumpyBackend.memory_available = lambda backend: 1e3
worker_program.main()
"""


@pytest.mark.parametrize(
    ("variables", "program", "reason"),
    [
        ({}, ("-c", FULL_MEMORY), "bytes of memory on cpu, and 1e+03 are available"),
        ({"DEEPBENCH_CALL_LIMIT": "1e-9"}, Launch("").program, "(DEEPBENCH_CALL_LIMIT)"),
    ],
)
def test_a_kernel_beyond_the_limits_is_not_missing(variables, program, reason):
    """The reason is of another kind than a missing kernel's, and names the remedy."""
    right = Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy"})
    full = Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy", **variables}, program)
    ((_, found),) = ensemble_sweeps.run_round({"a": right, "full": full}, [TASK], 0, sweeps=4)
    text = found.reasons["full"]
    assert text.startswith("BeyondLimits: ")
    assert f"{reason}; fewer releases at once (deepbench history --together N), asv run" in text


def test_a_round_of_wrong_outputs_alone_is_empty():
    """It has no sweeps, and nothing that belongs to some, such as readings of the yardstick."""
    reference = ensemble_sweeps.SweptYardstick(burning(0.001))
    launches = {name: burning(0.005, FAILS="check", YARDSTICK="compute") for name in "ab"}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=4, reference=reference)
    assert {"a", "b"} == set(found.reasons)
    of_sweeps = (found.yardstick, found.sweep_latencies, found.nominals, found.remarks)
    assert ([], ([], [], [], [])) == (found.sweeps, of_sweeps)


def test_the_yardstick_takes_part_in_the_sweeps():
    """It has a reading in each sweep of real kernels, and is no release."""
    launch = Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy"})
    program = ("-m", "deepbench_ops.measure.yardstick_member")
    nominal = NominalReadings({str(threads.wanted()): {"compute": 1e-3}})
    reference = ensemble_sweeps.SweptYardstick(Launch(sys.executable, {}, program), nominal)
    launches = {"a": launch, "b": launch}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=4, reference=reference)
    assert (4, 4) == (len(found.sweeps), len(found.yardstick))
    assert all(map(math.isfinite, found.yardstick))
    assert ["a", "b"] == sorted(found.names)
    assert ("compute", 1e-3) == (found.yardstick_kind, found.nominal)
    assert math.isfinite(found.level("a")[0])
    assert "numpy" in found.facts["a"]
    assert "route" in found.notes["b"]
    assert {"a", "b"} == set(found.calls)


@pytest.mark.parametrize(
    ("before", "after", "nominal", "remark"),
    [
        (200.0, 210.0, 2e-3, ""),
        (500.0, 490.0, None, "raw seconds: the nominal reading of state 'far' is missing"),
        (200.0, 490.0, None, "raw seconds: the machine's state was changed in between"),
        (320.0, 320.0, None, "raw seconds: the machine's state was unknown"),
    ],
)
def test_the_nominal_reading_is_that_of_the_state(monkeypatch, before, after, nominal, remark):
    """By the latencies before and after; without one of the state there is none, with a reason."""
    monkeypatch.setattr(threads, "wanted", lambda: 2)
    readings = chain([before], repeat(after))
    monkeypatch.setattr(core_latency.Reader, "read", lambda reader: next(readings))
    known = {200.0: {"2": {"compute": 2e-3}}, 500.0: {"2": {}}}
    given = NominalReadings({"2": {"compute": 1e-3}}, {"2": 200.0}, known)
    reference = ensemble_sweeps.SweptYardstick(burning(0.001), given)
    launches = {name: burning(0.002, YARDSTICK="compute") for name in "ab"}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=4, reference=reference)
    assert ([before, after], nominal) == (found.latencies, found.nominal)
    assert found.calibration.startswith(remark)
    assert bool(remark) == bool(found.calibration)


def test_one_thread_has_no_state(monkeypatch):
    """No latency is read, since the thread stays on its core."""
    monkeypatch.undo()
    monkeypatch.setattr(threads, "wanted", lambda: 1)
    monkeypatch.setattr(core_latency.Reader, "_started", pytest.fail)
    launches = {name: burning(0.002) for name in "ab"}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=4)
    assert [] == found.latencies
    assert np.isnan(found.sweep_latencies).all()


def test_each_sweep_has_its_latencies_and_nominal_reading(monkeypatch):
    """Those read before and after it, one read between two sweeps."""
    monkeypatch.setattr(threads, "wanted", lambda: 2)
    readings = chain([200.0, 205.0, 500.0, 510.0], repeat(520.0))
    monkeypatch.setattr(core_latency.Reader, "read", lambda reader: next(readings))
    known = {200.0: {"2": {"compute": 2e-3}}, 500.0: {"2": {"compute": 1e-3}}}
    reference = ensemble_sweeps.SweptYardstick(burning(0.001), NominalReadings(by_level=known))
    launches = {name: burning(0.002, YARDSTICK="compute") for name in "ab"}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=5, reference=reference)
    assert [(200.0, 205.0), (205.0, 500.0), (500.0, 510.0)] == found.sweep_latencies[:3]
    assert [2e-3, None, 1e-3] == found.nominals[:3]
    assert "raw seconds: the machine's state was changed in between" == found.remarks[1]


@pytest.mark.parametrize(("changes", "sweeps"), [(99, 4), (2, 6), (4, 8), (1, 8)])
def test_sweeps_go_on_until_four_are_of_one_state(monkeypatch, changes, sweeps):
    """The state changes once after so many readings, or with every one; eight are the most."""
    monkeypatch.setattr(threads, "wanted", lambda: 2)
    first = [200.0] * changes
    readings = cycle([200.0, 500.0]) if changes == 1 else chain(first, repeat(500.0))
    monkeypatch.setattr(core_latency.Reader, "read", lambda reader: next(readings))
    launches = {name: burning(0.002) for name in "ab"}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=4)
    assert sweeps == len(found.sweeps) == len(found.sweep_latencies)


@pytest.mark.parametrize("fails", ["start", "prepare", "third", "die"])
def test_a_yardstick_that_fails_leaves_raw_seconds(fails, mark):
    """The releases have all their times, and the reason is kept."""
    reference = ensemble_sweeps.SweptYardstick(burning(0.001, FAILS=fails))
    launches = {name: burning(0.005, YARDSTICK="compute") for name in "ab"}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=6, reference=reference)
    assert not found.has_yardstick
    assert [ensemble_sweeps.YARDSTICK] == list(found.reasons)
    assert np.isfinite(found.logs(["a", "b"])).all()
    assert pytest.approx(math.log(0.005), abs=0.3) == found.level("a", calibrated=False)[0]
    assert math.isnan(found.level("a")[0])
    assert [] == marked_pids(mark)


def test_long_calls_take_few_sweeps():
    """A round of calls of 60 ms takes the fewest sweeps, not twenty."""
    launches = {name: burning(0.06) for name in "ab"}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0)
    assert ensemble_sweeps.FEWEST_SWEEPS == len(found.sweeps)


def test_long_calls_go_on_in_turns():
    """Calls longer than a turn: each is charged for its own turns alone."""
    launches = {name: burning(0.06, STOPPABLE="1") for name in ("a", "b", "c")}
    begun = time.monotonic()
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=4)
    elapsed = time.monotonic() - begun
    seconds = [each for sweep in found.sweeps for each in sweep.values()]
    assert 12 == len(seconds)
    assert 0.06 <= min(seconds)
    assert sum(seconds) <= elapsed


@pytest.mark.parametrize("stoppable", ["", "1"])
@pytest.mark.parametrize(
    ("fast", "slow", "woken"),
    [
        (0.0001, 0.004, True),
        (0.0032, 0.0034, True),
        (0.0034, 0.012, True),
        (0.012, 0.02, True),
        (0.016, 0.02, False),
    ],
)
def test_all_releases_are_woken_or_none(fast, slow, woken, stoppable, tmp_path):
    """By the call of the fastest, and no matter how many calls a slice of each has."""
    log = tmp_path / "woken"
    launches = {
        name: burning(seconds, STOPPABLE=stoppable, WOKEN=str(log))
        for name, seconds in (("a", fast), ("b", slow))
    }
    tuple(ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=4))
    assert {f"{seconds} {woken}" for seconds in (fast, slow)} == set(log.read_text().splitlines())


@pytest.mark.parametrize(
    ("fails", "reason"),
    [
        ("start", "ended early"),
        ("prepare", "Unsupported: not here"),
        ("third", "Unsupported: not here"),
        ("check", "Unsupported: not here"),
        ("die", "ended early"),
        ("hang", "no answer for 1 s"),
    ],
)
@pytest.mark.parametrize("stoppable", ["", "1"])
def test_one_that_fails_leaves_the_others(fails, reason, stoppable, monkeypatch, mark):
    """It has a reason and no times; the others have all theirs, and no process is left."""
    monkeypatch.setattr(worker_turns, "ANSWER_SECONDS", 1.0)
    launches = {name: burning(0.016, STOPPABLE=stoppable) for name in ("a", "b")}
    launches["bad"] = burning(0.016, FAILS=fails, STOPPABLE=stoppable)
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, sweeps=6)
    assert {"bad"} == set(found.reasons)
    assert reason in found.reasons["bad"]
    assert {"a", "b"} == set(found.names)
    assert np.isfinite(found.logs(["a", "b"])).all()
    assert [] == marked_pids(mark)


def test_rounds_are_numbered_from_the_first(monkeypatch):
    """So that rounds that are added later have other random orders."""
    numbers = []

    def run_round(launches, tasks, number, **_):
        numbers.append(number)
        yield TASK, Round(id=str(number))

    monkeypatch.setattr(ensemble_sweeps, "run_round", run_round)
    found = ensemble_sweeps.run_rounds({}, [TASK], 3, first=5)
    assert [5, 6, 7] == numbers
    assert ["5", "6", "7"] == [each.id for each in found[TASK]]


def test_a_release_alone_has_no_times():
    """Where only one release has a kernel there is nothing to compare: no sweeps, one reason."""
    launches = {"a": burning(0.001), "bad": burning(0.001, FAILS="prepare")}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0)
    assert [] == found.sweeps
    assert ["bad"] == list(found.reasons)


def test_blocks_share_the_anchor():
    """Four releases, two at a time: each is measured with the anchor, and with nothing else."""
    launches = {name: burning(0.001) for name in "abcd"}
    ((_, found),) = ensemble_sweeps.run_round(launches, [TASK], 0, anchor="a", together=2, sweeps=4)
    assert 12 == len(found.sweeps)
    assert {frozenset("ab"), frozenset("ac"), frozenset("ad")} == set(map(frozenset, found.sweeps))
    fitted = sweep_levels.fit(found.logs(list("abcd")))
    assert np.isfinite(fitted.levels).all()


def test_an_anchor_that_fails_in_one_block_leaves_no_false_ratio():
    """Releases of two blocks are compared only where the anchor was measured in both."""
    taken = Round([{"a": 1.0, "b": 2.0}] * 4 + [{"c": 9.0, "d": 18.0}] * 4)
    assert pytest.approx(math.log(2)) == taken.difference("a", "b")[0]
    assert pytest.approx(math.log(2)) == taken.difference("c", "d")[0]
    assert all(map(math.isnan, taken.difference("b", "c")))


@given(
    names=st.lists(st.text(min_size=1), min_size=2, max_size=30, unique=True),
    together=st.one_of(st.none(), st.integers(2, 12)),
    seed=st.integers(0, 99),
)
def test_blocks_hold_all_names_once(names, together, seed):
    """Every block has the anchor, every other name is in one block, none is too large."""
    blocks = list(release_blocks.blocks(names, None, together, Random(seed)))
    assert all(block[0] == names[-1] for block in blocks)
    assert sorted(names[:-1]) == sorted(name for block in blocks for name in block[1:])
    sizes = [len(block) for block in blocks]
    assert max(sizes) <= (together or len(names))
    assert max(sizes) - min(sizes) <= 1


def test_latency_of_cores_is_read(monkeypatch):
    """Two cores answer each other in a plausible time; one core, or none, has no latency."""
    monkeypatch.undo()
    cores = os.sched_getaffinity(0)
    assert core_latency.read(sorted(cores)[:1]) is None
    if len(cores) < 2:
        pytest.skip("one core: there is no other to answer")
    latencies = [core_latency.read(cores) for _ in range(3)]
    assert any(latency is not None and 20 < latency < 100_000 for latency in latencies)


def test_latency_of_cores_that_do_not_exist_is_none(monkeypatch):
    """An impossible core is no failure of a measurement."""
    monkeypatch.undo()
    assert core_latency.read([4000, 4001]) is None
