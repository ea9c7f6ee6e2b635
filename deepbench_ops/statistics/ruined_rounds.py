"""The level that rounds share, when some of them are ruined.

Good rounds are taken to scatter normally about one level, by a noise that is not known; a ruined
round lies anywhere within a factor of three, more widely where the noise is so large. Which rounds
are good is not known, nor how many. In order of size they are neighbours, so every window of three
neighbours or more may hold all good rounds. Each window gives Student's distribution of the level,
and counts by how probable the rounds are if these are the good ones (Bayesian model averaging; flat
in the level, in the logarithm of the noise and in the share of ruined rounds). Without ruined
rounds this is Student's test.

Arrays have one trial in each row of their leading axes, so that a simulation runs the code that
judges results.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

FEWEST = 3
"""Rounds of a window, where there are so many. Two may lie close together by chance, and would then
make any level look certain."""

RUINED_WITHIN = math.log(3)
"""Furthest that a ruined round is expected from the level, in logarithms."""

NOISE_WITHIN = 15.0
"""The same in multiples of the noise, which is added: very noisy rounds are not all ruined."""

FINEST = 1e-3
"""Relative noise of a round that is always allowed for: three may agree by chance, or by a coarse
clock."""

CAUTION = 1.8
"""Factor by which probabilities are raised: the choice of a window takes a little of the coverage.
docs/explanation/detection.md has the rates with it."""

KEPT, LEAST = 32, 1e-7
"""Windows that are kept: the most probable ones, of at least this part of the highest weight. Those
that are as probable as the last of them are kept, too: the mirror image of rounds then gives the
mirror image of the distribution."""

TIED = 1e-6
"""Relative difference below which two weights are the same: rounding alone makes as much."""

STEPS = 60
"""Most steps of the search for a quantile, between those of its parts: by Newton's method, and by
halves where that leads out of the bounds."""

CLOSEST = 1e-9
"""Step of this search, in distances between the first bounds, that ends it."""


@dataclass(frozen=True)
class Location:
    """Distribution of the level: a sum of Student's distributions, in the last axis."""

    weights: np.ndarray
    centres: np.ndarray
    errors: np.ndarray
    freedoms: np.ndarray

    @property
    def median(self) -> np.ndarray:
        """The level that is as probably too high as too low."""
        return self.quantile(0.5)

    def interval(self, error: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds that miss the level with at most this probability."""
        low, high = self.quantile(tails(error))
        return low, high

    def probability(self, level: float | np.ndarray) -> np.ndarray:
        """Return how probable a distance as large from `level` is by noise alone; a level for all
        trials, or one for each.

        It is below `error` where the interval of that error does not hold `level`.
        """
        below = self.below(np.broadcast_to(level, self.weights.shape[:-1]))
        return np.minimum(1.0, 2 * CAUTION * np.minimum(below, 1 - below))

    def below(self, levels: np.ndarray) -> np.ndarray:
        """Return the probability that the level is below each of `levels`."""
        distances = (levels[..., None] - self.centres) / self.errors
        counts = self.weights > 0
        each = stdtr(self.freedoms, distances, where=counts, out=np.zeros_like(distances))
        return np.clip((self.weights * each).sum(axis=-1), 0.0, 1.0)

    def quantile(self, probability: float | Sequence[float]) -> np.ndarray:
        """Return the value that the level is below with this probability; of several probabilities
        their values in a new first axis, in a fraction of the time of one after the other."""
        asked = np.asarray(probability, dtype=float)
        shape = (*asked.shape, *self.weights.shape[:-1])
        goals = np.broadcast_to(asked[(..., *[None] * (self.weights.ndim - 1))], shape)
        each = self.centres + self.errors * stdtrit(self.freedoms, goals[..., None])
        parts = (self.weights, self.centres, self.errors, self.freedoms, each)
        width = self.weights.shape[-1]
        rows = (np.broadcast_to(part, (*shape, width)).reshape(-1, width) for part in parts)
        return _quantiles(goals.ravel(), *rows).reshape(shape)

    def density(self, levels: np.ndarray) -> np.ndarray:
        """Return the probability density at each of `levels`: the slope of `below`."""
        distances = (levels[..., None] - self.centres) / self.errors
        half = (self.freedoms + 1) / 2
        heights = gammaln(half) - gammaln(half - 0.5) - np.log(math.pi * self.freedoms) / 2
        logs = heights - half * np.log1p(distances**2 / self.freedoms)
        return np.asarray((self.weights / self.errors * np.exp(logs)).sum(axis=-1))

    def minus(self, other: "Location") -> "Location":
        """Return the distribution of the difference (Welch and Satterthwaite for each two)."""
        ours, theirs = self.errors[..., :, None] ** 2, other.errors[..., None, :] ** 2
        parts = ours**2 / self.freedoms[..., :, None] + theirs**2 / other.freedoms[..., None, :]
        pairs = (
            self.weights[..., :, None] * other.weights[..., None, :],
            self.centres[..., :, None] - other.centres[..., None, :],
            np.sqrt(ours + theirs),
            (ours + theirs) ** 2 / parts,
        )
        return _most_probable(*(each.reshape(*each.shape[:-2], -1) for each in pairs))


def _quantiles(
    goals: np.ndarray,
    weights: np.ndarray,
    centres: np.ndarray,
    errors: np.ndarray,
    freedoms: np.ndarray,
    each: np.ndarray,
) -> np.ndarray:
    """Return the value that each level is below with the probability in `goals`.

    The others are of shape (goals, parts): those of `Location`, and the quantiles of the parts, as
    between the least and the largest of these lies the one that is looked for.
    """
    counts = weights > 0
    low = np.where(counts, each, np.inf).min(axis=-1)
    high = np.where(counts, each, -np.inf).max(axis=-1)
    nearest = (high - low) * CLOSEST
    found = np.where(counts, weights * each, 0.0).sum(axis=-1)
    moving = np.arange(len(goals))
    for _ in range(STEPS):
        this = Location(*(part[moving] for part in (weights, centres, errors, freedoms)))
        at = found[moving]
        off = this.below(at) - goals[moving]
        low[moving] = np.where(off < 0, at, low[moving])
        high[moving] = np.where(off < 0, high[moving], at)
        with np.errstate(divide="ignore", invalid="ignore"):
            guess = at - off / this.density(at)
        within = (low[moving] <= guess) & (guess <= high[moving])
        found[moving] = np.where(within, guess, (low[moving] + high[moving]) / 2)
        moving = moving[abs(found[moving] - at) > nearest[moving]]
        if not len(moving):
            break
    return found


def tails(error: float) -> tuple[float, float]:
    """Return the probabilities whose quantiles bound the interval that misses the level with at
    most the probability `error`."""
    tail = error / 2 / CAUTION
    return tail, 1 - tail


def locate(levels: np.ndarray, variances: np.ndarray) -> Location:
    """Return the distribution of the level of rounds: logarithms, in the last axis.

    `variances` are those that a round's own samples leave its level: rounds are not taken to be
    less noisy than half of them say.
    """
    count = levels.shape[-1]
    first, size = _windows(count)
    of_freedom, of_good, of_ruined = _log_gammas(count)
    middle = np.median(levels, axis=-1, keepdims=True)
    off = np.sort(levels - middle, axis=-1)
    means, squares = (_over(each, first, size) / size for each in (off, off**2))
    freedom = np.maximum(size - 1, 1)
    least = np.maximum(np.median(variances, axis=-1, keepdims=True), FINEST**2)
    noise = np.maximum((squares - means**2) * size / freedom, least)
    logs = (
        of_freedom
        - freedom / 2 * np.log(math.pi * freedom * noise)
        - np.log(size) / 2
        - (count - size) * np.log(2 * (RUINED_WITHIN + NOISE_WITHIN * np.sqrt(noise)))
        + of_good
        + of_ruined
    )
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    freedoms = np.broadcast_to(freedom, noise.shape)
    return _most_probable(weights, means + middle, np.sqrt(noise / size), freedoms)


@cache
def _windows(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where each window of neighbours begins, and how many rounds it has."""
    found = [
        (first, size)
        for size in range(min(FEWEST, count), count + 1)
        for first in range(count - size + 1)
    ]
    first, size = np.array(found).T
    return first, size


@cache
def _log_gammas(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the logarithms of the gamma function that weigh each window, which are needed often:
    of half its freedom, and of one more than its good rounds and its ruined ones."""
    _, size = _windows(count)
    return _lgamma(np.maximum(size - 1, 1) / 2), _lgamma(size + 1.0), _lgamma(count - size + 1.0)


def _over(values: np.ndarray, first: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the sum of the values of each window."""
    sums = np.concatenate([np.zeros_like(values[..., :1]), np.cumsum(values, axis=-1)], axis=-1)
    return np.asarray(sums[..., first + size] - sums[..., first])


def _most_probable(
    weights: np.ndarray, centres: np.ndarray, errors: np.ndarray, freedoms: np.ndarray
) -> Location:
    """Return those that count most, with weights of sum 1."""
    weights = weights / weights.max(axis=-1, keepdims=True)
    order = np.argsort(-weights, axis=-1, kind="stable")
    ordered = np.take_along_axis(weights, order, -1)
    last = ordered[..., min(KEPT, ordered.shape[-1]) - 1, None]
    kept = (ordered >= last * (1 - TIED)) & (ordered > LEAST)
    count = int(kept.sum(axis=-1).max())
    order, kept = order[..., :count], kept[..., :count]
    parts = (weights, centres, errors, freedoms)
    weights, *others = (np.take_along_axis(part, order, -1) for part in parts)
    weights = np.where(kept, weights, 0.0)
    return Location(weights / weights.sum(axis=-1, keepdims=True), *others)


def _lgamma(values: np.ndarray) -> np.ndarray:
    return np.array([math.lgamma(value) for value in values])
