"""How many slices does a process need? Asked of the results that are there already.

Points whose two processes took at least six slices each are read again as if sampling had ended
earlier: for every number of slices, how far apart the two processes' medians of calibrated seconds
lie, by quantiles over all points. Where that no longer falls, more slices only repeat what a
process's memory and threads decided when it started.

    python bench/slices.py [--machine epyc-9005-2core]
"""

import argparse
import math
import sys
from pathlib import Path
from statistics import quantiles
from typing import Any

from tabulate import tabulate

from deepbench_ops.results import measurements, unsteady

FEWEST = 6
NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30)
LONG_CALL_SECONDS = 0.03


def enough(entry: dict[str, Any]) -> bool:
    """Return whether a measurement has slices to leave out, and a short call."""
    if "skipped" in entry or "quick" in entry or len(entry["seconds"]) < FEWEST:
        return False
    return entry["seconds"][0] < LONG_CALL_SECONDS


def first(entry: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the measurement as it would be had it ended after so many slices."""
    return {**entry, **{name: entry[name][:number] for name in ("seconds", "yardstick")}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--machine", default="epyc-9005-2core")
    asked = parser.parse_args()
    releases = [
        measurements.load(path)[1]
        for path in sorted((asked.results / asked.machine).glob("*" + measurements.SUFFIX))
    ]
    if not releases:
        sys.exit(f"{asked.results / asked.machine}: no measurements")
    rows = []
    for number in NUMBERS:
        apart = [
            100 * math.log1p(share)
            for entries in releases
            for share in unsteady.spread(first(e, number) for e in entries if enough(e)).values()
        ]
        cuts = quantiles(apart, n=20)
        rows.append([number, len(apart), *(round(cuts[at], 1) for at in (9, 14, 17))])
    print(tabulate(rows, ["slices", "points", "half below, %", "3 in 4 below", "9 in 10 below"]))


if __name__ == "__main__":
    main()
