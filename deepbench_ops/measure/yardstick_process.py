"""The yardstick in a process of its own, which stops the measured one while it runs.

Thread pools do not sleep when a kernel returns: OpenBLAS's workers spin for tens of milliseconds,
OpenMP's for a few. A yardstick next to them shares its cores with them and reads up to twice too
much, more for one framework than for another. So it runs elsewhere: on a request for a reading, it
stops the measured process with all its threads, reads, and lets it go on.

One such process serves all that are forked after it was started. Its program is ``python -m
deepbench_ops.measure.yardstick_process``: a reader and its guardian. Each of them lets the measured
process go on when the other is killed.
"""

import math
import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import NoReturn

from deepbench_ops import process_lifetime, process_messages
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import threads, yardstick
from deepbench_ops.measure.calls_per_slice import calls_per_slice
from deepbench_ops.measure.core_latency import Probe
from deepbench_ops.measure.disturbance_wait_budget import WaitBudget

# Stopping is a signal to every thread of the asker; on a busy machine they take this long.
STOPPING_SECONDS = 0.0002


class YardstickProcess:
    """The yardstick's process, started once, which serves any number of clients."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            process_lifetime.bound(
                [sys.executable, "-m", "deepbench_ops.measure.yardstick_process"]
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._numbers = count()

    def client(self, kind: str, nominal: float | None) -> "YardstickClient":
        """Return a client of this kind; DeepbenchError when the yardstick cannot be had."""
        return YardstickClient(kind, nominal, self)

    def ask(self, **command: object) -> float:
        """Send a command on behalf of this process; return the figure answered, NaN for none.

        Raises DeepbenchError with the error of the process, and where it has ended.
        """
        assert self._process.stdin and self._process.stdout
        # A process killed while it waited leaves its answer behind for the next one to find.
        name = f"{os.getpid()}-{next(self._numbers)}"
        try:
            command |= {"name": name, "stop": os.getpid()}
            process_messages.write(self._process.stdin, command)
            answer = process_messages.read(self._process.stdout)
            while answer and answer["name"] != name:
                answer = process_messages.read(self._process.stdout)
        except BrokenPipeError:
            answer = None
        if answer is None:
            raise DeepbenchError("the yardstick's process has ended; start the run again")
        if "error" in answer:
            raise DeepbenchError(answer["error"])
        return float(answer["figure"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


class YardstickClient:
    """The yardstick as `kernel_sampling.measure` reads it.

    nominal: seconds that it reads on this machine undisturbed, None where they are not known.
    """

    def __init__(self, kind: str, nominal: float | None, server: YardstickProcess) -> None:
        self.kind = kind
        self.nominal = nominal
        self._server = server
        self._unit_seconds = server.ask(do="unit", kind=kind)

    def slice(self, units: int) -> float:
        """Return seconds per unit of work, read while this process is stopped."""
        return self._server.ask(do="slice", kind=self.kind, units=units)

    def core_latency(self) -> float | None:
        """Return nanoseconds of a round trip between the first two cores of the kernel.

        None where it has one thread, or where no reading was possible. This process is stopped
        meanwhile.
        """
        found = self._server.ask(do="latency", kind=self.kind)
        return None if math.isnan(found) else found

    def units_for(self, seconds: float) -> int:
        """Return the number of units that take about ``seconds``."""
        return calls_per_slice(seconds, self._unit_seconds)

    def may_wait(self, seconds: float) -> bool:
        """Return whether the run has ``seconds`` of waiting left, which are spent then."""
        return self._server.ask(do="wait", kind=self.kind, seconds=seconds) > 0


class _Held:
    """The process that is stopped for a reading, in memory that reader and guardian share."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)

    @contextmanager
    def still(self, pid: int) -> Iterator[None]:
        """Stop the process for as long as this lasts."""
        try:
            self._memory[:] = pid.to_bytes(8, "little")
            os.kill(pid, signal.SIGSTOP)
            time.sleep(STOPPING_SECONDS)
            yield
        finally:
            self.release()

    def release(self) -> None:
        """Let the process go on, if there is one."""
        pid = int.from_bytes(self._memory[:], "little")
        if pid:
            try:
                os.kill(pid, signal.SIGCONT)
            finally:
                self._memory[:] = bytes(8)


