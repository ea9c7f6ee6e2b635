"""Recorded losses and gradients of small twins' training steps, for frameworks without float64.

torch computed them in float64, and scripts/make_model_tables.py recorded them. Weights and data are
the same everywhere, so every framework must get the same results.
"""

import csv
from functools import cache
from importlib.resources import files

import numpy as np

BATCH = 4


@cache
def names() -> frozenset[str]:
    """Return the names of the networks with a recorded twin, those of other frameworks than
    torch."""
    with files(__package__).joinpath("recorded_training_steps.csv").open(encoding="utf-8") as lines:
        return frozenset(line["network"] for line in csv.DictReader(lines))


@cache
def recorded(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (expected, allowed) of a network's twin: the loss, then entries of gradients."""
    with files(__package__).joinpath("recorded_training_steps.csv").open(encoding="utf-8") as lines:
        found = [
            (float(line["expected"]), float(line["allowed"]))
            for line in csv.DictReader(lines)
            if line["network"] == name
        ]
    expected, allowed = np.array(found).T
    return expected, allowed
