"""Journals of runs: every point is on the disk as soon as it is measured.

asv saves a release when all of its points are measured; an interrupted run would lose them. A
journal holds each point's answer and records until they are in the results, so that the same
command started again goes on where it stopped. Its points belong to one release, one set of
conditions and one state of the measuring code: after a change, or a day later, points are measured
again.

Every run writes a file of its own, and reads those of ended runs: only one run measures in a
project at a time.
"""

import json
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from asv.console import log

from deepbench_ops.storage import atomic, json_lines
from deepbench_ops.storage.result_key import ResultKey

LONGEST_SECONDS = 24 * 3600
"""A machine is not the same a day later."""

Record = dict[str, Any]
JournalLine = dict[str, Any]
"""A point in the file: `at` (seconds since 1970), `point` (benchmark and plain parameters),
`answer`, `records` and `conditions`."""


@dataclass(frozen=True)
class MeasuredPoint:
    """asv's answer to measuring one point once, and the records of it."""

    answer: dict[str, Any]
    records: list[Record]


class RunJournal:
    """Points of one unfinished run, and of earlier ones whose points it takes up.

    folder: of the journals of all runs.
    conditions: equal for points that may be taken up: release, environment, code, attributes.
    """

    def __init__(self, folder: Path, conditions: Mapping[str, Any]) -> None:
        self._conditions = dict(conditions)
        self._waiting: dict[ResultKey, list[JournalLine]] = defaultdict(list)
        self._earlier: list[Path] = []
        self._read(folder)
        self.path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}.jsonl"

    @property
    def waiting(self) -> int:
        """Number of points of interrupted runs that have not been taken up yet."""
        return sum(len(lines) for lines in self._waiting.values())

    def take(self, point: ResultKey) -> MeasuredPoint | None:
        """Return the next measurement of `point` by interrupted runs, in the order of measuring."""
        lines = self._waiting.get(point)
        return _entry(lines.pop(0)) if lines else None

    def drop(self, is_saved: Callable[[ResultKey, MeasuredPoint], bool]) -> None:
        """Forget waiting points that the results hold already.

        That is for samples that are to be appended: a run may have saved them and been killed
        before it removed its journal.
        """
        for point, lines in self._waiting.items():
            lines[:] = [line for line in lines if not is_saved(point, _entry(line))]

    def add(self, point: ResultKey, entry: MeasuredPoint) -> None:
        """Write a measured point; it is on the disk on return. Raises OSError."""
        flat = [point[0], *point[1]]
        line = {"at": time.time(), "point": flat, **asdict(entry), "conditions": self._conditions}
        json_lines.append(self.path, [line])

    def close(self) -> None:
        """Remove all points that this run measured or took up, which have been saved.

        Those of earlier runs that it did not take up stay, in a file of this run. Raises OSError.
        """
        left = [line for lines in self._waiting.values() for line in lines]
        if left:
            atomic.write_text(self.path, "".join(json.dumps(line) + "\n" for line in left))
        else:
            self.path.unlink(missing_ok=True)
        for path in self._earlier:
            path.unlink(missing_ok=True)
        self._earlier = [self.path] if left else []

    def _read(self, folder: Path) -> None:
        """Read the points of ended runs under these conditions; remove journals of another day."""
        oldest, stale = time.time() - LONGEST_SECONDS, 0
        seen = set()
        for path in sorted(folder.glob("*.jsonl")):
            lines = list(_lines(path))
            if all(line["at"] < oldest for line in lines):
                path.unlink(missing_ok=True)
                stale += len(lines)
                continue
            if not any(line["conditions"] == self._conditions for line in lines):
                stale += sum(_same_release(line["conditions"], self._conditions) for line in lines)
                continue
            self._earlier.append(path)
            for line in lines:
                # A run that was killed while it closed its journal leaves points in two files.
                (name, *parameters), when = line["point"], line["at"]
                point = name, tuple(parameters)
                if when >= oldest and (point, when) not in seen:
                    seen.add((point, when))
                    self._waiting[point].append(line)
        if stale:
            log.info(f"{stale} points of an unfinished run are measured again: code or day changed")


def _lines(path: Path) -> Iterator[JournalLine]:
    """Yield the lines of a journal that are points."""
    for line in json_lines.read(path):
        try:
            line["at"] + 0.0, dict(line["conditions"])
            name, *parameters = line["point"]
            " ".join([name, *parameters])
            MeasuredPoint(dict(line["answer"]), list(line["records"]))
        except (ValueError, KeyError, TypeError):
            continue
        yield line


def _entry(line: JournalLine) -> MeasuredPoint:
    return MeasuredPoint(line["answer"], line["records"])


def _same_release(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name) == other.get(name) for name in ("release", "environment"))
