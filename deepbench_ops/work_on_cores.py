"""A function of each of many values, computed by a process for each core."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from deepbench_ops.errors import DeepbenchError

Value = TypeVar("Value")
Result = TypeVar("Result")

HANDOVER = 0.1
"""Seconds in which a process that has to end may hand over a result or an error."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def results(
    function: Callable[[Value], Result], values: Iterable[Value], together: int = 1
) -> Iterator[Result]:
    """Yield the result of each value, in order. The processes take a second to start.

    function, values and results must be picklable. together: values that a process gets at once.
    The processes end with the iteration, also with one that is given up, as by Ctrl-C. Raises the
    errors of the function, and DeepbenchError where a process is killed.
    """
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(
        cores(), multiprocessing.get_context("spawn"), initializer=_obey_this_process
    ) as pool:
        try:
            yield from pool.map(_Interruptible(function), values, chunksize=together)
        except BrokenProcessPool:
            raise DeepbenchError(
                "a process of this command was killed, as Linux does where memory runs out"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            own = [each for each in multiprocessing.active_children() if each not in others]
            while own := [each for each in own if each.is_alive()]:
                for process in own:
                    process.terminate()
                for process in own:
                    process.join(5 * HANDOVER)
            raise


class _Ended(BaseException):
    """Raised in the function when its process gets SIGTERM, so that it tidies up."""


_at_work = _ending = False


@dataclass(frozen=True)
class _Interruptible(Generic[Value, Result]):
    """The function, in a process that SIGTERM ends: the pool would take the exception for a result,
    and start on the next value."""

    function: Callable[[Value], Result]

    def __call__(self, value: Value) -> Result:
        global _at_work
        try:
            if _ending:
                raise _Ended
            _at_work = True
            return self.function(value)
        except _Ended:
            _end_soon()
            raise
        finally:
            _at_work = False


def _obey_this_process() -> None:
    """Ignore Ctrl-C in a process of the pool, and end by SIGTERM once the function has tidied
    up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGALRM, _exit)


def _end(*_: Any) -> None:
    global _ending
    again, _ending = _ending, True
    if not _at_work:
        _end_soon()
    elif not again:
        raise _Ended


def _end_soon() -> None:
    signal.setitimer(signal.ITIMER_REAL, HANDOVER)


def _exit(*_: Any) -> None:
    """End where the process waits for a value; elsewhere the pool may take it for an error, and
    SIGTERM comes again."""
    raise SystemExit
