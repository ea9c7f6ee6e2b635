"""Rounds of an ensemble on disk, one line for each kernel and round, so that a history goes on.

A round's ratios hold for the releases, the machine, the threads and the settings that it was
measured with: the store returns the rounds of these alone.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deepbench_ops.measure import ensemble, fingerprint, outside_settings, threads
from deepbench_ops.measure.ensemble import Round
from deepbench_ops.measure.pairs import Task
from deepbench_ops.storage import json_lines, locks, times

DOING = "deepbench history"
DIGITS = 6
"""Significant digits of stored seconds."""


@dataclass
class EnsembleStore:
    """Rounds of kernels over a set of releases, in a file of JSON lines.

    releases: the names of all that a round measures, in any order. Lines that are damaged, or of
    other releases or conditions, are left in the file and not returned.
    """

    path: Path
    releases: Collection[str]
    rounds: dict[Task, dict[int, Round]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        here = conditions(self.releases)
        for entry in json_lines.read(self.path):
            try:
                if entry["conditions"] == here:
                    task, taken = Task(**entry["task"]), _round(entry)
                    self.rounds.setdefault(task, {})[int(entry["number"])] = taken
            except (KeyError, TypeError, ValueError, AttributeError):
                continue

    def missing(self, task: Task, number: int) -> bool:
        """Return whether a kernel has not been measured in this round."""
        return number not in self.rounds.get(task, ())

    def add(self, task: Task, number: int, taken: Round) -> None:
        """Append one round of a kernel, on the disk before the next one is measured."""
        self.rounds.setdefault(task, {})[number] = taken
        entry = {
            "task": asdict(task),
            "number": number,
            "ended_at": round(time.time(), 3),
            "conditions": conditions(self.releases),
            "sweeps": [
                {name: float(f"{seconds:.{DIGITS}g}") for name, seconds in sweep.items()}
                for sweep in taken.sweeps
            ],
            "reasons": taken.reasons,
            "latencies": taken.latencies,
        }
        with locks.writing(self.path.parent, DOING):
            json_lines.append(self.path, [entry])

    def of(self, task: Task) -> list[Round]:
        """Return the rounds of a kernel in the order of their numbers."""
        found = self.rounds.get(task, {})
        return [found[number] for number in sorted(found)]


def conditions(releases: Collection[str]) -> dict[str, str]:
    """Return what rounds must share to be combined: releases, processor, threads and settings."""
    return {
        "releases": " ".join(sorted(releases)),
        "processor": fingerprint.silicon(),
        "threads": str(threads.wanted()),
        "settings": outside_settings.text(outside_settings.of_this_process()),
        "version": ensemble.VERSION,
    }


def _round(entry: Mapping[str, Any]) -> Round:
    """Return the round of an entry. Raises ValueError for seconds that cannot be right."""
    sweeps = [dict(sweep) for sweep in entry["sweeps"]]
    if not all(times.is_time(seconds) for sweep in sweeps for seconds in sweep.values()):
        raise ValueError("no times")
    return Round(sweeps, dict(entry["reasons"]), [float(each) for each in entry["latencies"]])
