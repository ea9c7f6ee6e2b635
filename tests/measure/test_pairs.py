"""Pairs run real processes here, each timing a real kernel of numpy."""

import os
import signal
import statistics
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import kernel_run, pairs, threads, turns, worker_control, worker_program

NUMPY = worker_control.Launch(
    sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy", "DEEPBENCH_THREADS": "1"}
)
TASK = pairs.Task("gemm", "m512_n1_k512_NN", "float32")


@pytest.fixture(name="worker")
def a_live_worker():
    side = worker_control.LiveWorker(NUMPY, {0})
    yield side
    side.close()


def prepared(worker, problem=TASK.problem):
    return worker.ask(do="prepare", family="gemm", problem=problem, precision="float32")


def state_of(worker):
    return Path(f"/proc/{worker._process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_a_round_holds_pairs_of_positive_seconds():
    """Two rounds of a release against itself give the pairs asked for, all positive."""
    rounds = pairs.run_rounds(NUMPY, NUMPY, [TASK], rounds=2, pairs=4)[TASK]
    assert [len(taken) for taken in rounds] == [4, 4]
    assert all(seconds > 0 for taken in rounds for pair in taken for seconds in pair)


def test_the_idle_worker_is_stopped(worker):
    """Between commands a worker is in the stopped state, so its threads cannot spin."""
    assert state_of(worker) == "T"
    assert prepared(worker)["seconds"] > 0
    assert state_of(worker) == "T"


def test_an_error_in_the_worker_is_told_in_its_own_words(worker):
    """An impossible problem comes back as the worker's message, and the worker lives on."""
    with pytest.raises(DeepbenchError, match="m0_n1_k1_NN: m is '0'"):
        prepared(worker, "m0_n1_k1_NN")
    assert prepared(worker)["seconds"] > 0


def test_closing_leaves_no_process(worker):
    """close() ends the process even while it is stopped."""
    worker.close()
    assert worker._process.poll() is not None


def test_a_worker_that_dies_is_reported(worker):
    """A worker killed from outside ends the question with an error, not with waiting."""
    os.kill(worker._process.pid, signal.SIGKILL)
    with pytest.raises(DeepbenchError, match="ended early"):
        worker.ask(do="slice", calls=1)


def test_a_worker_that_died_long_ago_is_reported(worker):
    """A closed pipe is reported in the same words."""
    worker._process.kill()
    worker._process.wait()
    with pytest.raises(DeepbenchError, match="ended early"):
        worker.ask(do="slice", calls=1)


def test_nothing_is_left_behind_when_a_side_cannot_start():
    """If the second interpreter does not exist, the first process is ended again."""
    with pytest.raises(FileNotFoundError):
        pairs.run_rounds(NUMPY, worker_control.Launch("/nowhere/python"), [TASK], rounds=1)
    time.sleep(0.1)
    found = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", "measure.worker"], capture_output=True, text=True
    )
    assert found.stdout == ""


BURNING = """
import json, os, sys, time
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    began, until = time.monotonic(), time.process_time() + float(os.environ["BURNED"])
    while time.process_time() < until:
        pass
    ended = time.monotonic()
    print(json.dumps({"seconds": ended - began, "ended": ended}), flush=True)
"""


def test_long_calls_are_stopped_while_it_is_the_others_turn():
    """Two calls of 60 and 90 ms go on at the same time, and neither is charged for the other."""
    with closing(burning("0.06")) as first, closing(burning("0.09")) as second:
        begun = time.monotonic()
        short, long = turns.in_turns([first, second], [1, 1])
        elapsed = time.monotonic() - begun
    assert 0.06 <= short and 0.09 <= long
    assert short + long <= elapsed


def burning(seconds):
    """A worker each of whose slices keeps a core busy for so long, whatever else runs there."""
    program = ("-c", BURNING)
    return worker_control.LiveWorker(
        worker_control.Launch(sys.executable, {"BURNED": seconds}, program), {0}
    )


def test_a_call_is_charged_for_its_turns_alone():
    """What it ran before it began, after it ended and while it was stopped does not count."""
    running = [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]
    assert 0.5 + 1.0 + 0.25 == turns._spent(running, ended=4.25, seconds=3.75)


@pytest.mark.parametrize(
    ("device", "clock", "stoppable"),
    [("cpu", None, True), ("cuda", None, False), ("cpu", lambda calls: 1.0, False)],
)
def test_work_of_others_is_not_stopped_on_its_way(monkeypatch, device, clock, stoppable):
    """Ranks and accelerators go on while the process that waits for them stands still."""

    def nothing():
        return None

    kernel = SimpleNamespace(
        run=nothing, reset=nothing, synchronise=nothing, clock=clock, notes={}, implementation=str
    )
    backend = SimpleNamespace(device=device, versions=dict)
    ready = SimpleNamespace(kernel=kernel, backend=backend, threads=1, yardstick_kind="compute")
    monkeypatch.setattr(kernel_run, "prepare", lambda *what: ready)
    monkeypatch.setattr(threads, "pin", lambda count: "")
    assert worker_program.Worker().prepare("gemm", "any", "float32")["stoppable"] is stoppable


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=30), st.floats(1e-6, 1e3))
def test_a_common_factor_cancels(afters, weather):
    """What slows both sides of a pair alike does not move the round's ratio."""
    calm = [(1.0, after) for after in afters]
    rough = [(before * weather, after * weather) for before, after in calm]
    assert pairs.round_ratio(rough) == pytest.approx(pairs.round_ratio(calm))


@given(st.lists(st.tuples(st.floats(0.5, 2.0), st.floats(0.5, 2.0)), min_size=1, max_size=31))
def test_swapping_the_sides_inverts_the_ratio(taken):
    """Before and after exchanged give the reciprocal."""
    swapped = [(after, before) for before, after in taken]
    assert pairs.round_ratio(swapped) == pytest.approx(1 / pairs.round_ratio(taken))


def test_the_ratio_is_the_median_of_the_pairs():
    """One pair hit by a spike does not move the ratio."""
    taken = [(1.0, 1.1)] * 10 + [(1.0, 9.0)]
    assert pairs.round_ratio(taken) == pytest.approx(statistics.median([1.1] * 11))


def test_the_sides_take_turns_in_being_first(monkeypatch):
    """The worker that prepares last can be faster for as long as it lives, so the other one does in
    the next round."""
    asked = []

    class Side:
        def __init__(self, name):
            self.name = name

        def send(self, do, **about):
            asked.append((do, self.name))

        def go_on(self, seconds=None):
            return {"seconds": 0.01, "stoppable": False}

        def ask(self, **command):
            self.send(**command)
            return self.go_on()

    @contextmanager
    def started(before, after, swap):
        yield Side("before"), Side("after")

    monkeypatch.setattr(pairs, "_started", started)
    pairs.run_rounds(None, None, [TASK], rounds=2, pairs=4)
    prepared = [name for do, name in asked if do == "prepare"]
    assert ["before", "after", "after", "before"] == prepared
    sliced = [name for do, name in asked if do == "slice"][:4]
    assert ["before", "after", "after", "before"] == sliced
