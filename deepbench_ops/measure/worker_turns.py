"""Slices of several live workers, one after the other or in turns, on the same cores.

Short slices run to their end. Where the calls of all take longer than a turn, each is stopped on
its way and goes on later, so that disturbances of the machine fall on all workers alike; each one's
time is that of its own turns.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.worker_control import ANSWER_SECONDS, LiveWorker, WorkerEnded

TURN_SECONDS = 0.015
"""Seconds of a turn: longer is noisier, and shorter costs more, since each turn begins with
caches that the others have filled."""

# Times of turns and those of workers are by `time.perf_counter`, which is the same clock in all
# processes on Linux, where alone processes are stopped like this.


class WorkerFailed(DeepbenchError):
    """A worker that answered with an error, or is lost: it ended, or did not answer in time.

    The others are ready for the next command.
    """

    def __init__(self, worker: LiveWorker, reason: str, is_lost: bool) -> None:
        super().__init__(reason)
        self.worker, self.is_lost = worker, is_lost

    @classmethod
    def silent(cls, worker: LiveWorker) -> "WorkerFailed":
        """The error of a worker that has not answered within `ANSWER_SECONDS`."""
        return cls(worker, f"no answer for {ANSWER_SECONDS:.0f} s", is_lost=True)


def ask(worker: LiveWorker, **command: object) -> dict[str, Any]:
    """Return a worker's answer to a command. Raises WorkerFailed."""
    worker.send(**command)
    answer = _answer(worker, ANSWER_SECONDS)
    if answer is None:
        raise WorkerFailed.silent(worker)
    return answer


def one_by_one(
    workers: Sequence[LiveWorker], calls: Sequence[int], woken: bool = False
) -> list[float]:
    """Return seconds per call of a slice of each worker, by the workers' own clocks.

    woken: whether an untimed call comes before each slice. Raises WorkerFailed.
    """
    return [
        ask(worker, do="slice", calls=number, woken=woken)["seconds"]
        for worker, number in zip(workers, calls, strict=True)
    ]


def in_turns(workers: Sequence[LiveWorker], calls: Sequence[int]) -> list[float]:
    """Return seconds per call of a slice of each, all going on in turns until they are done.

    Raises WorkerFailed once all the others are done.
    """
    running: list[list[tuple[float, float]]] = [[] for _ in workers]
    found: dict[int, float] = {}
    failed: dict[int, WorkerFailed] = {}
    for worker, number in zip(workers, calls, strict=True):
        worker.send(do="slice", calls=number)
    while missing := [index for index in range(len(workers)) if index not in {*found, *failed}]:
        for index in missing:
            resumed = time.perf_counter()
            try:
                answer = _answer(workers[index], TURN_SECONDS if missing != [index] else None)
            except WorkerFailed as error:
                failed[index] = error
                continue
            running[index].append((resumed, time.perf_counter()))
            if answer is not None:
                taken = calls[index] * answer["seconds"]
                found[index] = _spent(running[index], answer["ended"], taken) / calls[index]
            elif sum(stopped - resumed for resumed, stopped in running[index]) > ANSWER_SECONDS:
                failed[index] = WorkerFailed.silent(workers[index])
    if failed:
        raise next(iter(failed.values()))
    return [found[index] for index in range(len(workers))]


def _answer(worker: LiveWorker, seconds: float | None) -> dict[str, float] | None:
    """Let a worker run for so long at most; return its answer, None where none came.

    None: for as long as `ANSWER_SECONDS`. Raises WorkerFailed with the worker's own reason.
    """
    try:
        return worker.go_on(ANSWER_SECONDS if seconds is None else seconds)
    except (DeepbenchError, OSError) as error:
        lost = isinstance(error, WorkerEnded | OSError)
        raise WorkerFailed(worker, str(error), lost) from None


def _spent(turns: Iterable[tuple[float, float]], ended: float, seconds: float) -> float:
    """Return how much of so many seconds before it ended a worker was running."""
    began = ended - seconds
    return sum(max(0.0, min(stopped, ended) - max(resumed, began)) for resumed, stopped in turns)
