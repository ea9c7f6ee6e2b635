"""Compare two limits of a machine's states on the rounds of histories in results/.

A reading of the latency between two cores belongs to a level within the root of `LEVEL_RATIO`, or,
further away, where the readings of the machine lie dense (`measure.machine_states`). The table
has, for each machine and history, the rounds that count and the median half-width of the ratios of
releases, by the narrow limit alone and by both limits. The last column compares the sweeps that
only the second limit adds with the others of their round: the difference in seconds, as the median
over releases and then over rounds, and in brackets the number of rounds. Nothing is measured.

Usage:
    python bench/state_reach.py [--results results]
"""

import argparse
import copy
import math
import statistics
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from unittest import mock

import numpy as np
from tabulate import tabulate

from deepbench_ops.analysis import ensemble_values
from deepbench_ops.machine import machine_profile
from deepbench_ops.measure import ensemble_round_json, machine_states, preferred_state
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.ensemble_sweeps import FEWEST_SWEEPS
from deepbench_ops.storage import ensemble_round_files

History = Sequence[Sequence[Round]]
"""The rounds of each kernel of a history."""


def derived(histories: Sequence[History], known: Iterable[float], dense: float) -> list[History]:
    """Return copies of the rounds with the states that a limit gives them."""
    found = copy.deepcopy(list(histories))
    with mock.patch.object(machine_states, "DENSE", dense):
        preferred_state.derive([*chain.from_iterable(chain.from_iterable(found))], known)
    return found


def summary(history: History) -> tuple[int, float]:
    """Return how many rounds count, and the median half-width of the ratios to the anchor."""
    count = sum(len(preferred_state.select(rounds).rounds) for rounds in history)
    times = filter(None, map(ensemble_values.release_times, history))
    widths = [
        math.sqrt(each.ratio_high / each.ratio_low) - 1
        for one in times
        for name, each in one.of.items()
        if name != one.anchor
    ]
    return count, statistics.median(widths) if widths else math.nan


def added_difference(narrow: History, wide: History) -> tuple[int, float]:
    """Return how many rounds have sweeps in both, and by how much the seconds of those added
    differ."""
    pairs = zip(chain.from_iterable(narrow), chain.from_iterable(wide), strict=True)
    found = [each for one, other in pairs if (each := _difference(one, other)) is not None]
    return len(found), math.expm1(statistics.median(found)) if found else math.nan


def _difference(narrow: Round, wide: Round) -> float | None:
    if narrow.state not in narrow.by_state or wide.state not in wide.by_state:
        return None
    inside = {id_of(sweep) for sweep in narrow.by_state[narrow.state].sweeps}
    sweeps = wide.by_state[wide.state].sweeps
    first = [sweep for sweep in sweeps if id_of(sweep) in inside]
    added = [sweep for sweep in sweeps if id_of(sweep) not in inside]
    if min(len(first), len(added)) < FEWEST_SWEEPS:
        return None
    return float(
        np.median(
            [
                np.log(_middle(added, name) / _middle(first, name))
                for name in wide.names
                if all(any(name in sweep for sweep in each) for each in (first, added))
            ]
        )
    )


def id_of(sweep: dict[str, float]) -> tuple[tuple[str, float], ...]:
    """Return a sweep as a key: no two of a round have all seconds alike."""
    return tuple(sweep.items())


def _middle(sweeps: Sequence[dict[str, float]], name: str) -> float:
    return statistics.median(sweep[name] for sweep in sweeps if name in sweep)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    results = parser.parse_args().results
    rows = []
    for folder in sorted(each for each in results.iterdir() if each.is_dir()):
        paths = sorted(ensemble_round_files.paths(folder))
        histories = [list(ensemble_round_json.load(path).values()) for path in paths]
        if not histories:
            continue
        profile = machine_profile.read(results, folder.name)
        known = profile.latencies if profile else ()
        narrow, wide = (
            derived(histories, known, each) for each in (math.inf, machine_states.DENSE)
        )
        for path, one, other in zip(paths, narrow, wide, strict=True):
            (few, before), (more, after) = summary(one), summary(other)
            both, difference = added_difference(one, other)
            rows.append(
                [
                    folder.name,
                    path.name.split(".")[0],
                    sum(map(len, one)),
                    few,
                    more,
                    f"{before:.1%}",
                    f"{after:.1%}",
                    f"{difference:+.1%} ({both})" if both else "",
                ]
            )
    heads = ["machine", "history", "rounds", "counted: narrow", "counted: both"]
    heads += ["half-width: narrow", "half-width: both", "seconds of sweeps added"]
    print(tabulate(rows, headers=heads, disable_numparse=True))


if __name__ == "__main__":
    main()
