"""Steps of optimisers: operands with the state of earlier steps, and the true new values."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    EntryReference,
    Makers,
    Operands,
    drawn,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact
from deepbench_ops.backends.kernel import Index, Reference
from deepbench_ops.backends.tolerance import CONFIDENCE_FACTOR
from deepbench_ops.problems.optimizer_step import NEWTON_SCHULZ_STEPS, OptimizerStep
from deepbench_ops.random_operands import floats, round_to

SMALL = {"tensors": 3, "height": 17, "width": 29}
PROBE = {"tensors": 4, "height": 64, "width": 256}

RATE = 1e-3
MOMENTUM = {"sgd": 0.9, "muon": 0.95}
BETAS, EPSILON, DECAY = (0.9, 0.999), 1e-8, 0.01
MUON_DECAY, MUON_EPSILON = 0.1, 1e-7
COEFFICIENTS = (3.4445, -4.775, 2.0315)
"""Coefficients of Muon's polynomial, as in its authors' code and in torch's."""

STEPS_BEFORE = 9
"""Number of earlier steps in AdamW's state: few, so that the correction of its moments matters."""

STATES = {"sgd": ("momentum",), "adamw": ("first_moment", "second_moment"), "muon": ("momentum",)}
"""Further outputs by algorithm: parts of the state, each one array for all tensors."""


def outputs(problem: OptimizerStep, operation: str) -> tuple[str, ...]:
    """Return the names of an operation's outputs: the parameters, then the state."""
    return ("", *STATES[problem.algorithm])


def inputs(problem: OptimizerStep, precision: str, seed: int = 0) -> Operands:
    """Draw parameters and gradients, uniform in [-1, 1), and the state.

    Momenta are uniform in [-1, 1); second moments are squares of such numbers. Arrays are tensors x
    height x width. Each repeated step changes a parameter by about RATE, so parameters stay finite
    over all timed calls.
    """
    shape = (problem.tensors, problem.height, problem.width)
    makers: Makers = {
        name: partial(floats, shape, precision, 1.0, seed, stream)
        for stream, name in enumerate(("parameters", "gradients", STATES[problem.algorithm][0]))
    }
    if problem.algorithm == "adamw":
        makers["second_moment"] = lambda: floats(shape, precision, 1.0, seed, 3) ** 2
    text = "parameters, gradients and momenta in +-1, second moments squares of such"
    return Operands(makers, drawn(text, seed))


def reference(
    problem: OptimizerStep, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the references of the parameters and of the state."""
    shape = (problem.tensors, problem.height, problem.width)
    if problem.algorithm == "muon":
        truth = MuonStep(problem, drawn)
        return {"": truth, "momentum": EntryReference(shape, truth.momentum, precision)}
    step = _sgd if problem.algorithm == "sgd" else _adamw
    return {
        name: EntryReference(shape, partial(_output, step, drawn, number), precision)
        for number, name in enumerate(outputs(problem, operation))
    }


def reference_name(operation: str, precision: str) -> str:
    """Return one name for all ways to step."""
    return "step"


def _output(step, drawn: Operands, number: int, index: Index) -> Bounded:  # type: ignore[no-untyped-def]
    found: Bounded = step(drawn, index)[number]
    return found


def _constant(value: float) -> Bounded:
    """Return a constant, rounded to float32 as in a kernel."""
    return exact(np.array(value), COMPUTE_PRECISION).rounded_to(COMPUTE_PRECISION)


def _complement(value: float) -> Bounded:
    """Return 1 - value; kernels may compute it in float32, from a rounded value."""
    return exact(np.array(1.0), COMPUTE_PRECISION) - _constant(value)


def _sgd(drawn: Operands, index: Index) -> tuple[Bounded, ...]:
    p, g, m = (drawn.exactly(name, index) for name in ("parameters", "gradients", "momentum"))
    momentum = m * _constant(MOMENTUM["sgd"]) + g
    return p - momentum * _constant(RATE), momentum


def _adamw(drawn: Operands, index: Index) -> tuple[Bounded, ...]:
    p, g, m, v = (
        drawn.exactly(name, index)
        for name in ("parameters", "gradients", "first_moment", "second_moment")
    )
    first, second = BETAS
    time = STEPS_BEFORE + 1
    m = m + (g - m) * _complement(first)
    v = v * _constant(second) + g * g * _complement(second)
    squared = v * _constant(1 / (1 - second**time))
    root = squared * (squared + _constant(1e-300)).inverse_root() + _constant(EPSILON)
    step = m / root * _constant(RATE / (1 - first**time))
    return p * _constant(1 - RATE * DECAY) - step, m, v


@dataclass(frozen=True)
class MuonStep:
    """Reference of the parameters after a step of Muon.

    Kernels compute its matrix products in bfloat16. The allowed error comes from a second
    computation in which every product is rounded to bfloat16: the root mean square of the
    difference between both, times CONFIDENCE_FACTOR.
    """

    problem: OptimizerStep
    drawn: Operands

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the output, (tensors, height, width)."""
        return self.problem.tensors, self.problem.height, self.problem.width

    def momentum(self, index: Index) -> Bounded:
        """Entries of the new momentum."""
        m, g = (self.drawn.exactly(name, index) for name in ("momentum", "gradients"))
        return m + (g - m) * _constant(1 - MOMENTUM["muon"])

    @cached_property
    def _computed(self) -> tuple[np.ndarray, np.ndarray]:
        p, g, m = (
            np.asarray(self.drawn[name], np.float64)
            for name in ("parameters", "gradients", "momentum")
        )
        m = m + (g - m) * (1 - MOMENTUM["muon"])
        update = g + (m - g) * MOMENTUM["muon"]
        ideal, rounded = orthogonal(update, False), orthogonal(update, True)
        scale = RATE * max(1, self.problem.height / self.problem.width) ** 0.5
        off = np.sqrt(np.mean((ideal - rounded) ** 2, axis=(1, 2), keepdims=True))
        expected = p * (1 - RATE * MUON_DECAY) - scale * ideal
        allowed = 2.0**-22 * np.abs(p) + scale * CONFIDENCE_FACTOR * off
        return expected, np.broadcast_to(allowed, expected.shape)

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed)."""
        return self._computed

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at some entries."""
        expected, allowed = self._computed
        return expected[index], allowed[index]


def orthogonal(update: np.ndarray, rounding: bool) -> np.ndarray:
    """Return the matrices (last two axes) after Muon's Newton-Schulz iteration.

    rounding: whether every result is rounded to bfloat16.
    """
    a, b, c = COEFFICIENTS
    transposed = update.shape[1] > update.shape[2]

    def rounded(x: np.ndarray) -> np.ndarray:
        if not rounding:
            return x
        return round_to(np.array(x, np.float32), "bfloat16").astype(np.float64)

    x = rounded(update)
    x = x.transpose(0, 2, 1) if transposed else x
    norm = np.sqrt((x**2).sum(axis=(1, 2), keepdims=True))
    x = rounded(x / np.maximum(rounded(norm), MUON_EPSILON))
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = rounded(x @ x.transpose(0, 2, 1))
        polynomial = rounded(b * gram + c * (gram @ gram))
        x = rounded(a * x + polynomial @ x)
    return x.transpose(0, 2, 1) if transposed else x
