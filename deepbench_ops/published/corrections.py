"""Which published times a later publication corrected, as opposed to measured again.

A measurement anew changes most times of a benchmark, or comes with other libraries. Where the
specs stay and few times of a benchmark and precision change, or many within days, those were
slips: a line through both would show a change of speed that never was.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from deepbench_ops.published import filing
from deepbench_ops.published.filing import Stack, Values
from deepbench_ops.published.publication import Key
from deepbench_ops.results.loaded import State, state

FEW = 0.5
"""Share of a benchmark's times below which those that changed are corrections."""

SOON = timedelta(days=5)
"""Nobody publishes a second measurement with the same libraries so soon, but mends the first."""


@dataclass(frozen=True)
class Dated:
    """What a machine's publications of a day hold."""

    day: date
    values: Values
    stack: Stack


def corrected(publications: Sequence[Dated]) -> list[set[Key]]:
    """Return, for each publication of a machine in their order, what a later one corrected."""
    found: list[set[Key]] = [set() for _ in publications]
    standing: dict[Key, list[int]] = {}
    for now, one in enumerate(publications):
        before = {key: publications[standing[key][-1]] for key in one.values if key in standing}
        changed = {key for key, old in before.items() if old.values[key] != one.values[key]}
        asked, differing = Counter(map(_group, before)), Counter(map(_group, changed))
        for key in one.values:
            if key in changed:
                few = differing[_group(key)] < FEW * asked[_group(key)]
                soon = one.day - before[key].day <= SOON
                if (few or soon) and _libraries(before[key]) == _libraries(one):
                    for earlier in standing[key]:
                        found[earlier].add(key)
                standing[key] = []
            standing.setdefault(key, []).append(now)
    return found


def of_machine(folder: Path) -> dict[str, set[Key]]:
    """Return what was corrected later, by the name of the result file that holds the slip."""
    paths = folder.glob(f"*-{filing.ENVIRONMENT}.json")
    return _of_files(tuple((path, state(path)) for path in sorted(paths)))


@cache
def _of_files(files: tuple[tuple[Path, State], ...]) -> dict[str, set[Key]]:
    """The same of files, each as it was written last."""
    paths = sorted((path for path, _ in files), key=filing.day_of)
    slips = corrected([Dated(filing.day_of(path), *filing.load(path)) for path in paths])
    return {path.name: keys for path, keys in zip(paths, slips, strict=True)}


def _group(key: Key) -> tuple[str, str]:
    """A benchmark and a precision: what was measured in one go."""
    name, params = key
    return name, params[1]


def _libraries(one: Dated) -> Stack:
    return {name: text for name, text in one.stack.items() if name != "workbook"}
