"""Rounds of two releases, made of the ratios of their sweeps instead of measured."""

import itertools
from collections.abc import Iterable

from deepbench_ops.measure import ensemble_sweeps
from deepbench_ops.measure.ensemble_round import Round

_numbers = itertools.count()


def of_ratios(before: str, after: str, ratios: Iterable[float]) -> Round:
    """Return a round whose sweeps have these ratios of after to before."""
    sweeps = [{before: 1.0, after: ratio} for ratio in ratios]
    return Round(
        sweeps,
        id=f"0-{next(_numbers)}",
        anchor=after,
        started_at=4e9,
        conditions=ensemble_sweeps.conditions(),
    )
