"""Count the changes that verdicts find, miss and wrongly report, with ruined rounds.

Simulated rounds of two releases, thousands of trials in each row, fixed seed. A round's level
scatters by the noise between rounds; in 20 pairs, seconds of either release scatter by 1 % about
it. Some rounds are ruined: a neighbour makes one side 1.2 to 3 times as slow (uniform logarithm),
either side or always the later release. The last column says which targets a row misses: coverage
and false alarms of all rows; the power and the error of the ratio where one round in ten is ruined.

    nice python bench/interval_coverage_simulation.py [--trials 10000] [--write FILE]

Prints tables in Markdown, or writes them into the marked part of a file.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

import numpy as np
from detection_simulation import markdown, put

from deepbench_ops.analysis.verdict import (
    NEGLIGIBLE,
    SMALLEST,
    Verdict,
    compare_pairs,
    compare_samples,
)
from deepbench_ops.statistics.ruined_rounds import Location, locate
from deepbench_ops.statistics.spread import scaled_mad
from deepbench_ops.statistics.stopping_rule import looks

ERROR = 0.01
PAIRS, WITHIN = 20, 0.01

UNBOUNDED = math.log(2)
"""An interval that reaches beyond twice or half its ratio counts as one without bound."""

CHECKED = 10
"""Trials of each row in which `compare_pairs` or `compare_samples` must give the same answer."""

Row = dict[str, str]


@dataclass(frozen=True)
class Target:
    """A figure in percent that a row must reach at least, or may reach at most."""

    column: str
    least: float = 0.0
    most: float = 100.0

    def missed(self, row: Row) -> bool:
        return row[self.column] != NONE and not self.least <= float(row[self.column]) <= self.most


NONE = "-"
"""A figure of no trials."""

FALSE_ALARMS = Target("false alarms", most=1.0)
FOUND_AT_LEAST = {10: 85.0, 20: 97.0}
"""Percentage of changes of 2 % that so many rounds of pairs must find, one in ten ruined."""


@dataclass(frozen=True)
class Rounds:
    """A kind of rounds.

    The fields are the noise between rounds, the share of ruined rounds, their direction, and the
    range of their factors.
    """

    noise: float = 0.01
    heavy: bool = False
    ruined: float = 0.0
    upward: bool = False
    factors: tuple[float, float] = (1.2, 3.0)

    def levels(self, random: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
        """Return levels as logarithms, of shape (trials, rounds); the true value is 0."""
        shape = (trials, rounds)
        noise = random.standard_t(3, shape) if self.heavy else random.normal(0, 1, shape)
        size = random.uniform(*np.log(self.factors), shape)
        sign = 1 if self.upward else random.choice([-1, 1], shape)
        return self.noise * noise + sign * size * (random.random(shape) < self.ruined)

    def row(self) -> Row:
        ruined = f"{self.ruined:.0%}"
        if self.ruined:
            ruined += ", upward" if self.upward else ", either way"
        if self.factors != (1.2, 3.0):
            ruined += f", by {self.factors[0]:g} to {self.factors[1]:g}"
        noise = f"{self.noise:.1%}" + (", Student 3" if self.heavy else "")
        return {"noise": noise, "ruined": ruined}


RUINED = [
    Rounds(ruined=ruined, upward=upward)
    for ruined in (0.0, 0.1, 0.2, 0.3)
    for upward in ((False, True) if ruined else (False,))
]
OTHERS = [
    Rounds(noise, heavy, ruined, ruined > 0)
    for noise, heavy in ((0.003, False), (0.03, False), (0.01, True))
    for ruined in (0.0, 0.3)
]
MILD = [Rounds(ruined=ruined, upward=True, factors=(1.02, 1.2)) for ruined in (0.1, 0.3)]
NOISY = Rounds(0.1, ruined=0.3, upward=True)


@dataclass(frozen=True)
class Found:
    """Locations of many trials, with their medians, whose computation takes most of the time."""

    location: Location
    median: np.ndarray

    def claims(self, change: float, share: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Return which trials are called slower and which faster if all seconds change by
        `change`."""
        shift = math.log1p(change)
        ratio = np.exp(self.median + shift)
        certain = self.location.probability(-shift) < ERROR * share
        return certain & (ratio >= 1 + SMALLEST), certain & (ratio <= 1 - SMALLEST)

    def bounded(self) -> np.ndarray:
        """Return whose interval ends within twice and half its ratio."""
        ends = (self.median - UNBOUNDED, self.median + UNBOUNDED)
        below, above = (self.location.probability(end) < ERROR for end in ends)
        return below & above

    def negligible(self, change: float, share: float) -> np.ndarray:
        """Return the trials whose interval lies within NEGLIGIBLE of no change."""
        inside = np.ones(self.median.shape, bool)
        for end in (-math.log1p(NEGLIGIBLE), math.log1p(NEGLIGIBLE)):
            level = end - math.log1p(change)
            outside = self.location.probability(level) < ERROR * share
            inside &= outside & ((self.median > level) == (end < 0))
        return inside


