"""Store of the rounds of pairs on disk until all are there, to go on from after an interruption."""

import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path

from deepbench_ops.measure import pairs, threads
from deepbench_ops.measure.pairs import Pair, Task
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.storage import json_lines, locks, valid_times

FRESH = 24 * 3600
"""Seconds after which a round that waits for the others is of another day, and does not count."""

DOING = "deepbench verdict --confirm"


@dataclass
class RoundStore:
    """Rounds of several kernels between the same two sides, in a file.

    Each has its number, since sides take turns in starting first, and the threads it was measured
    with: of another number of threads, or of another day, none counts.
    """

    path: Path
    rounds: dict[Task, dict[int, list[Pair]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path.exists():
            with locks.writing(self.path.parent, DOING):
                self._read()
                if not self.rounds:
                    self.path.unlink(missing_ok=True)

    def _read(self) -> None:
        for entry in json_lines.read(self.path):
            try:
                task, taken = Task(**entry["task"]), [(b, a) for b, a in entry["pairs"]]
                if not all(valid_times.is_time(each) for pair in taken for each in pair):
                    continue  # damaged
                late = time.time() - entry["ended_at"] >= FRESH
                if not late and entry["threads"] == threads.wanted():
                    self.rounds.setdefault(task, {})[entry["number"]] = taken
            except (ValueError, KeyError, TypeError):
                continue  # damaged

    def measure(
        self,
        launches: Callable[[], tuple[Launch, Launch]],
        tasks: Collection[Task],
        rounds: int,
    ) -> dict[Task, list[list[Pair]]]:
        """Measure what is missing, and return so many rounds of each task.

        `launches` is only asked for how to start the sides where something is. Raises
        DeepbenchError where they cannot be started.
        """
        for number in range(rounds):
            missing = [task for task in tasks if number not in self.rounds.get(task, ())]
            if missing:
                self._add(number, pairs.run_round(*launches(), missing, number))
        return {task: [self.rounds[task][number] for number in range(rounds)] for task in tasks}

    def _add(self, number: int, found: dict[Task, list[Pair]]) -> None:
        """Store a round of several kernels; it is on the disk on return."""
        for task, taken in found.items():
            self.rounds.setdefault(task, {})[number] = taken
        entries = [
            {
                "task": asdict(task),
                "number": number,
                "pairs": taken,
                "threads": threads.wanted(),
                "ended_at": time.time(),
            }
            for task, taken in found.items()
        ]
        with locks.writing(self.path.parent, DOING):
            json_lines.append(self.path, entries)

    def forget(self) -> None:
        """Remove the file: all questions about its rounds have been answered."""
        if self.path.exists():
            with locks.writing(self.path.parent, DOING):
                self.path.unlink(missing_ok=True)
