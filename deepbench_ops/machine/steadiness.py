"""Steadiness of points: which points are unsteady and not to be trusted, and why.

A point is unsteady for one of three reasons, which are tested in this order:

- *correction*: half or more of its slices were taken while the reading of the yardstick was outside
  the range in which kernels scale with it, and the other slices do not confirm the point's time;
- *disagreement*: no majority of its processes agrees, with each other and with the point's time,
  within the random differences between processes of the machine;
- *roof*: its time beats the peak or the bandwidth of the machine (see `machine.impossible_times`).

docs/explanation/measuring.md has the figures for these limits, and bench/steadiness_limits.py
computes them.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from statistics import median

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.impossible_times import Roofs
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.machine.point_records import NOTHING, File
from deepbench_ops.measure import machine_states
from deepbench_ops.statistics.spread import scaled_mad
from deepbench_ops.storage import measurement_files
from deepbench_ops.storage.measurement_files import Record, level
from deepbench_ops.storage.result_key import ResultKey

SCALING = 0.8, 1.25
"""Range of the yardstick's reading, divided by the nominal one, in which kernels scale with it. In
the records of results/ calibrated seconds in this range are the same within 2 % (compute) and 8 %
(memory); outside they are wrong by 7 to 20 %, at most by a factor of two."""

OUTSIDE = 0.5
"""Share of a point's slices outside this range from which on its median may be one of them."""

CONFIRMED = 1.05
"""Factor within which the median of the other slices confirms the point's time."""

LEAST_APART = 1.3
"""Factor below which processes agree on any machine."""

DEVIATIONS = 3.0
"""Number of standard deviations of their differences above which processes disagree."""

FEWEST_POINTS = 20
"""Number of points with several processes that is needed to know a machine's own deviation."""

ROOF = "beyond the roof"
"""The third kind of reason."""


@dataclass(frozen=True)
class SteadinessJudge:
    """Test of the steadiness of a machine's points.

    It has the machine's records, by name of their result file, and its profile.
    """

    files: Mapping[str, File]
    profile: Profile | None = None

    @classmethod
    def of(cls, folder: Path, report: Callable[[str], object] | None = None) -> "SteadinessJudge":
        """Return the test for the machine of a folder in results/.

        With a profile that cannot be read it has no roofs, and `report` gets the reason. Raises
        DeepbenchError for a broken file of records.
        """
        paths = measurement_files.paths(folder)
        known = None
        try:
            known = machine_profile.read(folder.parent, folder.name)
        except DeepbenchError as wrong:
            if report is not None:
                report(str(wrong))
        return cls(
            {measurement_files.result_of(path).name: File.read(path) for path in paths}, known
        )

    def file(self, result: Path) -> File:
        """Return the records of an asv result file; an empty file if it has none."""
        return self.files.get(result.name, NOTHING)

    def reason(self, records: Sequence[Record], key: ResultKey, seconds: float, device: str) -> str:
        """Return why a point of this machine is unsteady; see the function `reason`."""
        if device not in self._roofs:
            self._roofs[device] = Roofs.of(self.profile, device)
        return reason(records, key, seconds, self._roofs[device], self.apart)

    def of_point(self, result: Path, key: ResultKey, seconds: float, device: str) -> str:
        """Return why a point is unsteady, with its records from its asv result file."""
        return self.reason(self.file(result).of(key), key, seconds, device)

    @cached_property
    def apart(self) -> float:
        """Factor by which two processes of a point may differ by chance.

        `largest_factor_by_chance` of all points, or the factor of the profile if that is larger:
        a submission has no unsteady points, so that the others alone would make it smaller.
        """
        found = (records for file in self.files.values() for records in file.records.values())
        own = largest_factor_by_chance([level(entry) for entry in records] for records in found)
        return max(own, self.profile.factor_by_chance) if self.profile else own

    @cached_property
    def levels(self) -> list[float]:
        """Levels of core latency of the machine: those in its profile and further ones in its
        records."""
        known = self.profile.latencies if self.profile else ()
        return machine_states.learned(self._readings, known)

    def state(self, records: Iterable[Record]) -> str:
        """Return the state of the machine during the processes of a point; "" if unknown."""
        return machine_states.together(map(self._state_of_record, records))

    def _state_of_record(self, entry: Record) -> str:
        readings = _latencies(entry)
        if "ensemble" in entry and readings and self.levels:
            # All its rounds are of one level. How far that reaches shows in the rounds alone.
            level = machine_states.nearest(readings[0], self.levels)
            return machine_states.name(level, self.levels)
        if entry.get("yardstick") and not entry.get("nominal"):
            # It stayed raw, perhaps since its state was not known: calibrated times are another.
            return machine_states.state(readings, self.levels)
        return self._state_of(readings)

    @cached_property
    def _state_of(self) -> Callable[[Iterable[float]], str]:
        return machine_states.namer(self.levels, self._readings)

    @cached_property
    def _readings(self) -> list[float]:
        return [
            latency
            for file in self.files.values()
            for records in file.records.values()
            for entry in records
            for latency in _latencies(entry)
        ]

    @cached_property
    def _roofs(self) -> dict[str, Roofs]:
        return {}


