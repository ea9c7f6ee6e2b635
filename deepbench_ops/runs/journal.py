"""Every point of an unfinished run, on disk as soon as it is measured.

asv saves a release when all of its points are done; a run that is interrupted before would lose
them. The journal holds each point's answer and records until then, so that the same command
started again goes on where it stopped. It belongs to one release under one set of conditions,
and to the code that measured: after a change to it, or a day later, points are measured anew.
"""

import json
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from asv.console import log

LONGEST_SECONDS = 24 * 3600
"""A machine is not the same a day later."""

Point = tuple[str, ...]
"""A benchmark's name and the texts of its parameters."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """What measuring one point once gave: asv's answer, and the records beside it."""

    answer: dict[str, Any]
    records: list[Record]


class Journal:
    """The points of one unfinished run, in the file `path`.

    conditions: what must be the same for a point to be taken up: code, environment, attributes.
    """

    def __init__(self, path: Path, conditions: Mapping[str, Any]) -> None:
        self.path = path
        self._conditions = dict(conditions)
        self._waiting: dict[Point, list[Entry]] = defaultdict(list)
        if path.exists():
            self._read()

    @property
    def waiting(self) -> int:
        """Points of an interrupted run that have not been taken up yet."""
        return sum(len(entries) for entries in self._waiting.values())

    def take(self, point: Point) -> Entry | None:
        """Return what an interrupted run measured of `point`, each time of measuring once."""
        entries = self._waiting.get(point)
        return entries.pop(0) if entries else None

    def add(self, point: Point, entry: Entry) -> None:
        """Keep a point that was just measured."""
        line = {"at": time.time(), "point": point, **asdict(entry), "conditions": self._conditions}
        text = json.dumps(line) + "\n"  # composed before the file is there
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as journal:
            journal.write(text)

    def close(self) -> None:
        """Forget the run, which has been saved."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> None:
        oldest, stale = time.time() - LONGEST_SECONDS, 0
        for text in self.path.read_text().splitlines():
            try:
                line = json.loads(text)
                usable = line["at"] >= oldest and line["conditions"] == self._conditions
                entry = Entry(line["answer"], line["records"])
            except (ValueError, KeyError, TypeError):
                continue  # the last line of a run that was killed while it wrote
            if usable:
                self._waiting[tuple(line["point"])].append(entry)
            else:
                stale += 1
        if stale:
            log.info(f"{stale} points of an unfinished run are measured anew: code or day changed")
