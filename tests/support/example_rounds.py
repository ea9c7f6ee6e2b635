"""Rounds of ensembles for tests of their readers."""

from collections.abc import Mapping, Sequence

import numpy as np

from deepbench_ops.measure.ensemble_round import Round


def rounds_of(
    seconds: Mapping[str, float],
    spread: float | Sequence[float] = 0.001,
    count: int = 5,
    random: np.random.Generator | None = None,
) -> list[Round]:
    """Return rounds that measured releases, which take so many seconds, anchored at the first.

    spread: between rounds, in logarithms, of all releases or of each.
    """
    random = random or np.random.default_rng(1)
    names = list(seconds)
    levels = random.normal(np.log([*seconds.values()]), spread, (count, len(names)))
    rows = np.exp(levels[:, None] + random.normal(0, 0.005, (count, 8, len(names))))
    return [
        Round(
            [dict(zip(names, sweep, strict=True)) for sweep in sweeps],
            id=str(place),
            anchor=names[0],
        )
        for place, sweeps in enumerate(rows.tolist())
    ]
