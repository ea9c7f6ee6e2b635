"""Compute from stored results how many slices a process needs.

Points whose two processes took at least six slices each are evaluated as if sampling had ended
earlier. For every number of slices the first table has quantiles, over all points, of the distance
between the two processes' medians of calibrated seconds. Once this distance no longer decreases,
further slices are useless: the difference was determined when the processes started, by their
memory and threads. In the second table sampling ends when the median's interval is narrow enough,
as in measuring.

    python bench/slices_per_process.py [--machine epyc-9005-2core]
"""

import argparse
import math
import sys
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

from tabulate import tabulate

from deepbench_ops.measure.kernel_sampling import relative_half_width
from deepbench_ops.storage import measurement_files

FEWEST = 6
NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30)
TARGETS = (0.01, 0.02, 0.03, 0.05, 0.1)
FEWEST_SLICES, MOST_SLICES = 4, 10
LONG_CALL_SECONDS = 0.03

Entry = dict[str, Any]


def enough(entry: Entry, slices: int = FEWEST) -> bool:
    """Return whether a measurement has at least `slices` slices and a short call."""
    if "skipped" in entry or "quick" in entry or len(entry["seconds"]) < slices:
        return False
    return entry["seconds"][0] < LONG_CALL_SECONDS


def first(entry: Entry, number: int) -> Entry:
    """Return the first `number` slices of a measurement."""
    return {**entry, **{name: entry[name][:number] for name in ("seconds", "yardstick")}}


def within(entry: Entry, target: float) -> Entry:
    """Return a measurement up to the slice at which the median's interval is within `target`."""
    samples = [s / y for s, y in zip(entry["seconds"], entry["yardstick"], strict=True)]
    number = FEWEST_SLICES
    while number < MOST_SLICES and relative_half_width(samples[:number]) > target:
        number += 1
    return first(entry, number)


def spread(entries: list[Entry]) -> list[float]:
    """Return the relative excess of the slowest over the fastest process of each point."""
    levels: dict[tuple[str, ...], list[float]] = {}
    for entry in entries:
        key = (entry["benchmark"], *entry["params"])
        levels.setdefault(key, []).append(measurement_files.level(entry))
    return [max(of) / min(of) - 1 for of in levels.values() if len(of) > 1]


def row(releases: list[list[Entry]]) -> list[object]:
    """Return the number of points, and quantiles of the distance of their processes."""
    spreads = [spread(entries) for entries in releases]
    apart = [100 * math.log1p(share) for shares in spreads for share in shares]
    cuts = quantiles(apart, n=20)
    return [len(apart), *(round(cuts[at], 1) for at in (9, 14, 17))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--machine", default="epyc-9005-2core")
    asked = parser.parse_args()
    releases = [
        measurement_files.load(path)[1]
        for path in measurement_files.paths(asked.results / asked.machine)
    ]
    if not releases:
        sys.exit(f"{asked.results / asked.machine}: no measurements")
    columns = ["points", "half below, %", "3 in 4 below", "9 in 10 below"]
    some = [[entry for entry in entries if enough(entry)] for entries in releases]
    rows = [[number, *row([[first(e, number) for e in es] for es in some])] for number in NUMBERS]
    print(tabulate(rows, ["slices", *columns]))
    many = [
        [entry for entry in entries if enough(entry, MOST_SLICES) and entry["yardstick"]]
        for entries in releases
    ]
    rows = []
    for target in TARGETS:
        ended = [[within(entry, target) for entry in entries] for entries in many]
        slices = fmean(len(entry["seconds"]) for entries in ended for entry in entries)
        rows.append([f"{target:.0%}", round(slices, 1), *row(ended)])
    print(
        f"\n{FEWEST_SLICES} to {MOST_SLICES} slices, until the 95 % interval of their median is"
        " within"
    )
    print(tabulate(rows, ["", "slices", *columns]))


if __name__ == "__main__":
    main()
