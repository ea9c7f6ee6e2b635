"""Count how often intervals miss the true value when rounds stop at a narrow interval.

    python bench/stopping_by_width.py [--trials 3000] [--write PAGE]

A simulation with a fixed seed. Rounds of two equal releases scatter normally; some are ruined by a
factor of 1.2 to 3 (uniform logarithm). From round `stopping_rule.FEWEST_FOR_WIDTH` on, a trial
ends when the half-width of its 99 % interval is within the goal, or after the last round.
Counted are the trials whose last interval does not contain 1, and those whose level differs from 1
by more than twice the goal. The page is docs/lab-notes/2026-11-24-fixed-width.md.
"""

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tabulate import tabulate

from deepbench_ops.statistics.ruined_rounds import locate
from deepbench_ops.statistics.stopping_rule import FEWEST_FOR_WIDTH
from deepbench_ops.storage import atomic_write

SEED = 20161225
GOAL, MOST_ROUNDS = 0.01, 40
ERROR = 0.01
NOISES = (0.003, 0.005, 0.008, 0.012, 0.02)
RUINED = ((0.0, False), (0.1, False), (0.1, True), (0.3, False), (0.3, True))
MARK = "<!-- fixed width, written by bench/stopping_by_width.py -->"


def levels(
    random: np.random.Generator, trials: int, noise: float, share: float, upward: bool
) -> np.ndarray:
    """Return logarithms of ratios, of shape (trials, MOST_ROUNDS); their true value is 0."""
    shape = trials, MOST_ROUNDS
    factors = random.uniform(math.log(1.2), math.log(3), shape)
    signs = 1 if upward else random.choice([-1, 1], shape)
    return random.normal(0, noise, shape) + (random.random(shape) < share) * factors * signs


def stopped(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each trial whether its last interval misses 0, its level, and its rounds."""
    misses = np.zeros(len(values), dtype=bool)
    middles, rounds = np.zeros(len(values)), np.zeros(len(values))
    still = np.arange(len(values))
    for count in range(FEWEST_FOR_WIDTH, MOST_ROUNDS + 1):
        seen = values[still, :count]
        found = locate(seen, np.zeros_like(seen))
        low, high = found.interval(ERROR)
        ends = (np.expm1((high - low) / 2) <= GOAL) | (count == MOST_ROUNDS)
        ended = still[ends]
        misses[ended] = ((low > 0) | (high < 0))[ends]
        middles[ended], rounds[ended] = found.median[ends], count
        still = still[~ends]
        if not len(still):
            break
    return misses, middles, rounds


def rows(trials: int) -> Iterator[list[str]]:
    """Yield a row of the table for each noise and kind of ruined rounds."""
    for noise in NOISES:
        for share, upward in RUINED:
            random = np.random.default_rng(SEED)
            misses, middles, rounds = stopped(levels(random, trials, noise, share, upward))
            way = "upward" if upward else "either way"
            yield [
                f"{noise:.1%}",
                f"{share:.0%}, {way}" if share else "0%",
                f"{100 * (1 - misses.mean()):.2f}",
                f"{np.median(rounds):.0f}",
                f"{np.quantile(rounds, 0.9):.0f}",
                f"{100 * (abs(middles) > 2 * GOAL).mean():.2f}",
            ]


def main() -> None:
    """Print the table, and write it after the mark of a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=3000)
    parser.add_argument("--write", type=Path, help="a page that contains the mark")
    asked = parser.parse_args()
    table = tabulate(
        rows(asked.trials),
        headers=[
            "noise of a round",
            "ruined",
            "interval holds the truth (%)",
            "rounds, median",
            "rounds, 90 % of trials",
            f"off by over {2 * GOAL:.0%} (%)",
        ],
        tablefmt="github",
        disable_numparse=True,
    )
    print(table)
    if asked.write:
        before, _, _ = asked.write.read_text().partition(MARK)
        title = f"{asked.trials} trials a row, goal {GOAL:.0%}, at most {MOST_ROUNDS} rounds:"
        atomic_write.write_text(asked.write, f"{before}{MARK}\n\n{title}\n\n{table}\n")


if __name__ == "__main__":
    main()
