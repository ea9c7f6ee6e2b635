"""Count the changes that verdicts of histories find, miss and wrongly report.

Simulated rounds of an ensemble, with a fixed seed: eight equally fast releases with 20 sweeps in
each round. Whole sweeps are up to twice as slow as others, processes scatter by 0.7 or 1 % (a ratio
of two by 1 or 1.4 %), slices by 1 %. Some are slowed by factors of 1.2 to 3: processes of single
releases, all processes of a round each by its own factor, or single slices. Seven releases are
compared with the anchor.

    nice python bench/history_verdict_simulation.py [--trials 2000] [--write FILE]

In the second table each trial stops as a history does: at the first round, from the sixth on, after
which all intervals are narrow enough. The rule depends on widths and not on ratios, so the interval
of every round may use the whole error probability. Half-widths of the first table are medians over
the first 250 trials.

Prints tables in Markdown, or writes them into the marked part of a file.
"""

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
from detection_simulation import markdown, put
from interval_coverage_simulation import ERROR, Found, Row, part

from deepbench_ops.analysis import ensemble_verdicts
from deepbench_ops.measure import release_blocks
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.statistics import ruined_rounds, sweep_levels
from deepbench_ops.statistics.common_level import common_levels
from deepbench_ops.statistics.ruined_rounds import FEWEST, Location, locate, tails
from deepbench_ops.statistics.spread import scaled_mad
from deepbench_ops.statistics.stopping_rule import FEWEST_FOR_WIDTH

RELEASES, SWEEPS, SLICE_NOISE = 8, 20, 0.01
NAMES = [f"r{index}" for index in range(RELEASES)]
ANCHOR = RELEASES - 1
MOST_ROUNDS = 40
GOAL = 0.01
"""Half-width at which a history stops; the default of `deepbench history`."""

ROUND_COUNTS = (3, 5, 10, 20, 40)
CHANGES = (0.01, 0.02, 0.05)
TRIALS_AT_A_TIME = 250
"""Trials computed at a time, which limits the memory."""


HALVINGS = 16
"""Steps of the search for a quantile: to a part in 65,000, in half of the time."""

What = Literal["processes", "rounds", "slices"]


@dataclass(frozen=True)
class Kind:
    """A kind of rounds.

    The fields state which times are ruined, how often and in which direction, and the number of
    releases in a block.
    """

    ruined: float = 0.0
    what: What = "processes"
    upward: bool = False
    noise: float = 0.007
    together: int | None = None
    heavy: bool = False

    def row(self) -> Row:
        """Return the first columns of its row."""
        direction = "upward" if self.upward else "either way"
        ruined = f"{self.ruined:.0%} of {self.what}, {direction}" if self.ruined else "none"
        blocks = "all together" if self.together is None else f"blocks of {self.together}"
        noise = f"{self.noise:.1%}" + (", Student 3" if self.heavy else "")
        return {"noise": noise, "ruined": ruined, "releases": blocks}

    def spoilt(self, random: np.random.Generator, shape: tuple[int, ...], wide: bool) -> np.ndarray:
        """Return the additions to logarithms by which times are ruined.

        wide: the entries of the last axis are ruined together, each by its own factor.
        """
        chosen = random.random((*shape[:-1], 1) if wide else shape) < self.ruined
        size = random.uniform(math.log(1.2), math.log(3), shape)
        sign = 1 if self.upward else random.choice([-1, 1], shape)
        return np.asarray(chosen * sign * size)

    def tables(
        self, random: np.random.Generator, trials: int, rounds: int, columns: int
    ) -> np.ndarray:
        """Return logarithms of a block: trial, round, sweep, release. The true value is 0."""
        shape = (trials, rounds, columns)
        scatter = random.standard_t(3, shape) if self.heavy else random.normal(0, 1, shape)
        process = self.noise * scatter
        if self.what != "slices":
            process += self.spoilt(random, shape, self.what == "rounds")
        every = (trials, rounds, SWEEPS, columns)
        machine = random.uniform(0, math.log(2), (*every[:-1], 1))
        found = process[:, :, None, :] + machine + random.normal(0, SLICE_NOISE, every)
        return found + self.spoilt(random, every, False) if self.what == "slices" else found


