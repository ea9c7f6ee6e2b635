"""Filing of the rounds of an ensemble, and of the results that follow from them.

All releases of a kernel are solved together, earlier rounds included, so that every result that new
rounds refine is written again. Rounds, results and records are replaced together, and the rounds
leave the journal last.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deepbench_ops.analysis import ensemble_values
from deepbench_ops.analysis.ensemble_values import ReleaseTime, ReleaseTimes
from deepbench_ops.asv_adapter import ensemble_filing
from deepbench_ops.asv_adapter.ensemble_filing import Filed, Places
from deepbench_ops.asv_adapter.filing_target import FilingTarget
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import atomic_write, ensemble_round_files

UNSUPPORTED = "Unsupported: "
"""Prefix of the reasons for which a release has no such kernel.

Others are accidents, or limits of memory and time (`errors.BeyondLimits`), and may not hold again.
"""


@dataclass
class Filing:
    """Filing of one history, and the kernels that it has filed so far.

    releases: the release table, by name. kernels: those with filed results.
    """

    store: RoundStore
    target: FilingTarget
    releases: Mapping[str, Release]
    kernels: set[KernelIdentity] = field(default_factory=set)

    def file(self) -> None:
        """File the journal's rounds of these conditions, with the results of their kernels.

        Raises DeepbenchError where the files cannot be read or written; the journal keeps all
        rounds then.
        """
        tasks = self.store.unfiled()
        if not tasks:
            return
        points = self.points(tasks)
        try:
            with ensemble_filing.only_writer(self.target), atomic_write.together() as ready:
                self.store.file(ready)
                ensemble_filing.file(self.target, points, ready, places_of(self.store.filed))
            self.store.forget()
        except (OSError, DeepbenchError) as error:
            raise DeepbenchError(
                f"the rounds are not filed ({_reason(error)}); {self.store.path} keeps them: mend"
                " that, and the same command files them"
            ) from None
        self.kernels |= {point.task for point in points if not point.skipped}

    def points(self, tasks: Iterable[KernelIdentity]) -> list[Filed]:
        """Return the points that the rounds of kernels give."""
        return [point for task in tasks for point in self._points(task)]

    def _points(self, task: KernelIdentity) -> Iterator[Filed]:
        """Yield the points of a kernel that its rounds are enough for, and its skips."""
        rounds = self.store.of(task)
        found = ensemble_values.release_times(rounds)
        if found is not None:
            for name, value in found.of.items():
                if name in self.releases:
                    yield self._point(task, self.releases[name], found, value)
        measured = {name for each in rounds for name in each.names}
        for name, reason in _reasons(rounds).items():
            if name in self.releases.keys() - measured and reason.startswith(UNSUPPORTED):
                text = reason.removeprefix(UNSUPPORTED)
                started = rounds[0].started_at
                yield Filed(task, self.releases[name], started, skipped=text)

    def _point(
        self, task: KernelIdentity, release: Release, found: ReleaseTimes, value: ReleaseTime
    ) -> Filed:
        own = [each for each in found.rounds if release.name in each.names]
        last = own[-1]
        names = [each.implementations.get(release.name, "") for each in own]
        latencies = [reading for each in own for reading in each.latencies]
        return Filed(
            task,
            release,
            found.rounds[0].started_at,
            value.seconds,
            value.low,
            value.high,
            value.samples,
            last.calls.get(release.name, 1),
            last.facts.get(release.name, last.conditions),
            last.notes.get(release.name, {}) | _calibration(found),
            next(filter(None, reversed(names)), ""),
            (min(latencies), max(latencies)) if latencies else (),
            self._origin(found, value),
        )

    def _origin(self, found: ReleaseTimes, value: ReleaseTime) -> dict[str, object]:
        """Return the origin of a point for its record: file, anchor, rounds, ratio and states."""
        assert self.store.filed is not None
        return {
            "file": self.store.filed.name,
            "anchor": found.anchor,
            "rounds": len(value.samples),
            "ratio": _rounded(value.ratio),
            "low": _rounded(value.ratio_low),
            "high": _rounded(value.ratio_high),
            "seconds": _rounded(value.seconds),
            "interval": [_rounded(value.low), _rounded(value.high)],
            "anchor_seconds": [_rounded(each) for each in (found.seconds, found.low, found.high)],
            "calibrated": found.calibrated,
            "states": [found.state] if found.state else [],
        }


def places_of(path: Path | None) -> Places:
    """Return the places that the results of a file of rounds take.

    Rounds over several frameworks rank these, and fill in only missing results: the lines of each
    framework keep the times of its own history.
    """
    assert path is not None
    several = ensemble_round_files.name_of(path) == ensemble_round_files.SEVERAL
    return Places.MISSING_OR_OWN if several else Places.ALL


def _calibration(found: ReleaseTimes) -> dict[str, str]:
    """Return the newest remark on the calibration of the rounds, as a note."""
    remarks = [each.calibration for each in found.rounds if each.calibration]
    raw = [text for text in remarks if text.startswith("raw")]
    if not found.calibrated and raw:
        return {"calibration": raw[-1]}
    kept = [text for text in remarks if not text.startswith("raw")]
    return {"calibration": kept[-1]} if found.calibrated and kept else {}


def _reasons(rounds: Collection[Round]) -> dict[str, str]:
    return {name: text for each in rounds for name, text in each.reasons.items()}


def _rounded(value: float) -> float:
    return float(f"{value:.5g}") if math.isfinite(value) else value


def _reason(error: Exception) -> str:
    """Return an error as a part of a line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
