"""Compare ways to sum up the sweeps of a round, on rounds that histories have recorded.

    python bench/round_levels.py results/*/ensembles/*.jsonl.gz

A round has a table of seconds: sweeps of releases. From it follows the ratio of each release to the
anchor; the fewer it varies from round to round, the fewer rounds an interval needs. For each way,
file and number of releases (all, or each release with the anchor alone, as a comparison of two
has it) the script prints the standard deviation between rounds in percent: by the median absolute
deviation, its median over the releases of a kernel, its geometric mean over kernels. Nothing is
measured.
"""

import argparse
import gzip
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import orjson
from tabulate import tabulate

from deepbench_ops.statistics import sweep_levels
from deepbench_ops.statistics.spread import scaled_mad

FEWEST_SWEEPS, FEWEST_ROUNDS = 6, 5
Ratios = dict[str, float]
Way = Callable[[np.ndarray], np.ndarray]
"""Function from logarithms of seconds (sweep, release) to one level of each release."""


def faster_half(values: np.ndarray) -> np.ndarray:
    """Return the mean of the faster half of the slices, without the fastest twentieth."""
    first = int(0.05 * len(values))
    return np.sort(values, axis=0)[first : max(first + 1, math.ceil(len(values) / 2))].mean(axis=0)


def quantile(share: float) -> Way:
    """Return the way that takes this quantile of each release's slices."""
    return lambda values: np.quantile(values, share, axis=0)


WAYS: dict[str, Way] = {
    "median polish (used)": sweep_levels.levels,
    "faster half": faster_half,
    "median": quantile(0.5),
    "lower quartile": quantile(0.25),
    "fastest": quantile(0.0),
    "mean": lambda values: values.mean(axis=0),
}


def tables(path: Path) -> Iterator[tuple[str, str, list[str], np.ndarray]]:
    """Yield the kernel, the anchor, the releases and the logarithms of each recorded round."""
    with gzip.open(path) as file:
        for line in file:
            entry = orjson.loads(line)
            if "family" not in entry or entry["anchor"] not in entry["seconds"]:
                continue
            kernel = f"{entry['family']} {entry['operation']} {entry['problem']}"
            names = [name for name, each in entry["seconds"].items() if None not in each]
            values = np.log(np.array([entry["seconds"][name] for name in names], dtype=float)).T
            if entry["anchor"] in names and len(values) >= FEWEST_SWEEPS:
                yield kernel, entry["anchor"], names, values


def ratios(way: Way, anchor: str, names: Sequence[str], values: np.ndarray, two: bool) -> Ratios:
    """Return the logarithm of each release's ratio to the anchor."""
    place = names.index(anchor)
    if not two:
        levels = way(values)
        return {name: levels[i] - levels[place] for i, name in enumerate(names) if i != place}
    found = {}
    for i, name in enumerate(names):
        if i != place:
            level = way(values[:, [place, i]])
            found[name] = level[1] - level[0]
    return found


def spread(rounds: Sequence[Ratios]) -> float:
    """Return the standard deviation between rounds, NaN of too few; the median of the releases."""
    shared = [name for name in rounds[0] if all(name in each for each in rounds)]
    if len(rounds) < FEWEST_ROUNDS or not shared:
        return math.nan
    return float(np.median(scaled_mad([[each[name] for each in rounds] for name in shared])))


def main() -> None:
    """Print a row for each way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    recorded = {path: list(tables(path)) for path in parser.parse_args().files}
    rows = []
    for name, way in WAYS.items():
        row: dict[str, str] = {"level of a release": name}
        for path, rounds in recorded.items():
            for two in (False, True):
                by_kernel = defaultdict(list)
                for kernel, *table in rounds:
                    by_kernel[kernel].append(ratios(way, *table, two))
                found = [each for each in map(spread, by_kernel.values()) if each > 0]
                column = (
                    f"{path.parent.parent.name} {path.name.split('.')[0]}, {len(found)} kernels"
                )
                mean = math.exp(np.mean(np.log(found))) if found else math.nan
                row[column + (", two releases" if two else "")] = f"{100 * mean:.2f}"
        rows.append(row)
    print(tabulate(rows, headers="keys", tablefmt="github"))


if __name__ == "__main__":
    main()
