"""Print how much of the difference between processes the state of the machine explains.

    python bench/state_and_process_levels.py results

Each round of a history has a fresh process of each release. For every machine, kernel and release
with rounds the standard deviation between processes, in percent, of the median seconds of a round
and of the ratio to the anchor: of all rounds, whatever the state, and of the rounds and parts of
rounds in one state of the machine, the most frequent one. Where the state explains the difference
between processes, the second figure is smaller. The last column is the ratio of seconds far / near,
where a round has both. Medians over kernels and releases, whose number stands in brackets, with the
range of the last. Nothing is measured.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from tabulate import tabulate

from deepbench_ops.analysis import shared_rounds
from deepbench_ops.measure import machine_states, preferred_state
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.statistics.spread import scaled_mad
from deepbench_ops.storage import ensemble_round_files

FEWEST_ROUNDS = 5
Row = dict[str, object]
Figures = dict[str, list[float]]
"""Values of all kernels and releases, by the title of their column."""

SECONDS, RATIO = "seconds, all", "ratio, all"
SECONDS_IN_STATE, RATIO_IN_STATE = "seconds, one state", "ratio, one state"
FAR_TO_NEAR = "far / near"


def level(part: Round, release: str) -> float:
    """Return the logarithm of a release's median seconds in a round; NaN for none."""
    found = [sweep[release] for sweep in part.sweeps if release in sweep]
    return math.log(np.median(found)) if found else math.nan


def spread(levels: Iterable[float]) -> float:
    """Return the standard deviation between rounds in percent, by the absolute deviation."""
    return 100 * float(scaled_mad([each for each in levels if math.isfinite(each)]))


def figures(rounds: Sequence[Round], release: str, anchor: str) -> Iterator[tuple[str, float]]:
    """Yield the figures of a kernel on a release, with the titles of their columns."""
    parts = [preferred_state.parts(each) for each in rounds]
    state = preferred_state.most_common(name for each in parts for name in each)
    inside = [mine[state] for mine in parts if state in mine]
    inside = [each for each in inside if math.isfinite(level(each, release))]
    if len(inside) >= FEWEST_ROUNDS:
        for some, title in ((rounds, SECONDS), (inside, SECONDS_IN_STATE)):
            yield title, spread(level(each, release) for each in some)
        for some, title in ((rounds, RATIO), (inside, RATIO_IN_STATE)):
            yield title, spread(each.difference(anchor, release)[0] for each in some)
    changed = [each for each in parts if {machine_states.NEAR, machine_states.FAR} <= each.keys()]
    steps = [
        level(each[machine_states.FAR], release) - level(each[machine_states.NEAR], release)
        for each in changed
    ]
    if steps:
        yield FAR_TO_NEAR, math.exp(float(np.median(steps)))


def row(machine: str, framework: str, found: Figures) -> Row:
    """Return the row of a framework on a machine."""
    row: Row = {"machine": machine, "framework": framework}
    for title in (SECONDS, SECONDS_IN_STATE, RATIO, RATIO_IN_STATE):
        values = found[title]
        row[title] = f"{np.median(values):.1f} ({len(values)})" if values else "-"
    steps = found[FAR_TO_NEAR]
    row[FAR_TO_NEAR] = (
        f"{np.median(steps):.2f} ({min(steps):.2f} to {max(steps):.2f}; {len(steps)})"
        if steps
        else "-"
    )
    return row


def rows(results: Path, machine: str) -> list[Row]:
    """Return the rows of a machine."""
    found: dict[str, Figures] = defaultdict(lambda: defaultdict(list))
    for rounds in shared_rounds.load(results, machine).values():
        anchors = {each.anchor for each in rounds}
        for anchor in anchors:
            mine = [each for each in rounds if each.anchor == anchor]
            names = {name for each in mine for name in each.names} - {anchor}
            for name in sorted(names):
                some = [each for each in mine if {name, anchor} <= set(each.names)]
                for title, value in figures(some, name, anchor):
                    found[name.rpartition("-")[0]][title].append(value)
    return [row(machine, framework, found[framework]) for framework in sorted(found)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    results = parser.parse_args().results
    machines = sorted(each.name for each in results.iterdir() if ensemble_round_files.paths(each))
    table = [row for machine in machines for row in rows(results, machine)]
    print(tabulate(table, headers="keys", tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