def part(location: Location, which: slice) -> Location:
    """Return the locations of some of the trials."""
    return Location(*(getattr(location, field.name)[which] for field in fields(Location)))


def found_in(samples: np.ndarray) -> Found:
    """Return the location of rounds of logarithms: trial, round, sample."""
    location = located(samples)
    return Found(location, location.median)


def located(samples: np.ndarray) -> Location:
    medians = np.median(samples, axis=-1)
    return locate(medians, math.pi / 2 * scaled_mad(samples) ** 2 / samples.shape[-1])


def paired(random: np.random.Generator, trials: int, count: int, kind: Rounds) -> np.ndarray:
    """Return logarithms of after / before, with axes trial, round, pair."""
    levels = kind.levels(random, trials, count)[..., None]
    return np.asarray(levels + random.normal(0, WITHIN * math.sqrt(2), (trials, count, PAIRS)))


def apart(random: np.random.Generator, trials: int, count: int, kind: Rounds) -> np.ndarray:
    """Return logarithms of seconds with one-sided noise in a round; axes trial, round, sample."""
    levels = kind.levels(random, trials, count)[..., None]
    return np.asarray(levels + abs(random.normal(0, 0.005, (trials, count, 10))))


def figures(found: Found, changes: Sequence[float]) -> Row:
    """Return the figures of a row without a true change."""
    low, high = part(found.location, slice(1000)).interval(ERROR)
    slower, faster = found.claims(0.0)
    bounded = found.bounded()
    holds = (found.location.probability(0.0) >= ERROR)[bounded]
    return {
        "without bound": f"{100 * np.mean(~bounded):.1f}",
        "others hold the truth": f"{100 * holds.mean():.2f}" if len(holds) else NONE,
        "half-width": f"{np.median(high - low) / 2:.1%}",
        "false alarms": f"{100 * np.mean(slower | faster):.2f}",
        "off by over 2 %": f"{100 * np.mean(abs(found.median) > math.log(1.02)):.1f}",
    } | {f"{change:.0%} found": f"{100 * found.claims(change)[0].mean():.1f}" for change in changes}


def targets(kind: Rounds) -> list[Target]:
    """Return the targets of rounds of any number, in pairs or apart."""
    least = 98.0 if kind.upward and kind.ruined >= 0.3 else 98.5
    return [Target("others hold the truth", least), FALSE_ALARMS]


def targets_of_pairs(count: int, kind: Rounds) -> list[Target]:
    """Return the same and, where one round in ten is ruined, those of the ratio and the power."""
    if count not in FOUND_AT_LEAST or kind not in RUINED or kind.ruined != 0.1:
        return targets(kind)
    found = Target("2% found", FOUND_AT_LEAST[count])
    return [*targets(kind), Target("off by over 2 %", most=2.0), found]


def judged(row: Row, of: Sequence[Target]) -> Row:
    """Return a row with a column of the targets that it misses."""
    missed = [target.column for target in of if target.missed(row)]
    return {**row, "targets": f"missed: {', '.join(missed)}" if missed else "met"}


def pairs_table(trials: int, seed: int) -> Iterator[Row]:
    """Yield a row for each number and kind of paired rounds."""
    wanted = [(count, kind) for count in (10, 20) for kind in (*RUINED, *OTHERS)]
    wanted += [(count, kind) for count in (3, 5) for kind in (RUINED[0], RUINED[1], RUINED[-1])]
    wanted += [(10, kind) for kind in MILD] + [(20, MILD[-1]), (20, NOISY)]
    for count, kind in wanted:
        samples = paired(np.random.default_rng(seed), trials, count, kind)
        found = found_in(samples)
        for trial in range(CHECKED):
            rounds = [[(1.0, after) for after in taken] for taken in np.exp(samples[trial])]
            agree(found, trial, compare_pairs(rounds))
        row = {"rounds": str(count), **kind.row(), **figures(found, (0.02, 0.05))}
        yield judged(row, targets_of_pairs(count, kind))


