"""The level that several kernels share, round by round.

A cause changes many kernels at once. Their mean change is known better than each of theirs, but not
as well as if they had been measured independently: all kernels of a round share its processes. So
the round stays the unit of noise. Its level is the mean of the kernels' levels, plus the mean
deviation from them in this round. Values that are ruined by the measure of their own kernel, and
kernels whose own level is uncertain, do not count: the mean is that of the others.
"""

from dataclasses import dataclass

import numpy as np

from deepbench_ops.statistics.ruined_rounds import FEWEST, locate

FEWEST_SHARE = 0.5
"""Share of the kernels that a round must have, to count: kernels that are known well enough are
not measured further, and the level of the few others is noisier than that of all."""

FAR = 4.0
"""A value is ruined that lies so many times the noise of its kernel's good rounds away."""

UNSURE = 0.1
"""Half-width of a kernel's own interval of 99 %, in logarithms, from which on it does not count: it
is not known which of its rounds are ruined."""


@dataclass(frozen=True)
class CommonLevels:
    """The level of each round, the variance that its kernels leave it, and which kernels count.

    Rounds with too few kernels are left out of the first two, which are empty where no kernel is
    certain.
    """

    levels: np.ndarray
    variances: np.ndarray
    counted: np.ndarray


def common_levels(differences: np.ndarray) -> CommonLevels:
    """Return the levels that kernels share in the rounds.

    differences: logarithms of shape (rounds, kernels), NaN where a kernel was not measured.
    """
    table = np.asarray(differences, dtype=float)
    each = _kernels(table)
    certain = each.reach <= UNSURE
    centres = each.centres[certain]
    deviations = table[:, certain] - centres
    good = np.isfinite(deviations) & (abs(deviations) <= FAR * each.noises[certain])
    count = good.sum(axis=1)
    enough = (count > 0) & (count >= FEWEST_SHARE * certain.sum())
    if not enough.any():
        return CommonLevels(np.empty(0), np.empty(0), certain)
    count, deviations = count[enough], np.where(good, deviations, 0.0)[enough]
    means = deviations.sum(axis=1) / count
    apart = np.where(good[enough], deviations - means[:, None], 0.0)
    variances = (apart**2).sum(axis=1) / np.maximum(count - 1, 1) / count
    return CommonLevels(means + centres.mean(), variances, certain)


@dataclass(frozen=True)
class _Kernels:
    """Of each kernel its level, the noise of its good rounds, and the reach of its interval.

    The reach is infinite for a kernel with fewer than three rounds.
    """

    centres: np.ndarray
    noises: np.ndarray
    reach: np.ndarray


def _kernels(table: np.ndarray) -> _Kernels:
    """Return the figures of each kernel; those of the same number of rounds are found together."""
    ordered = np.sort(table.T, axis=1)  # NaN last
    count = np.isfinite(ordered).sum(axis=1)
    centres, noises = np.zeros(len(ordered)), np.zeros(len(ordered))
    reach = np.full(len(ordered), np.inf)
    for number in np.unique(count[count >= FEWEST]):
        rows = count == number
        values = ordered[rows, :number]
        found = locate(values, np.zeros_like(values))
        low, high = found.interval(0.01)
        centres[rows], reach[rows] = found.median, (high - low) / 2
        noises[rows] = (found.weights * found.errors * np.sqrt(found.freedoms + 1)).sum(axis=-1)
    return _Kernels(centres, noises, reach)
