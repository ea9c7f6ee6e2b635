"""Journals of runs: every point is on the disk as soon as it is measured.

asv saves a release when all of its points are measured; an interrupted run would lose them. A
journal holds each point's answer and records until they are in the results, so that the same
command started again goes on where it stopped. Its points belong to one release, one set of
conditions and one state of the measuring code: after a change, or a day later, points are measured
again.

Every run writes a file of its own, and reads those of ended runs: only one run measures in a
project at a time. Points of a release that is saved stay in `saved/` until the run has ended: the
same command started again takes them from there instead of measuring finished releases again.
Saving them again changes nothing.
"""

import hashlib
import secrets
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from asv.console import log
from asv.runner import BenchmarkResult

from deepbench_ops.storage import atomic_write, json_lines, record_checks, seconds_limits
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import ResultKey

SAVED = "saved"
"""Holds a folder for each command, with a file of points for each release it has saved."""

LONGEST_SECONDS = 24 * 3600
"""A machine is not the same a day later."""

JournalLine = dict[str, Any]
"""A point in the file: `at` (seconds since 1970), `point` (benchmark and plain parameters),
`answer`, `records` and `run_conditions`."""


@dataclass(frozen=True)
class MeasuredPoint:
    """asv's answer to measuring one point once, and the records of it."""

    answer: dict[str, Any]
    records: list[Record]


class RunJournal:
    """Points of one unfinished run, and of earlier ones whose points it takes up.

    folder: of the journals of all runs.
    conditions: equal for points that may be taken up: release, environment, machine, code,
        attributes.
    command: identifies the command among others; "" for one whose saved points are not kept.
    """

    def __init__(self, folder: Path, conditions: Mapping[str, Any], command: str = "") -> None:
        self._conditions = dict(conditions)
        self._waiting: dict[ResultKey, list[JournalLine]] = defaultdict(list)
        self._used: list[JournalLine] = []
        self._earlier: list[Path] = []
        self._folder, self._command = folder, command
        self._read()
        self.path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}.jsonl"

    @property
    def waiting(self) -> int:
        """Number of points of interrupted runs that have not been taken up yet."""
        return sum(len(lines) for lines in self._waiting.values())

    @property
    def saved(self) -> int:
        """Number of waiting points that an interrupted run of the same command has saved."""
        return sum(line["saved"] for lines in self._waiting.values() for line in lines)

    def take(self, point: ResultKey) -> MeasuredPoint | None:
        """Return the next measurement of `point` by interrupted runs, in the order of measuring."""
        lines = self._waiting.get(point)
        if not lines:
            return None
        self._used.append(lines.pop(0))
        return _entry(self._used[-1])

    def add(self, point: ResultKey, entry: MeasuredPoint) -> None:
        """Write a measured point; it is on the disk on return. Raises OSError."""
        flat = [point[0], *point[1]]
        line = {"at": time.time(), "point": flat, **asdict(entry), "conditions": self._conditions}
        json_lines.append(self.path, [line])
        self._used.append(line)

    def close(self) -> None:
        """Move the points of this run to the saved ones: asv has saved them.

        Those of earlier runs that it did not take up stay, in a file of this run. Raises OSError.
        """
        waiting = [line for lines in self._waiting.values() for line in lines]
        left = [line for line in waiting if not line["saved"]]
        if self._used:
            self._put_aside([*self._used, *(line for line in waiting if line["saved"])])
        if left:
            _write(self.path, left)
        else:
            self.path.unlink(missing_ok=True)
        for path in self._earlier:
            path.unlink(missing_ok=True)
        self._earlier = [self.path] if left else []

    def _put_aside(self, saved: list[JournalLine]) -> None:
        """Keep the saved points for the same command; other commands' older ones are removed."""
        place = _text_digest(self._conditions.get("release"), self._conditions.get("environment"))
        own = self._folder / SAVED / self._command / f"{place}.jsonl"
        if self._command:
            _write(own, saved)
        for path in self._folder.glob(f"{SAVED}/*/{place}.jsonl"):
            if path != own:
                path.unlink(missing_ok=True)

    def _read(self) -> None:
        """Read the points of ended runs under these conditions; remove journals of another day."""
        oldest, stale = time.time() - LONGEST_SECONDS, 0
        seen = set()
        saved = {*self._folder.glob(f"{SAVED}/*/*.jsonl")}
        for path in [*sorted(saved), *sorted(self._folder.glob("*.jsonl"))]:
            if path in saved and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
            if path in saved and path.parent.name != self._command:
                continue
            lines = list(_lines(path))
            if all(line["at"] < oldest for line in lines):
                path.unlink(missing_ok=True)
                stale += len(lines)
                continue
            if not any(line["conditions"] == self._conditions for line in lines):
                stale += sum(_same_release(line["conditions"], self._conditions) for line in lines)
                continue
            if path not in saved:
                self._earlier.append(path)
            for line in lines:
                # A run that was killed while it closed its journal leaves points in two files.
                (name, *parameters), when = line["point"], line["at"]
                point = name, tuple(parameters)
                if when >= oldest and (point, when) not in seen:
                    seen.add((point, when))
                    self._waiting[point].append({**line, "saved": path in saved})
        if stale:
            log.info(
                f"{stale} points of an unfinished run are measured again: code, machine, settings"
                " or day changed"
            )


def forget_saved(folder: Path, command: str) -> None:
    """Remove the saved points of a command that has ended: it measures all of them next time."""
    if command:
        shutil.rmtree(folder / SAVED / command, ignore_errors=True)


def _text_digest(*texts: object) -> str:
    return hashlib.sha1("\n".join(map(str, texts)).encode(), usedforsecurity=False).hexdigest()


def _write(path: Path, lines: list[JournalLine]) -> None:
    atomic_write.write_text(path, json_lines.as_text(lines, allow_nan=True))


def _lines(path: Path) -> Iterator[JournalLine]:
    """Yield the lines of a journal that are points."""
    for line in json_lines.read(path):
        try:
            line["at"] + 0.0, dict(line["conditions"])
            name, *parameters = line["point"]
            " ".join([name, *parameters])
            _check(line["answer"], line["records"])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        yield line


def _check(answer: dict[str, Any], records: list[Record]) -> None:
    """Raise ValueError or TypeError for an answer and records that no measurement gives.

    asv's answer is True where there are samples, and a value where there are none. Records have
    their conditions here, and in results a digest of them.
    """
    if answer.keys() != set(BenchmarkResult._fields):
        raise ValueError("these are no fields of an answer")
    for value, samples in zip(answer["result"], answer["samples"], strict=True):
        if samples is None and not isinstance(value, int | float | None):
            raise ValueError("this is no number")
        if samples is not None and not (
            value is True and all(map(seconds_limits.is_time, samples))
        ):
            raise ValueError("these are no times")
    for record in records:
        named = {"fingerprint": "conditions"} if "fingerprint" in record else {}
        record_checks.check({**record, **named})


def _entry(line: JournalLine) -> MeasuredPoint:
    return MeasuredPoint(line["answer"], line["records"])


def _same_release(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name) == other.get(name) for name in ("release", "environment"))
