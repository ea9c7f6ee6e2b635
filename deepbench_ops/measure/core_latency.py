"""Latency between two cores: the time of one byte from one to the other and back.

A virtual machine's cores are moved by its host: for minutes at a time they share a last-level
cache, or they do not. Nothing inside of the machine announces it, and the time of a kernel on two
threads can change by half. Two processes, one on each core, answer each other through one byte of
shared memory; a round trip takes about 250 ns within one cache and 450 ns across two.

``python -m deepbench_ops.measure.core_latency 0 1`` prints the latency between two cores for each
line that it reads.
"""

import mmap
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from contextlib import closing

from deepbench_ops import process_lifetime

TURNS, BLOCK = 5_000, 200
"""Round trips of a reading, and of each of its blocks; the fastest block counts."""

ENOUGH_SECONDS = 2.0
"""A reading that takes longer, because other programs use one of the cores, is given up."""

LIMIT_SECONDS = 10.0
"""The same for a reading by a process that is started for it."""


def read(cores: Collection[int]) -> float | None:
    """Return nanoseconds of a round trip between the first two of these cores; see `Reader`.

    It takes about a tenth of a second, most of it to start a process.
    """
    with closing(Reader(cores)) as reader:
        return reader.read()


class Reader:
    """Readings between the first two of these cores, in a few milliseconds each.

    A process of its own reads, which sleeps in between, so that the process that asks may have
    threads. It is started at the first reading, and again after one that was not possible. Where
    there are fewer than two cores there are no readings.
    """

    def __init__(self, cores: Collection[int]) -> None:
        self._pair = sorted(cores)[:2]
        self._process: subprocess.Popen[bytes] | None = None

    def read(self) -> float | None:
        """Return nanoseconds of a round trip; None where no reading was possible."""
        if len(self._pair) < 2:
            return None
        try:
            if self._process is None:
                self._process = self._started()
            return float(self._answer(self._process))
        except (OSError, ValueError):
            self.close()
            return None

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", __spec__.name, *map(str, self._pair)]
        return subprocess.Popen(
            process_lifetime.bound(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    @staticmethod
    def _answer(process: "subprocess.Popen[bytes]") -> bytes:
        """Return the line that answers one; empty where none comes in time."""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], LIMIT_SECONDS)
        return process.stdout.readline() if ready else b""


class Probe:
    """Two cores whose latency is read any number of times, in a few milliseconds each.

    A process forked for it, the partner, sleeps between readings. To be made and used in the main
    thread, before the process has other threads or much memory; readings take the alarm signal.
    unshared: file descriptors that the partner must not hold.
    """

    def __init__(self, one: int, other: int, unshared: Collection[int] = ()) -> None:
        self._one = one
        self._shared = mmap.mmap(-1, 1)
        reading, self._wake = os.pipe()
        owner = os.getpid()
        self._partner = os.fork()
        if not self._partner:
            try:
                process_lifetime.end_with(owner)
                os.sched_setaffinity(0, {other})
                for descriptor in (self._wake, *unshared):
                    os.close(descriptor)
                while os.read(reading, 1):
                    _answer(self._shared)
            finally:
                os._exit(0)
        os.close(reading)

    def read(self) -> float | None:
        """Return nanoseconds of a round trip.

        None where it took too long or a core is not allowed, now and in all later readings.
        """
        allowed = os.sched_getaffinity(0)
        before = signal.signal(signal.SIGALRM, _out_of_time)
        try:
            os.sched_setaffinity(0, {self._one})
            signal.setitimer(signal.ITIMER_REAL, ENOUGH_SECONDS)
            os.write(self._wake, b"1")
            _block(self._shared)  # wakes the partner
            seconds = min(_block(self._shared) for _ in range(TURNS // BLOCK))
            return 1e9 * seconds / BLOCK
        except OSError:  # also TimeoutError, and a partner that has ended
            self.close()
            return None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            os.sched_setaffinity(0, allowed)

    def close(self) -> None:
        """End the partner."""
        if self._partner:
            os.kill(self._partner, signal.SIGKILL)
            os.waitpid(self._partner, 0)
            os.close(self._wake)
            self._partner, self._wake = 0, -1


def _out_of_time(*_: object) -> None:
    raise TimeoutError


def _block(shared: mmap.mmap) -> float:
    """Return the seconds that a block of round trips takes."""
    began = time.perf_counter()
    for _ in range(BLOCK):
        shared[0] = 1
        while shared[0]:
            pass
    return time.perf_counter() - began


def _answer(shared: mmap.mmap) -> None:
    """Answer the round trips of one reading, the block that wakes this process included."""
    for _ in range(TURNS + BLOCK):
        while not shared[0]:
            pass
        shared[0] = 0


def main(one: int, other: int) -> None:
    """Answer each line of standard input with a reading, until one is not possible."""
    with closing(Probe(one, other)) as probe:
        for _ in sys.stdin.buffer:
            latency = probe.read()
            print("" if latency is None else latency, flush=True)
            if latency is None:
                return


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