class _Reader:
    """The other end: makes each kind of yardstick when it is first asked for."""

    def __init__(self, held: _Held, probe: Probe | None = None) -> None:
        self._held = held
        self._probe = probe
        self._yardsticks: dict[str, yardstick.Yardstick] = {}
        self._budget = WaitBudget()

    def wait(self, seconds: float) -> float:
        """Spend seconds of the run's wait budget; return them, 0 where it has fewer left."""
        return seconds if self._budget.spend(seconds) else 0.0

    def unit(self, kind: str) -> float:
        """Return the seconds of a unit of a kind."""
        return self._of(kind).unit_seconds

    def slice(self, kind: str, units: int, stop: int) -> float:
        """Return the seconds per unit over a slice, with the process `stop` stopped meanwhile."""
        workload = self._of(kind)
        with self._held.still(stop):
            return workload.slice(units)

    def latency(self, stop: int) -> float:
        """Return nanoseconds of a round trip between two cores, NaN where there is none."""
        if self._probe is None:
            return math.nan
        with self._held.still(stop):
            found = self._probe.read()
        return math.nan if found is None else found

    def _of(self, kind: str) -> yardstick.Yardstick:
        if kind not in self._yardsticks:
            self._yardsticks[kind] = yardstick.Yardstick(kind, threads.wanted())
        return self._yardsticks[kind]


def main() -> None:
    """Start the reader, and let the process that it holds go on should it be killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the asking process decides when this ends
    held, guardian = _Held(), os.getpid()
    reader = os.fork()
    if not reader:
        _read(held, guardian)
    for stream in (sys.stdin, sys.stdout):
        os.close(stream.fileno())  # only the reader's end may answer
    while os.WIFSTOPPED(os.waitpid(reader, os.WUNTRACED)[1]):
        os.kill(reader, signal.SIGCONT)  # another program stopped it
    with suppress(ProcessLookupError):
        held.release()
    os._exit(0)


def _read(held: _Held, guardian: int) -> NoReturn:
    """Answer requests until all clients, or the guardian, have ended."""

    def end(*_: object) -> NoReturn:
        with suppress(ProcessLookupError):
            held.release()
        os._exit(0)

    probe = _probe()  # before there is anything that its partner should not have
    signal.signal(signal.SIGTERM, end)
    process_lifetime.end_with(guardian, by=signal.SIGTERM)
    _answer(_Reader(held, probe))
    os._exit(0)


def _probe() -> Probe | None:
    """Return the probe between the first two cores of kernels; None where they have one."""
    pair = threads.one_cpu_per_core()[: threads.wanted()][:2]
    if len(pair) < 2 or not hasattr(os, "sched_setaffinity"):
        return None
    streams = [stream.fileno() for stream in (sys.stdin, sys.stdout)]
    return Probe(pair[0], pair[1], unshared=streams)


def _answer(reader: _Reader) -> None:
    while (command := process_messages.read(sys.stdin.buffer)) is not None:
        do, kind = command["do"], command["kind"]
        answer = {"name": command["name"]}
        try:
            if do == "wait":
                answer["figure"] = reader.wait(command["seconds"])
            elif do == "latency":
                answer["figure"] = reader.latency(command["stop"])
            elif do == "unit":
                answer["figure"] = reader.unit(kind)
            else:
                answer["figure"] = reader.slice(kind, command["units"], command["stop"])
        except (DeepbenchError, ProcessLookupError) as error:
            answer["error"] = str(error)
        process_messages.write(sys.stdout.buffer, answer)


if __name__ == "__main__":
    main()