def _latencies(entry: Record) -> Sequence[float]:
    """Return the core latencies of a process; of a history's record the middle of its rounds'."""
    readings: Sequence[float] = entry.get("core_latencies", ())
    if "ensemble" in entry and readings:
        return [math.sqrt(min(readings) * max(readings))]
    return readings


def reason(
    records: Sequence[Record],
    key: ResultKey,
    seconds: float,
    roofs: Roofs,
    apart: float = LEAST_APART,
) -> str:
    """Return why a point is unsteady, in a few words; "" if it is steady.

    records: one for each process; without records only the roof is tested. seconds: time of the
    point. apart: factor by which two processes of the machine may differ by chance
    (`SteadinessJudge.apart`).
    """
    beaten = roofs.beaten(key, seconds)
    return (
        _correction(records, seconds)
        or _disagreement(records, seconds, apart)
        or (f"{ROOF}: {beaten}" if beaten else "")
    )


def kind(text: str) -> str:
    """Return the kind of reason in a text: "yardstick off", "processes disagree" or "beyond the
    roof"."""
    return text.partition(":")[0]


def largest_factor_by_chance(levels: Iterable[Sequence[float]]) -> float:
    """Return the factor by which two processes of a point may differ by chance on a machine.

    levels: seconds of every process, by point. The factor is computed from the median difference of
    two processes of a point, on which a few disturbed ones have little effect.
    """
    differences = [math.log(one / other) for several in levels for one, other in pairwise(several)]
    if len(differences) < FEWEST_POINTS:
        return LEAST_APART
    deviation = float(scaled_mad(differences, centre=0))
    return max(LEAST_APART, math.exp(DEVIATIONS * deviation))


def _correction(records: Sequence[Record], seconds: float) -> str:
    low, high = SCALING
    outside: list[float] = []
    inside: list[float] = []
    for entry in records:
        nominal, readings = entry.get("nominal"), entry["yardstick"]
        if not nominal or not readings:
            continue
        for raw, reading in zip(entry["seconds"], readings, strict=False):
            ratio = reading / nominal
            if low <= ratio <= high:
                inside.append(raw / ratio)
            else:
                outside.append(ratio)
    taken = len(inside) + len(outside)
    if not outside or len(outside) < OUTSIDE * taken:
        return ""
    if inside and abs(math.log(median(inside) / seconds)) <= math.log(CONFIRMED):
        return ""
    return (
        f"yardstick off: {median(outside):.3g} times its nominal reading"
        f" in {len(outside)} of {taken} slices"
    )


def _disagreement(records: Sequence[Record], seconds: float, apart: float) -> str:
    if len(records) < 2:
        return ""
    levels = sorted(level(entry) for entry in records)
    majority = len(levels) // 2 + 1
    groups = zip(levels, levels[majority - 1 :], strict=False)
    nearest = min(max(most, seconds) / min(least, seconds) for least, most in groups)
    if nearest <= apart:
        return ""
    apart_by = levels[-1] / levels[0]
    return f"processes disagree: {len(levels)} of them lie {apart_by:.3g} times apart"
