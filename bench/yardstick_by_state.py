"""Print how yardsticks and memory-bound kernels read in the states of a machine, from its rounds.

    python bench/yardstick_by_state.py results epyc-9004-2core

The first table has the yardsticks' readings by kind, day (UTC) and state: the median over rounds,
each with the median of its sweeps, the lowest of them, and the nominal readings that are stored
with them, all in milliseconds. The second has, for frameworks and kinds of yardstick, how much
longer kernels take in the state far than in the state near in raw seconds: the median over kernels
with its range, next to the same ratio of the yardstick. Nothing is measured.
"""

import argparse
import datetime
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tabulate import tabulate

from deepbench_ops.analysis import shared_rounds
from deepbench_ops.measure import preferred_state
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.machine_states import FAR, NEAR

Row = dict[str, object]


class Ratio(NamedTuple):
    """Seconds far / near of a kernel, and of the yardstick in the same rounds."""

    kernel: float
    yardstick: float


def reading(part: Round) -> float:
    """Return the median reading of the yardstick in a round, in seconds; NaN without any."""
    found = [each for each in part.yardstick if math.isfinite(each)]
    return median(found) if found else math.nan


def reading_rows(rounds: Iterable[Sequence[Round]]) -> list[Row]:
    """Return the rows of the readings; kernels that one round measured count each."""
    found: dict[tuple[str, str, str], list[Round]] = defaultdict(list)
    for each in rounds:
        for whole in each:
            day = f"{datetime.datetime.fromtimestamp(whole.started_at, datetime.UTC):%Y-%m-%d}"
            for state, part in preferred_state.parts(whole).items():
                if math.isfinite(reading(part)):
                    found[part.yardstick_kind, state or "not known", day].append(part)
    rows: list[Row] = []
    for (kind, state, day), parts in sorted(found.items()):
        readings = [1e3 * reading(part) for part in parts]
        nominal = {f"{1e3 * part.nominal:.3f}" for part in parts if part.nominal is not None}
        row = {"yardstick": kind, "state": state, "day": day, "rounds": len(parts)}
        row |= {"median, ms": f"{median(readings):.3f}", "lowest, ms": f"{min(readings):.3f}"}
        rows.append(row | {"nominal, ms": ", ".join(sorted(nominal)) or "-"})
    return rows


def ratios(rounds: Sequence[Round]) -> Iterator[tuple[tuple[str, str], Ratio]]:
    """Yield the ratio of each framework and kind of yardstick that has one for a kernel."""
    seconds: Mapping[str, Mapping[str, list[float]]] = {
        state: defaultdict(list) for state in (NEAR, FAR)
    }
    readings: Mapping[str, list[float]] = defaultdict(list)
    kind = ""
    for whole in rounds:
        for state, part in preferred_state.parts(whole).items():
            if state in seconds and math.isfinite(reading(part)):
                kind = part.yardstick_kind
                readings[state].append(reading(part))
                for name in part.names:
                    found = [sweep[name] for sweep in part.sweeps if name in sweep]
                    seconds[state][name].append(median(found))
    of_yardstick = median(readings[FAR]) / median(readings[NEAR]) if len(readings) == 2 else 0.0
    by_framework: dict[str, list[float]] = defaultdict(list)
    for name in seconds[NEAR].keys() & seconds[FAR].keys():
        step = median(seconds[FAR][name]) / median(seconds[NEAR][name])
        by_framework[name.rpartition("-")[0]].append(step)
    for framework, steps in by_framework.items():
        yield (framework, kind), Ratio(median(steps), of_yardstick)


def ratio_rows(rounds: Iterable[Sequence[Round]]) -> list[Row]:
    """Return the rows of the ratios far / near."""
    found: dict[tuple[str, str], list[Ratio]] = defaultdict(list)
    for each in rounds:
        for key, ratio in ratios(each):
            found[key].append(ratio)
    rows: list[Row] = []
    for (framework, kind), both in sorted(found.items()):
        kernels = [ratio.kernel for ratio in both]
        text = f"{median(kernels):.2f} ({min(kernels):.2f} to {max(kernels):.2f})"
        row = {"framework": framework, "yardstick": kind, "kernels": len(both)}
        row |= {"kernels far / near": text}
        of_yardstick = median(ratio.yardstick for ratio in both)
        rows.append(row | {"yardstick far / near": f"{of_yardstick:.2f}"})
    return rows


def main() -> None:
    """Print both tables of a machine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="folder of results")
    parser.add_argument("machine", help="name of a machine with rounds")
    arguments = parser.parse_args()
    rounds = list(shared_rounds.load(arguments.results, arguments.machine).values())
    if not rounds:
        parser.error(f"{arguments.results / arguments.machine} has no rounds: name another machine")
    for rows in (reading_rows(rounds), ratio_rows(rounds)):
        print(tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True), "\n")


if __name__ == "__main__":
    main()
