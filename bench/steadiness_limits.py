"""Compute from results/ the evidence for the limits in `deepbench_ops/machine/steadiness.py`.

Prints, from the raw records of all machines:

1. the deviation of calibrated seconds from those of the point's other processes whose reading is
   0.95 to 1.2 times nominal, by the ratio of a slice's yardstick reading to its nominal value;
2. how often a point differs by more than 15 % from its line, the median of the six nearest
   releases, by the share of its slices outside of the range, by the times of the other slices, and
   by the distance of two processes;
3. for each machine the ratio of two processes that chance allows, and its unsteady points by
   reason;
4. how often points of two processes with only normal noise are called unsteady.

Usage: python bench/steadiness_limits.py [--results results]
"""

import argparse
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import numpy as np
from tabulate import tabulate

from deepbench_ops.analysis import point_reading
from deepbench_ops.machine.impossible_times import Roofs
from deepbench_ops.machine.steadiness import (
    SCALING,
    SteadinessJudge,
    kind,
    largest_factor_by_chance,
    reason,
)
from deepbench_ops.releases import table_location
from deepbench_ops.statistics.spread import scaled_mad
from deepbench_ops.storage.measurement_files import Record, level

READINGS = (0, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.25, 1.3, 1.5, 2, 3, math.inf)
CALM_READINGS = 0.95, 1.2
OFF_LINE = math.log(1.15)
QUIET_LINE = 0.1
"""Largest difference between neighbouring releases of the lines used, as a logarithm."""


@dataclass
class Judged:
    """A point's records, its time, and the logarithm of its ratio to its line, if it has one."""

    records: Sequence[Record]
    seconds: float
    off: float | None = None

    @property
    def slices(self) -> list[tuple[float, float]]:
        """Ratio of the yardstick's reading to nominal, and calibrated seconds, for each slice."""
        return [pair for entry in self.records for pair in slices(entry)]


def slices(entry: Record) -> Iterator[tuple[float, float]]:
    """Yield the ratio of the reading to nominal and the calibrated seconds of each slice."""
    for raw, reading in zip(entry["seconds"], entry["yardstick"], strict=True):
        yield reading / entry["nominal"], raw / reading * entry["nominal"]


def calibrated(entry: Record) -> bool:
    """Return whether a process had a yardstick with a nominal reading."""
    return bool(entry.get("nominal") and entry["yardstick"])


def load(results: Path) -> list[Judged]:
    """Return the calibrated points of all machines, with deviations if their lines are quiet."""
    order = {release.name: place for place, release in enumerate(table_location.load(results))}
    lines: dict[tuple[object, ...], list[tuple[int, Judged]]] = defaultdict(list)
    for machine in point_reading.machines(results):
        for name, file in SteadinessJudge.of(results / machine).files.items():
            for key, records in file.records.items():
                if all(map(calibrated, records)):
                    release = records[0]["release"]
                    one = Judged(records, median(s for e in records for _, s in slices(e)))
                    line = machine, name.partition("-")[2], release.rpartition("-")[0], key
                    lines[line].append((order.get(release, 0), one))
    for found in lines.values():
        line = [one for _, one in sorted(found, key=lambda pair: pair[0])]
        logs = [math.log(one.seconds) for one in line]
        for i, one in enumerate(line):
            near = [logs[j] for j in range(max(0, i - 3), min(len(line), i + 4)) if j != i]
            if len(near) >= 4 and scaled_mad(near) < QUIET_LINE:
                one.off = logs[i] - median(near)
    return [one for found in lines.values() for _, one in found]


def by_reading(found: Sequence[Judged], yardstick: str) -> list[list[object]]:
    """Return a row for each range of readings of one kind of yardstick."""
    offs: dict[int, list[float]] = defaultdict(list)
    for one in found:
        for entry in one.records:
            others = [
                math.log(level(other))
                for other in one.records
                if other is not entry
                and CALM_READINGS[0] <= median(r for r, _ in slices(other)) <= CALM_READINGS[1]
            ]
            if others and entry["yardstick_kind"] == yardstick:
                for ratio, seconds in slices(entry):
                    place = int(np.searchsorted(READINGS, ratio)) - 1
                    offs[place].append(math.log(seconds) - mean(others))
    return [
        [
            f"{READINGS[place]:g} to {READINGS[place + 1]:g}",
            len(logs),
            math.exp(median(logs)),
            float(scaled_mad(logs)),
            np.mean(np.abs(logs) > math.log(1.2)),
        ]
        for place, logs in sorted(offs.items())
    ]


