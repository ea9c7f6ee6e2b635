"""A function of each of many values, computed by a process for each core."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from deepbench_ops.errors import DeepbenchError

Value = TypeVar("Value")
Result = TypeVar("Result")


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
            yield from pool.map(function, values, chunksize=together)
        except BrokenProcessPool:
            raise DeepbenchError(
                "a process of this command was killed, as Linux does where memory runs out"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            own = [each for each in multiprocessing.active_children() if each not in others]
            for process in own:
                process.terminate()
            for process in own:
                process.join()
            raise


def _obey_this_process() -> None:
    """Ignore Ctrl-C in a process of the pool, and clean up before it ends by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)


def _end(*_: Any) -> None:
    raise SystemExit
