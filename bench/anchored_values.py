"""Compare the noise of plain, calibrated and anchored values, from recorded rounds.

Several releases can be measured in interleaved rounds (`asv run --interleave-rounds`). The timeline
could show a release by its calibrated seconds, or by its ratio to one fixed release of the same
round, the anchor, multiplied by the anchor's seconds. For each framework and family the script
prints the spread between rounds of one release: the standard deviation of the logarithm, in
percent, as median over kernels and releases:

- plain: the median of the raw seconds of a round;
- calibrated: divided by the yardstick next to them;
- anchored: the calibrated value, divided by that of the anchor in the same round;
- plain anchored: the plain value, divided by that of the anchor.

Anchored values contain the noise of the anchor as well, as they would on the timeline.

Usage:
    python bench/anchored_values.py MACHINE [--results results] [--anchor onnxruntime-1.31.1]
"""

import argparse
import math
import statistics
from collections import defaultdict
from pathlib import Path

from tabulate import tabulate

from deepbench_ops.releases import release_table
from deepbench_ops.storage import measurement_files

ROUNDS = 3
"""Fewest rounds from which a spread is computed."""

Kernel = tuple[str, str]
Rounds = dict[str, dict[Kernel, list[tuple[float, float]]]]
"""Plain and calibrated seconds of each round, in order, by release and kernel."""


def rounds_of(results: Path, machine: str) -> Rounds:
    """Read the records of all processes."""
    found: Rounds = defaultdict(lambda: defaultdict(list))
    for path in measurement_files.paths(results / machine):
        entries = [e for e in measurement_files.load(path)[1] if not measurement_files.is_less(e)]
        for entry in sorted(entries, key=lambda entry: entry["started_at"]):
            kernel = entry["benchmark"], " ".join(map(str, entry["params"]))
            pair = statistics.median(entry["seconds"]), measurement_files.level(entry)
            found[entry["release"]][kernel].append(pair)
    return found


def spread(logs: list[float]) -> float:
    """Return the standard deviation in percent."""
    return 100 * statistics.stdev(logs)


def spreads(rounds: Rounds, names: list[str], anchor: str) -> dict[str, dict[str, list[float]]]:
    """Return the four spreads of every kernel and release except the anchor, by family."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name in names:
        if name == anchor:
            continue
        for kernel, taken in rounds[name].items():
            anchored = rounds[anchor].get(kernel, [])
            if len(taken) < ROUNDS or len(anchored) != len(taken):
                continue
            own, its = (
                [[math.log(x) for x in pair] for pair in each] for each in (taken, anchored)
            )
            into = found[kernel[0].split(".")[0]]
            into["plain"].append(spread([a[0] for a in own]))
            into["calibrated"].append(spread([a[1] for a in own]))
            into["anchored"].append(spread([a[1] - b[1] for a, b in zip(own, its, strict=True)]))
            into["plain anchored"].append(
                spread([a[0] - b[0] for a, b in zip(own, its, strict=True)])
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("machine")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--anchor", action="append", default=[], help="a release; may be repeated")
    arguments = parser.parse_args()
    rounds = rounds_of(arguments.results, arguments.machine)
    lines = []
    for framework in sorted({name.rsplit("-", 1)[0] for name in rounds}):
        releases = [
            r.name for r in release_table.load() if r.framework == framework and r.name in rounds
        ]
        if len(releases) < ROUNDS:
            continue
        chosen = [name for name in arguments.anchor if name in releases]
        anchor = chosen[0] if chosen else releases[len(releases) // 2]
        for family, of in spreads(rounds, releases, anchor).items():
            cells = [f"{statistics.median(values):.2f}" for values in of.values()]
            lines.append([framework, anchor, family, len(of["plain"]), *cells])
    headers = ["framework", "anchor", "family", "lines", "plain %", "calibrated %", "anchored %"]
    print(tabulate(lines, [*headers, "plain anchored %"], "github"))


if __name__ == "__main__":
    main()