def off_lines(
    found: Sequence[Judged], of: Callable[[Judged], float | None], edges: Sequence[float]
) -> list[list[object]]:
    """Return a row for each range of a figure, with the share of points off their lines."""
    figured = [(of(one), one.off) for one in found if one.off is not None]
    rows: list[list[object]] = []
    for low, high in pairwise(edges):
        offs = [abs(off) for value, off in figured if value is not None and low <= value < high]
        if offs:
            rows.append([f"{low:g} to {high:g}", len(offs), np.mean(np.array(offs) > OFF_LINE)])
    return rows


def outside(one: Judged) -> float:
    """Return the share of a point's slices outside of the range."""
    return float(np.mean([not SCALING[0] <= ratio <= SCALING[1] for ratio, _ in one.slices]))


def unconfirmed(one: Judged) -> float | None:
    """Return the ratio of the slices inside the range to a point with at least half outside."""
    inside = [s for ratio, s in one.slices if SCALING[0] <= ratio <= SCALING[1]]
    if outside(one) < 0.5:
        return None
    return math.exp(abs(math.log(median(inside) / one.seconds))) if inside else math.inf


def apart(one: Judged) -> float | None:
    """Return the ratio of the two processes of a point, if their yardsticks were calm."""
    if len(one.records) != 2 or outside(one) >= 0.5:
        return None
    levels = [level(entry) for entry in one.records]
    return max(levels) / min(levels)


def by_machine(results: Path) -> list[list[object]]:
    """Return a row for each measured machine: its noise, points and unsteady points."""
    releases = {release.hash: release for release in table_location.load(results)}
    rows: list[list[object]] = []
    for machine in point_reading.machines(results):
        every = point_reading.load(results, machine, releases)
        measured = [point for point in every if point.release.measurable]
        if measured:
            kinds = Counter(kind(point.unsteady) for point in measured if point.unsteady)
            reasons = ", ".join(f"{count} {name}" for name, count in kinds.most_common())
            limit = SteadinessJudge.of(results / machine).apart
            rows.append([machine, limit, len(measured), kinds.total(), reasons])
    return rows


def false_alarms() -> list[list[object]]:
    """Return the share of steady points called unsteady, by the noise of their processes."""
    random = np.random.default_rng(0)
    rows: list[list[object]] = []
    key = ("gemm.Training.kernel_forward", ("m1760_n16_k1760_NN", "float32"))
    for noise in (0.03, 0.05, 0.08, 0.15):
        levels = np.exp(random.normal(0, noise, (20000, 2)))
        limit = largest_factor_by_chance(levels)
        judged = [
            reason(
                [{"seconds": [each], "yardstick": []} for each in pair],
                key,
                float(np.mean(pair)),
                Roofs({}),
                limit,
            )
            for pair in levels
        ]
        rows.append([noise, limit, np.mean([bool(each) for each in judged])])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results"))
    results = parser.parse_args().results
    found = load(results)
    tables: list[tuple[str, list[str], list[list[object]]]] = []
    for yardstick in ("compute", "memory"):
        heads = ["reading / nominal", "slices", "off by", "spread", "over 20 % off"]
        tables.append((f"{yardstick} yardstick", heads, by_reading(found, yardstick)))
    share = ["points", "over 15 % off their line"]
    for title, of, edges in (
        ("share of slices outside", outside, (0, 0.001, 0.25, 0.5, 0.75, 1, 2)),
        ("time against the other slices", unconfirmed, (1, 1.02, 1.05, 1.1, 1.15, 1.3, math.inf)),
        ("two processes apart", apart, (1, 1.05, 1.1, 1.2, 1.25, 1.3, 1.4, 1.5, 2, math.inf)),
    ):
        tables.append((title, [title, *share], off_lines(found, of, edges)))
    machines = ["machine", "by chance", "points", "unsteady", "of these"]
    tables.append(("by machine", machines, by_machine(results)))
    tables.append(("steady points", ["noise", "by chance", "called unsteady"], false_alarms()))
    for title, heads, rows in tables:
        print(f"\n{title}\n\n{tabulate(rows, heads, 'github', floatfmt='.3g')}")


if __name__ == "__main__":
    main()
