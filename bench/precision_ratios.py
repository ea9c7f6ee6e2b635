#!/usr/bin/env python3
"""Print how many times faster one precision is than another on a machine, by family and pass.

    python bench/precision_ratios.py epyc-9004-2core torch-2.13.0 --set modern
    python bench/precision_ratios.py epyc-9004-2core torch-2.13.0 --family attention_decode

Ratios are float32 over bfloat16 unless --precisions names others, and geometric means over the
problems that have a steady time at both, without collective operations. With --family each problem
is printed, with both times and the library code that computed.
"""

import argparse
from collections import defaultdict
from statistics import geometric_mean

from tabulate import tabulate

from deepbench_ops import project
from deepbench_ops.analysis import point_reading
from deepbench_ops.analysis.points import Point
from deepbench_ops.releases import release_table

Pair = tuple[Point, Point]
"""The times of one kernel at both precisions."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machine")
    parser.add_argument("release")
    parser.add_argument("--set", default="modern")
    parser.add_argument("--family", help="print its problems one by one")
    parser.add_argument("--precisions", nargs=2, default=["float32", "bfloat16"])
    options = parser.parse_args()
    pairs = found(options)
    if options.family:
        print(tabulate(map(problem_row, pairs), ["problem", "pass", *options.precisions, "ratio"]))
        return
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one, other in pairs:
        groups[one.family, one.operation].append(one.seconds / other.seconds)
    rows = [
        (*names, len(ratios), geometric_mean(ratios), min(ratios), max(ratios))
        for names, ratios in sorted(groups.items(), key=lambda item: geometric_mean(item[1]))
    ]
    print(tabulate(rows, ["family", "pass", "problems", "ratio", "least", "most"], floatfmt=".3g"))


def found(options: argparse.Namespace) -> list[Pair]:
    """Return the kernels that have steady times at both precisions."""
    known = {release.hash: release for release in release_table.load()}
    results = project.results()
    times = {
        (point.family, point.operation, point.problem_id, point.precision): point
        for point in point_reading.load(
            results, options.machine, known, rounds=bool(options.family)
        )
        if point.release.name == options.release
        and point.set == options.set
        and point.family == (options.family or point.family)
        and point.usual
        and not point.unsteady
        and point.ranks is None
    }
    first, second = options.precisions
    return [
        (point, times[*kernel, second])
        for (*kernel, precision), point in times.items()
        if precision == first and (*kernel, second) in times
    ]


def problem_row(pair: Pair) -> list[str]:
    """Return the row of a kernel: both times, each with its library code."""
    one, other = pair
    times = [f"{each.seconds * 1e3:.3g} ms {each.implementation}" for each in pair]
    return [one.problem_id, one.operation, *times, f"{one.seconds / other.seconds:.3g}"]


if __name__ == "__main__":
    main()