def apart_table(trials: int, seed: int) -> Iterator[Row]:
    """Yield a row for each number and kind of rounds of sides measured separately."""
    wanted = [(10, 10, kind) for kind in RUINED]
    wanted += [(b, a, RUINED[0]) for b, a in ((3, 3), (5, 5), (5, 20), (20, 20))]
    for before, after, kind in wanted:
        random = np.random.default_rng(seed)
        sides = [apart(random, trials, count, kind) for count in (before, after)]
        found = difference(*(located(side) for side in sides))
        for trial in range(CHECKED):
            agree(found, trial, compare_samples(*(np.exp(side[trial]) for side in sides)))
        row = {"rounds": f"{before}, {after}", **kind.row(), **figures(found, (0.02, 0.05))}
        yield judged(row, targets(kind))


def _joined(parts: Sequence[np.ndarray], weights: bool) -> np.ndarray:
    """Return the rows of all parts; windows that a part lacks have weight 0 in it."""
    width = max(part.shape[-1] for part in parts)
    mode: Literal["constant", "edge"] = "constant" if weights else "edge"
    return np.concatenate(
        [np.pad(part, ((0, 0), (0, width - part.shape[-1])), mode=mode) for part in parts]
    )


def difference(before: Location, after: Location) -> Found:
    """Return after minus before, for some trials at a time: all at once would take gigabytes."""
    some = [slice(start, start + 500) for start in range(0, len(before.weights), 500)]
    each = [part(after, which).minus(part(before, which)) for which in some]
    columns = {field.name: [getattr(one, field.name) for one in each] for field in fields(Location)}
    found = Location(**{name: _joined(parts, name == "weights") for name, parts in columns.items()})
    return Found(found, found.median)


def looks_table(trials: int, seed: int, most: int = 20) -> Iterator[Row]:
    """Yield a row for each kind of rounds and change, with rounds added until a verdict exists."""
    for kind in (RUINED[0], RUINED[1], RUINED[-1], OTHERS[2], OTHERS[4]):
        samples = paired(np.random.default_rng(seed), trials, most, kind)
        planned = looks(most)
        seen = [(look, found_in(samples[:, : look.rounds])) for look in planned]
        for change in (0.0, 0.01, 0.02, 0.05):
            open_, rounds = np.ones(trials, bool), np.zeros(trials)
            counts = {"slower": 0, "faster": 0, "within 2 %": 0}
            for look, found in seen:
                rounds[open_] = look.rounds
                slower, faster = found.claims(change, look.share)
                nothing = found.negligible(change, look.share) & ~slower & ~faster
                for name, which in zip(counts, (slower, faster, nothing), strict=True):
                    counts[name] += int((open_ & which).sum())
                open_ &= ~(slower | faster | nothing)
            alarms = f"{100 * (counts['slower'] + counts['faster']) / trials:.2f}"
            row = (
                {**kind.row(), "change": f"{change:.0%}"}
                | {name: f"{100 * number / trials:.2f}" for name, number in counts.items()}
                | {"open": f"{100 * open_.mean():.2f}", "rounds": f"{rounds.mean():.1f}"}
                | {"false alarms": NONE if change else alarms}
            )
            yield judged(row, [FALSE_ALARMS])


def agree(found: Found, trial: int, verdict: Verdict) -> None:
    """Raise AssertionError if a verdict differs from that of the simulation."""
    low, high = (
        bound[0] for bound in part(found.location, slice(trial, trial + 1)).interval(ERROR)
    )
    logs = np.log([verdict.low, verdict.ratio, verdict.high])
    np.testing.assert_allclose(logs, [low, found.median[trial], high], rtol=1e-4, atol=1e-6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=10000, help="in each row")
    parser.add_argument("--seed", type=int, default=20161225, help="of every row")
    parser.add_argument("--write", type=Path, help="put the tables into this file")
    arguments = parser.parse_args()
    tables = []
    for title, table in (
        ("Pairs", pairs_table),
        ("Sides measured apart", apart_table),
        ("Looked at after 5, 10, 15 and 20 rounds of pairs, until they answer", looks_table),
    ):
        rows = list(table(arguments.trials, arguments.seed))
        tables.append(f"{title}, {arguments.trials} trials a row:\n\n{markdown(rows)}")
        if arguments.write is None:
            print(tables[-1], end="\n\n", flush=True)
    if arguments.write is not None:
        put("\n\n".join(tables), arguments.write, "verdicts", "interval_coverage_simulation.py")


if __name__ == "__main__":
    main()
