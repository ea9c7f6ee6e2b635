"""Rotary position embedding: operands, and the true queries, keys and gradients."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    GRADIENT,
    EntryReference,
    Makers,
    Operands,
    drawn,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact
from deepbench_ops.backends.kernel import Index, Reference
from deepbench_ops.problems.rope import Rope
from deepbench_ops.random_operands import floats, round_to

SMALL = {"batch": 2, "length": 13, "heads": 4, "kv_heads": 2, "size": 22}
PROBE = {"batch": 2, "length": 128, "heads": 8, "kv_heads": 2, "size": 64}

BASE = 10000.0
"""Base of the angles, as in the RoFormer paper."""

KEYS, KEYS_GRADIENT = "keys", "keys_gradient"
"""Names of the second outputs of forward and backward pass."""

GRADIENTS = {"": "queries", KEYS_GRADIENT: "keys"}
"""Outputs of the backward pass, each with the operand whose gradient it is."""


def outputs(problem: Rope, operation: str) -> tuple[str, ...]:
    """Return the names of an operation's outputs."""
    return tuple(GRADIENTS) if operation == "backward" else ("", KEYS)


def inputs(problem: Rope, precision: str, seed: int = 0) -> Operands:
    """Draw queries, keys and the gradients of both outputs; compute the tables of cosines and
    sines.

    Numbers are uniform in [-1, 1). The tables are length x size with two equal halves, rounded to
    the precision, as in models.
    """
    shapes = shapes_of(problem)
    makers: Makers = {
        "queries": partial(floats, shapes[0], precision, 1.0, seed, 0),
        "keys": partial(floats, shapes[1], precision, 1.0, seed, 1),
        "cosines": lambda: table(problem, np.cos, precision),
        "sines": lambda: table(problem, np.sin, precision),
        GRADIENT: partial(floats, shapes[0], precision, 1.0, seed, 2),
        f"{GRADIENT}_of_keys": partial(floats, shapes[1], precision, 1.0, seed, 3),
    }
    return Operands(makers, drawn(f"in +-1, angles of base {BASE:g}", seed))


def shapes_of(problem: Rope) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of queries and keys."""
    p = problem
    return (p.batch, p.heads, p.length, p.size), (p.batch, p.kv_heads, p.length, p.size)


def table(problem: Rope, function: np.ufunc, precision: str) -> np.ndarray:
    """Return the table of cosines or sines of the angles, length x size."""
    half = problem.size // 2
    positions = problem.start + np.arange(problem.length)
    angles = positions[:, None] * BASE ** (-np.arange(half) / half)
    values = np.concatenate([function(angles)] * 2, axis=1).astype(np.float32)
    return round_to(values, precision)


def reference(
    problem: Rope, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the references of both outputs.

    The backward pass rotates by the opposite angle. Some kernels round the two products before they
    add them, which the allowed error covers.
    """
    backward = operation == "backward"
    names = drawn.gradient_names() if backward else ["queries", "keys"]

    def turned(name: str, index: Index) -> Bounded:
        half = problem.size // 2
        *place, column = index
        partner = (*place, (column + half) % problem.size)
        where = (index[2], column)
        first = np.asarray(drawn[name][index], np.float64)
        second = np.asarray(drawn[name][partner], np.float64)
        lower = np.where(column < half, -1.0, 1.0) * (-1 if backward else 1)
        cosine, sine = (drawn.exactly(each, where) for each in ("cosines", "sines"))
        parts = (
            exact(first, COMPUTE_PRECISION) * cosine,
            exact(lower * second, COMPUTE_PRECISION) * sine,
        )
        one, other = (part.rounded_to(precision).rounded_to(COMPUTE_PRECISION) for part in parts)
        return one + other

    return {
        output: EntryReference(shape, partial(turned, name), precision)
        for output, name, shape in zip(
            outputs(problem, operation), names, shapes_of(problem), strict=True
        )
    }
