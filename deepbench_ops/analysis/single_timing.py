"""Timing of one problem outside of any run, from the records of its processes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from statistics import median
from typing import Any

from deepbench_ops.analysis import roofline
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.roofline import bytes_moved, roof
from deepbench_ops.machine import steadiness
from deepbench_ops.machine.impossible_times import Roofs
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure import library_variables
from deepbench_ops.measure.fingerprint import SETTINGS
from deepbench_ops.measure.nominal_readings import RAW
from deepbench_ops.problems.problem import Problem
from deepbench_ops.releases.release_table import Release
from deepbench_ops.run_conditions import CACHE, EXECUTION, LAYOUT, Condition
from deepbench_ops.statistics.median_interval import log_interval
from deepbench_ops.storage import measurement_files
from deepbench_ops.storage.measurement_files import Record

TIMED = (CACHE, LAYOUT, EXECUTION)
"""Run conditions of a timing, but for the device."""


@dataclass(frozen=True)
class SingleTiming:
    """The seconds of a problem on this machine, from the records of several processes.

    records: as `measure.kernel_process` returns them, one a process. profile: this
    machine's, where known. conditions: run conditions other than the device, by name; those that
    are left out are the usual ones.
    """

    problem: Problem
    operation: str
    precision: str
    device: str
    records: Sequence[Record]
    profile: Profile | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)

    @property
    def samples(self) -> list[float]:
        """Seconds per call of every slice of every process."""
        return [seconds for record in self.records for seconds in record["samples"]]

    @property
    def point(self) -> Point:
        """The timing as a point, for figures that are derived from points."""
        facts = self.records[-1]["fingerprint"]
        framework, _, version = facts["framework"].partition(" ")
        low, high = log_interval(self.samples) or (None, None)
        return Point(
            machine=self.profile.machine if self.profile else "",
            release=Release(framework, version, date.today()),
            family=self.problem.family,
            set="",
            operation=self.operation,
            problem_id=self.problem.id,
            precision=self.precision,
            ranks=None,
            device=self.device,
            cache=self._condition(CACHE),
            layout=self._condition(LAYOUT),
            execution=self._condition(EXECUTION),
            seconds=median(self.samples),
            low=low,
            high=high,
            samples=len(self.samples),
            settings=library_variables.parse(facts[SETTINGS]),
        )

    def _condition(self, one: Condition) -> str:
        return self.conditions.get(one.name, one.usual)

    @property
    def apart(self) -> float:
        """Spread of its processes: the largest median over the smallest, less 1."""
        levels = [measurement_files.level(dict(record)) for record in self.records]
        return max(levels) / min(levels) - 1

    @property
    def calibrated(self) -> bool:
        """Whether its seconds are calibrated by the yardstick and this machine's nominal
        reading."""
        return all(record["yardstick"] and record["nominal"] for record in self.records)

    @property
    def why_raw(self) -> str:
        """Reasons of its processes why their seconds are not calibrated; "" where none has one."""
        raw = [record for record in self.records if not record["nominal"]]
        remarks = [str(record["notes"].get("calibration", "")) for record in raw]
        reasons = dict.fromkeys(remark.removeprefix(RAW) for remark in remarks if remark)
        return "; ".join(reasons)

    @property
    def disturbed(self) -> int:
        """Slices among the samples that were taken while other work took processor time."""
        return sum(record["disturbed"] for record in self.records)

    @property
    def unsteady(self) -> str:
        """Why it is not to be trusted, in a few words; "" where it is steady."""
        key = f"{self.problem.family}..kernel_{self.operation}", (self.problem.id, self.precision)
        roofs = Roofs.of(self.profile, self.device)
        return steadiness.reason(self.records, key, median(self.samples), roofs)

    @property
    def peak(self) -> Figure | None:
        """The machine's peak FLOP/s at that precision, None where it is not known."""
        return roofline.peak(self.profile, self.point)

    @property
    def roof(self) -> float | None:
        """Highest FLOP/s that peak and memory allow it, None where it is not known."""
        return roof(self.profile, self.point)

    def as_data(self) -> dict[str, Any]:
        """Return every figure by name, in seconds, FLOP/s and bytes/s."""
        point, record = self.point, self.records[-1]
        traffic, highest = bytes_moved(point), self.roof
        low, high = point.interval or (None, None)
        peak = self.peak
        return {
            "family": point.family,
            "problem": point.problem_id,
            "operation": point.operation,
            "precision": point.precision,
            "framework": record["fingerprint"]["framework"],
            "device": point.device,
            **{each.name: getattr(point, each.name) for each in TIMED},
            "threads": int(record["fingerprint"]["threads"]),
            "seconds": point.seconds,
            "low": low,
            "high": high,
            "without_interval": point.without_interval,
            "processes": len(self.records),
            "processes_apart": self.apart,
            "samples": self.samples,
            "calibrated": self.calibrated,
            "why_raw": self.why_raw,
            "disturbed": self.disturbed,
            "unsteady": self.unsteady,
            "flops_per_second": point.flops / point.seconds if point.flops else None,
            "bytes_per_second": traffic / point.seconds if traffic else None,
            "peak": peak.value if peak else None,
            "of_peak": point.rate / peak.value if peak and peak.value and point.flops else None,
            "of_roof": point.rate / highest if highest else None,
            "notes": dict(record["notes"]),
            "settings": library_variables.text(point.settings or ()),
        }
