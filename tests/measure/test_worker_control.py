"""Live workers are real processes here, each timing a real kernel of numpy; turns of long calls."""

import os
import signal
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from deepbench_ops.backends import output_check
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import (
    kernel_measurement,
    threads,
    worker_control,
    worker_program,
    worker_turns,
)
from deepbench_ops.measure.kernel_identity import KernelIdentity

NUMPY = worker_control.Launch(
    sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy", "DEEPBENCH_THREADS": "1"}
)
TASK = KernelIdentity("gemm", "m512_n1_k512_NN", "float32")


@pytest.fixture(name="worker")
def a_live_worker():
    side = worker_control.LiveWorker(NUMPY, {0})
    yield side
    side.close()


def prepared(worker, problem=TASK.problem):
    return worker.ask(do="prepare", family="gemm", problem=problem, precision="float32")


def state_of(worker):
    return Path(f"/proc/{worker._process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_the_idle_worker_is_stopped(worker):
    """Between commands a worker is in the stopped state, so its threads cannot spin."""
    assert state_of(worker) == "T"
    assert prepared(worker)["seconds"] > 0
    assert state_of(worker) == "T"


def test_an_error_in_the_worker_is_reported_in_its_own_words(worker):
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


def test_the_last_line_of_a_worker_that_cannot_start_is_in_the_message(capfd):
    """Lines that a library prints are not on the terminal, and the last one is in the error."""
    program = "import sys; sys.exit('A warning of a library\\nImportError: libmkl is missing\\n')"
    with pytest.raises(worker_control.WorkerEnded, match=r"early: .*: ImportError: libmkl is miss"):
        worker_control.LiveWorker(worker_control.Launch(sys.executable, {}, ("-c", program)), {0})
    assert ("", "") == capfd.readouterr()


@pytest.mark.parametrize("after", [0.0, 0.2])
def test_a_worker_that_something_else_stops_goes_on(after):
    """At once, and in the middle of a slice."""
    with closing(burning("0.5")) as worker:
        stop = threading.Timer(after, os.kill, (worker._process.pid, signal.SIGSTOP))
        stop.start()
        assert worker.ask(do="slice", calls=1)["seconds"] >= 0.5
    stop.join()


def test_a_worker_that_is_stopped_while_it_starts_goes_on():
    """It stops itself before it is ready, as another program may do."""
    program = "import os\nos.kill(os.getpid(), 19)\n" + BURNING
    launch = worker_control.Launch(sys.executable, {"BURNED": "0"}, ("-c", program))
    with closing(worker_control.LiveWorker(launch, {0})) as worker:
        assert worker.ask(do="slice", calls=1)["seconds"] >= 0


def test_a_worker_that_is_never_ready_is_given_up(monkeypatch):
    """One line, and no process is left."""
    monkeypatch.setattr(worker_control, "START_SECONDS", 0.2)
    launch = worker_control.Launch(sys.executable, {}, ("-c", "import time; time.sleep(60)"))
    with pytest.raises(DeepbenchError, match=r"a worker was not ready after 0 s: .*python"):
        worker_control.LiveWorker(launch, {0})


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
        short, long = worker_turns.in_turns([first, second], [1, 1])
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
    """Its time before the slice, after it and while it was stopped does not count."""
    running = [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]
    assert 0.5 + 1.0 + 0.25 == worker_turns._spent(running, ended=4.25, seconds=3.75)


@pytest.mark.parametrize("calls", [1, 5])
@pytest.mark.parametrize("woken", [False, True])
def test_a_woken_slice_has_one_more_call(calls, woken):
    """Before the time is taken, however many calls the slice has."""
    events = []
    kernel = SimpleNamespace(
        run=lambda: events.append("run"), reset=lambda: events.append("reset"), clock=None
    )
    kernel.synchronise = lambda: None
    worker = worker_program.Worker()
    worker._kernel = kernel
    worker.slice(calls, woken)
    assert ["run"] * woken + ["reset"] + ["run"] * calls == events


@pytest.mark.parametrize(("slices", "run"), [([], True), ([5], True), ([5, 1], False)])
def test_the_output_of_one_call_is_checked_as_it_is(monkeypatch, slices, run):
    """After several calls, or none, the kernel is reset and runs once more."""

    def nothing():
        return None

    kernel = SimpleNamespace(run=nothing, reset=nothing, synchronise=nothing, clock=None)
    worker, asked = worker_program.Worker(), []
    monkeypatch.setattr(output_check, "verify_output", lambda kernel, run: asked.append(run))
    worker._kernel = kernel
    for calls in slices:
        worker.slice(calls)
    assert {} == worker.check()
    assert [run] == asked


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
    monkeypatch.setattr(kernel_measurement, "prepare", lambda *what: ready)
    monkeypatch.setattr(threads, "pin", lambda count: "")
    assert worker_program.Worker().prepare("gemm", "any", "float32")["stoppable"] is stoppable