DIRECTED = [(ruined, upward) for ruined in (0.1, 0.3) for upward in (False, True)]
KINDS = [
    Kind(),
    *(Kind(ruined, "processes", upward) for ruined, upward in DIRECTED),
    *(Kind(ruined, "rounds", upward) for ruined, upward in DIRECTED),
    Kind(0.1, "slices", True),
    Kind(together=5),
    *(Kind(ruined, "processes", True, together=5) for ruined in (0.1, 0.3)),
    *(Kind(ruined, "processes", True, 0.01) for ruined in (0.0, 0.1, 0.3)),
    *(Kind(ruined, "processes", True, 0.003) for ruined in (0.0, 0.1, 0.3)),
    *(Kind(ruined, "processes", True, heavy=True) for ruined in (0.0, 0.1)),
]


def simulated(
    kind: Kind, random: np.random.Generator, trials: int, rounds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return each release's level relative to the anchor, and its variance.

    Both have the axes trial, round, release.
    """
    shape = (trials, rounds, RELEASES - 1)
    levels, variances = np.empty(shape), np.empty(shape)
    for number in range(rounds):
        blocks = release_blocks.blocks(NAMES, NAMES[ANCHOR], kind.together, Random(number))
        for block in blocks:
            columns = [NAMES.index(name) for name in block]  # the anchor first
            table = kind.tables(random, trials, 1, len(block))[:, 0]
            own = sweep_levels.levels(table)
            apart = table[..., 1:] - table[..., :1]
            levels[:, number, columns[1:]] = own[..., 1:] - own[..., :1]
            variances[:, number, columns[1:]] = (
                math.pi / 2 * scaled_mad(np.swapaxes(apart, -1, -2)) ** 2 / SWEEPS
            )
    return levels, variances


def locations(levels: np.ndarray, variances: np.ndarray, count: int) -> Location:
    """Return the locations of the first `count` rounds: trial, release."""
    return locate(*(np.swapaxes(each[:, :count], 1, 2) for each in (levels, variances)))


def located(levels: np.ndarray, variances: np.ndarray, count: int) -> Found:
    """Return the same with their medians."""
    found = locations(levels, variances, count)
    return Found(found, found.median)


@dataclass
class Answers:
    """Results of many verdicts after their last round.

    reach: of the longer half of each interval, as a logarithm; of the first trials alone where
    the number of rounds is fixed. The other lists have every verdict.
    """

    reach: list[np.ndarray] = field(default_factory=list)
    bounded: list[np.ndarray] = field(default_factory=list)
    holds: list[np.ndarray] = field(default_factory=list)
    off: list[np.ndarray] = field(default_factory=list)
    narrow: list[np.ndarray] = field(default_factory=list)
    false: list[np.ndarray] = field(default_factory=list)
    rounds: list[np.ndarray] = field(default_factory=list)
    claims: dict[float, list[np.ndarray]] = field(
        default_factory=lambda: {change: [] for change in CHANGES}
    )

    def add(self, found: Found, which: np.ndarray, rounds: int, with_reach: bool = True) -> None:
        """Add the results of some trials after `rounds` rounds."""
        if not which.any():
            return
        mine = Found(part(found.location, which), found.median[which])  # type: ignore[arg-type]
        if with_reach:
            low, high = mine.location.interval(ERROR)
            self.reach.append(np.maximum(high - mine.median, mine.median - low).ravel())
        bounded = mine.bounded()
        self.bounded.append(bounded.ravel())
        self.holds.append((mine.location.probability(0.0) >= ERROR)[bounded])
        self.off.append((abs(mine.median) > math.log(1.02)).ravel())
        self.narrow.append(narrow_enough(mine).ravel())
        slower, faster = mine.claims(0.0)
        self.false.append((slower | faster).ravel())
        for change in CHANGES:
            self.claims[change].append(mine.claims(change)[0].ravel())
        self.rounds.append(np.full(int(which.sum()), rounds))

    def row(self) -> Row:
        """Return the figures of a row."""
        holds = np.concatenate(self.holds)
        return {
            "without bound": f"{100 * (1 - np.concatenate(self.bounded).mean()):.1f}",
            "others hold the truth": f"{100 * holds.mean():.2f}" if len(holds) else "-",
            "half-width": f"{np.median(np.concatenate(self.reach)):.1%}",
            "false alarms": f"{100 * np.concatenate(self.false).mean():.2f}",
            "off by over 2 %": f"{100 * np.concatenate(self.off).mean():.1f}",
        } | {
            f"{change:.0%} found": f"{100 * np.concatenate(found).mean():.1f}"
            for change, found in self.claims.items()
        }


def history_rows(kind: Kind, trials: int, seed: int) -> tuple[list[Row], Row]:
    """Return the rows of verdicts after fixed numbers of rounds, and that under the stopping rule.

    Both are about rounds of one kind.
    """
    random = np.random.default_rng(seed)
    once = {count: Answers() for count in ROUND_COUNTS}
    stopped = Answers()
    for start in range(0, trials, TRIALS_AT_A_TIME):
        some = min(TRIALS_AT_A_TIME, trials - start)
        levels, variances = simulated(kind, random, some, MOST_ROUNDS)
        for count, answers in once.items():
            answers.add(located(levels, variances, count), np.ones(some, bool), count, not start)
        stop(stopped, levels, variances)
    print(*kind.row().values(), file=sys.stderr, flush=True)
    rounds = np.concatenate(stopped.rounds)
    within = {"within 1 %": f"{100 * np.concatenate(stopped.narrow).mean():.0f}"}
    return (
        [{"rounds": str(count), **kind.row(), **each.row()} for count, each in once.items()],
        {**kind.row(), "rounds": f"{rounds.mean():.1f}", **within, **stopped.row()},
    )


def stop(answers: Answers, levels: np.ndarray, variances: np.ndarray) -> None:
    """Add each trial's results at the round after which all its intervals are narrow enough."""
    still_open = np.arange(len(levels))
    for rounds in range(FEWEST_FOR_WIDTH, MOST_ROUNDS + 1):
        location = locations(levels[still_open], variances[still_open], rounds)
        last = rounds == MOST_ROUNDS
        which = np.ones(len(still_open), bool) if last else ~too_wide(location).any(axis=-1)
        if not which.any():
            continue
        some = part(location, which)  # type: ignore[arg-type]
        found = Found(some, some.median)
        done = last | narrow_enough(found).all(axis=-1)
        answers.add(found, done, rounds)
        which[which] = done
        still_open = still_open[~which]
        if not len(still_open):
            return


def narrow_enough(found: Found) -> np.ndarray:
    """Return whose interval is within the goal, without computing the interval."""
    low, high = tails(ERROR)
    begins = found.location.below(found.median + math.log1p(-GOAL)) <= low
    return np.asarray(begins & (found.location.below(found.median + math.log1p(GOAL)) >= high))


def too_wide(location: Location) -> np.ndarray:
    """Return which intervals are certainly wider than the goal, without their medians.

    An interval that begins below and ends above a span of the goal's width is wider than that.
    """
    span = math.log1p(GOAL) - math.log1p(-GOAL)
    middle = (location.weights * location.centres).sum(axis=-1)
    low, high = tails(ERROR)
    begins_below = location.below(middle - span / 2) > low
    ends_above = location.below(middle + span / 2) < high
    return np.asarray(begins_below & ends_above)


@dataclass(frozen=True)
class Cause:
    """Kernels of one cause, with noise shared by the kernels of a round and noise of each kernel.

    single: single kernels of a round are ruined, instead of a process with all kernels.
    """

    kernels: int
    ruined: float = 0.0
    single: bool = False
    upward: bool = False
    shared: float = 0.005
    own: float = 0.01
    uneven: bool = False

    def row(self) -> Row:
        """Return the first columns of its row."""
        what = "kernels" if self.single else "rounds"
        direction = "upward" if self.upward else "either way"
        return {
            "kernels": str(self.kernels),
            "measured in": "5, 10 or all rounds" if self.uneven else "all rounds",
            "ruined": f"{self.ruined:.0%} of {what}, {direction}" if self.ruined else "none",
        }

    def differences(
        self, random: np.random.Generator, rounds: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return logarithms (round, kernel), and the true logarithm of each kernel.

        The true logarithms scatter by 3 % with mean 0.
        """
        kind, shape = Kind(self.ruined, upward=self.upward), (rounds, self.kernels)
        true = random.normal(0, 0.03, self.kernels)
        true -= true.mean()
        found = true + random.normal(0, self.own, shape)
        found += random.normal(0, self.shared, (rounds, 1))
        found += kind.spoilt(random, shape, wide=not self.single)
        if self.uneven:
            last = random.choice([5, 10, rounds], self.kernels)
            found = np.where(np.arange(rounds)[:, None] < last, found, np.nan)
        return np.asarray(found), true


CAUSES = [
    Cause(kernels, ruined, single, upward)
    for kernels in (3, 30)
    for ruined, single, upward in (
        (0.0, False, False),
        (0.1, False, True),
        (0.3, False, True),
        (0.1, True, True),
        (0.3, True, False),
        (0.3, True, True),
    )
]
UNEVEN = [Cause(30, ruined, True, True, uneven=True) for ruined in (0.0, 0.1, 0.3)]


COUNTED_CAUSES = [(10, c) for c in CAUSES] + [(20, c) for c in (*CAUSES, *UNEVEN)]
"""Number of rounds and kind of each pooled cause."""


def cause_row(counted: tuple[int, Cause], trials: int, seed: int) -> Row:
    """Return the row of a kind of cause, pooled over its kernels."""
    count, cause = counted
    answers, random, nothing = Answers(), np.random.default_rng(seed), 0
    for _ in range(trials):
        differences, true = cause.differences(random, count)
        shared = common_levels(differences)
        if len(shared.levels) < FEWEST:
            nothing += 1
            continue
        off = shared.levels - true[shared.counted].mean()
        found = locate(off[None], shared.variances[None])
        answers.add(Found(found, found.median), np.ones(1, bool), count)
    silent = {"no answer": f"{100 * nothing / trials:.1f}"}
    return {"rounds": str(count), **cause.row(), **silent, **answers.row()}


def judged_twice(kind: Kind, seed: int, rounds: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithms of low, ratio and high of each release, computed twice.

    `analysis.ensemble_verdicts` and this script compute them from the same rounds.
    """
    levels, variances = simulated(kind, np.random.default_rng(seed), 1, rounds)
    random, taken = np.random.default_rng(seed), []
    for number in range(rounds):
        one = Round()
        for block in release_blocks.blocks(NAMES, NAMES[ANCHOR], kind.together, Random(number)):
            table = kind.tables(random, 1, 1, len(block))[0, 0]
            one.sweeps += [dict(zip(block, row, strict=True)) for row in np.exp(table)]
        taken.append(one)
    found = located(levels, variances, rounds)
    low, high = found.location.interval(ERROR)
    theirs, ours = [], []
    for index in range(RELEASES - 1):
        verdict = ensemble_verdicts.compare(taken, NAMES[ANCHOR], NAMES[index])
        theirs.append(np.log([verdict.low, verdict.ratio, verdict.high]))
        ours.append([low[0, index], found.median[0, index], high[0, index]])
    return np.array(theirs), np.array(ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000, help="in each row")
    parser.add_argument("--seed", type=int, default=20161225, help="of every row")
    parser.add_argument("--write", type=Path, help="put the tables into this file")
    arguments = parser.parse_args()
    for kind in KINDS:
        np.testing.assert_allclose(*judged_twice(kind, arguments.seed), rtol=1e-4, atol=1e-6)
    ruined_rounds.HALVINGS = HALVINGS
    settings = {"trials": arguments.trials, "seed": arguments.seed}
    with ProcessPoolExecutor() as pool:
        histories = pool.map(partial(history_rows, **settings), KINDS)
        pooled = list(pool.map(partial(cause_row, **settings), COUNTED_CAUSES))
        once_each, stopped = zip(*histories, strict=True)
    once = list(chain.from_iterable(once_each))
    titles = (
        ("Judged once, after so many rounds", once),
        (f"Stopped where all seven are within 1 %, after {MOST_ROUNDS} rounds at most", stopped),
        ("Pooled over the kernels of a cause", pooled),
    )
    text = "\n\n".join(
        f"{title}, {arguments.trials:,} trials a row:\n\n{markdown(rows)}" for title, rows in titles
    )
    if arguments.write is None:
        print(text)
    else:
        put(text, arguments.write, "ensembles", "history_verdict_simulation.py")


if __name__ == "__main__":
    main()
