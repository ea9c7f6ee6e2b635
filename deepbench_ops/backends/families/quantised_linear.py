"""Quantised linear layers: operands as codes and scales, and the reference of x·Wᵀ."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.families.low_precision import Quantised, quantised
from deepbench_ops.backends.kernel import Index, widened
from deepbench_ops.backends.tolerance import CONFIDENCE_FACTOR, UNIT_ROUNDOFF, allowed
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.precision import result_type
from deepbench_ops.problems.quantised_linear import FP8_BLOCK, MX_BLOCK, QuantisedLinear
from deepbench_ops.random_operands import floats, round_to

SMALL = {"m": 13, "n": 208, "k": 256}
"""Largest sizes of a small twin. k is two groups of 128, the largest in the list; n is one block of
128 and a part of another."""

PROBE = {"m": 64, "n": 512, "k": 512}

ACTIVATIONS, WEIGHTS = 0, 1
"""Streams of random bits."""

WIDTHS = 2
"""First of the streams of random bits for the ranges of blocks."""

LEAST_WIDTH = 0.25
"""Smallest range of a row, tile or block, as a part of the largest."""

MEAN_SQUARE = (1 - LEAST_WIDTH**3) / (3 * (1 - LEAST_WIDTH))
"""Mean square of a number that is uniform between LEAST_WIDTH and 1."""

SAMPLED_ROWS = 16
"""Rows of both operands whose product shows the error of quantising, for the notes."""

LIBRARY_STEPS = 127.5
"""Largest number of a row in steps of torchao, which rounds the step to bfloat16 and uses all codes
from -128 to 127."""

NEAR_TIE = 127 * 2.0**-21
"""Distance from a tie, in steps, within which a float32 quotient may be rounded up or down."""


@dataclass(frozen=True)
class Scheme:
    """Scheme by which a precision quantises an operand.

    kind: number format. block: rows and columns of a block, 0 columns for the problem's group.
    scales: type of the scales, "" for the type of the result.
    """

    kind: str
    block: tuple[int, int]
    scales: str


WHOLE_ROW = 2**40
"""Number of columns that stands for a block of a whole row."""

INT4 = Scheme("int4", (1, 0), "")
FP4 = Scheme("fp4", (1, MX_BLOCK), "e8m0")
FP8 = Scheme("fp8", (1, MX_BLOCK), "e8m0")
FP8_ROW = Scheme("fp8", (1, WHOLE_ROW), "float32")

WEIGHT_SCHEMES = {
    "int8_row": Scheme("int8", (1, WHOLE_ROW), "float32"),
    "float32_int4": INT4,
    "bfloat16_int4": INT4,
    "float32_mxfp4": FP4,
    "bfloat16_mxfp4": FP4,
    "fp8_row": FP8_ROW,
    "fp8_block": Scheme("fp8", (FP8_BLOCK, FP8_BLOCK), "float32"),
    "mxfp8": FP8,
    "mxfp4": FP4,
}
ACTIVATION_SCHEMES = {
    "fp8_row": FP8_ROW,
    "fp8_block": Scheme("fp8", (1, FP8_BLOCK), "float32"),
    "mxfp8": FP8,
    "mxfp4": FP4,
}
"""Schemes of the weights, and of the activations in precisions that quantise these before the call,
by precision."""


@dataclass(frozen=True)
class QuantisedLinearInputs:
    """The operands of y = x·Wᵀ.

    x: m x k, quantised, or float32 with values of the result's precision. w: n x k, quantised.
    """

    x: "np.ndarray | Quantised"
    w: Quantised
    notes: dict[str, str]

    @property
    def activations(self) -> np.ndarray:
        """x, in precisions that do not quantise it before the call."""
        assert isinstance(self.x, np.ndarray)
        return self.x

    @property
    def quantised_activations(self) -> Quantised:
        """x, in precisions that quantise it before the call."""
        assert isinstance(self.x, Quantised)
        return self.x


def refuse(problem: QuantisedLinear, precision: str, operation: str) -> None:
    """Raise Unsupported where k is no whole number of blocks or groups, and for fused_forward in
    another precision than int8_row."""
    if operation == "fused_forward" and precision != "int8_row":
        raise Unsupported(
            "a framework's own layer that quantises the activations is measured in int8_row alone"
        )
    reason = problem.impossible()
    if reason:
        raise Unsupported(reason)
    for scheme in (WEIGHT_SCHEMES[precision], ACTIVATION_SCHEMES.get(precision)):
        columns = scheme.block[1] if scheme else 0
        if 0 < columns < WHOLE_ROW and problem.k % columns:
            raise Unsupported(
                f"{precision} has a scale for each {columns} values along k, and"
                f" {columns} does not divide k = {problem.k}"
            )


def inputs(problem: QuantisedLinear, precision: str, seed: int = 0) -> QuantisedLinearInputs:
    """Draw the operands, uniform within each block, and quantise them by largest magnitudes.

    Rows, tiles of 128 and blocks of 32 have different ranges, each factor between LEAST_WIDTH and
    1, so that scales differ and a scale in a wrong place is found. Entries of y have about unit
    variance. The error of quantising is in the notes.
    """
    m, n, k = problem.m, problem.n, problem.k
    kept = result_type(precision)
    x = _drawn((m, k), 1, 3**0.5, seed, ACTIVATIONS)
    w = _drawn((n, k), FP8_BLOCK, (3 / k) ** 0.5, seed, WEIGHTS)
    x = round_to(x, kept)
    weights = _quantised(w, WEIGHT_SCHEMES[precision], problem, kept)
    scheme = ACTIVATION_SCHEMES.get(precision)
    activations = x if scheme is None else _quantised(x, scheme, problem, kept)
    return QuantisedLinearInputs(
        activations,
        weights,
        {
            "inputs": "x and W uniform in blocks of different widths, x of variance 1, W of"
            f" variance 1/k, then quantised; raw bits of SFC64, seed {seed}",
            "quantisation error": _lost(x, w, activations, weights),
            "layout": "row-major, x m x k, W n x k",
            "padding": "none",
        },
    )


def _drawn(
    shape: tuple[int, int], tile_rows: int, half_width: float, seed: int, stream: int
) -> np.ndarray:
    """Return float32 values in blocks of different ranges, with the variance that values uniform in
    ±half_width have."""
    rows, columns = shape
    tiles = (-(-rows // tile_rows), -(-columns // FP8_BLOCK))
    groups = (rows, -(-columns // MX_BLOCK))
    each = [
        LEAST_WIDTH + (1 - LEAST_WIDTH) * np.abs(floats(size, "float32", 1.0, seed, WIDTHS + turn))
        for turn, size in enumerate(((rows, 1), tiles, groups), start=3 * stream)
    ]
    tiled = np.repeat(each[1], tile_rows, axis=0)[:rows]
    tiled = np.repeat(tiled, FP8_BLOCK // MX_BLOCK, axis=1)[:, : groups[1]]
    widths = each[0] * tiled * each[2]
    values = floats(shape, "float32", half_width / MEAN_SQUARE**1.5, seed, stream)
    for start in range(groups[1]):
        values[:, start * MX_BLOCK : (start + 1) * MX_BLOCK] *= widths[:, start, None]
    return values


def _quantised(
    values: np.ndarray, scheme: Scheme, problem: QuantisedLinear, kept: str
) -> Quantised:
    rows, columns = scheme.block
    block = (rows, min(columns or problem.group, problem.k))
    return quantised(values, scheme.kind, block, scheme.scales or kept)


def _lost(x: np.ndarray, w: np.ndarray, activations: object, weights: Quantised) -> str:
    """Return a note on the error of quantising: root mean square errors of weights, activations and
    product, as percentages of their root mean squares."""
    rows = slice(0, SAMPLED_ROWS)
    left = activations.rows(rows) if isinstance(activations, Quantised) else widened(x[rows])
    true = widened(x[rows]) @ widened(w[rows]).T
    off = left @ weights.rows(rows).T - true
    product = float(np.sqrt(np.mean(off**2) / np.mean(true**2)))
    parts = [f"weights {weights.error:.2%}"]
    if isinstance(activations, Quantised):
        parts.append(f"activations {activations.error:.2%}")
    return ", ".join([*parts, f"product {product:.2%} of the root mean square, by sample"])


def reference(
    problem: QuantisedLinear, drawn: QuantisedLinearInputs, precision: str, operation: str
) -> "LinearReference":
    """Return the reference of y."""
    return LinearReference(drawn, precision, operation)


@dataclass(frozen=True)
class LinearReference:
    """Reference of x·Wᵀ of the dequantised operands, in float64.

    An entry is a sum of k products (`tolerance.allowed`). Integers are summed exactly, so int8_row
    has only the rounding of scales and of the result. Kernels that widen operands may round them to
    the result's type: one rounding of each product, which add up like numbers with random signs.
    Activations that the call itself quantises may be rounded up or down near a tie, which changes
    them by one step.
    """

    inputs: QuantisedLinearInputs
    precision: str
    operation: str

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output, (m, n)."""
        x = self.inputs.x
        rows = x.shape[0] if isinstance(x, np.ndarray) else x.codes.shape[0]
        return rows, self.inputs.w.codes.shape[0]

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), both m x n; for small problems."""
        left, tied = self._activations(slice(None))
        right = self.inputs.w.rows()
        return self._judge(left @ right.T, left**2 @ (right**2).T, tied @ np.abs(right).T)

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries (rows, columns), one dot product each."""
        left, tied = self._activations(index[0])
        right = self.inputs.w.rows(index[1])
        products = left * right
        return self._judge(
            products.sum(axis=1),
            (products**2).sum(axis=1),
            (tied * np.abs(right)).sum(axis=1),
        )

    def _activations(self, rows: object) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of x as they are multiplied, and the change of each entry that a tie allows,
        both in float64."""
        if isinstance(self.inputs.x, Quantised):
            found = self.inputs.x.rows(rows)
            return found, np.zeros_like(found)
        x = widened(self.inputs.x[rows])  # type: ignore[call-overload]
        if self.precision != "int8_row" or self.operation == "dequantised_forward":
            return x, np.zeros_like(x)
        if self.operation == "fused_forward":
            return stepped(x, *self._step_and_zero_point)
        largest = np.abs(x).max(axis=1, keepdims=True)
        if self.operation == "library_forward":
            step = round_to((largest / LIBRARY_STEPS).astype(np.float32), "bfloat16")
            return stepped(x, step.astype(np.float64), 0, (-128, 127))
        return stepped(x, largest / 127, 0, (-127, 127))

    @cached_property
    def _step_and_zero_point(self) -> tuple[float, float]:
        return step_and_zero_point(self.inputs.activations)

    def _judge(
        self, expected: np.ndarray, squares: np.ndarray, tied: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        wander = np.sqrt(squares)
        exact = self.precision == "int8_row" and self.operation != "dequantised_forward"
        if exact:
            size = np.abs(expected)
            scaled = 8 * UNIT_ROUNDOFF["float32"] * (size + wander)
            if self.operation == "library_forward":  # rounds before the scales of W too
                scaled += UNIT_ROUNDOFF[self.precision] * size
            return expected, tied + scaled + allowed(self.precision, 0, 0 * size, size)
        terms = self.inputs.w.codes.shape[1]
        widening = CONFIDENCE_FACTOR * UNIT_ROUNDOFF[self.precision] * wander
        return expected, widening + allowed(self.precision, terms, wander, np.abs(expected))


def step_and_zero_point(x: np.ndarray) -> tuple[float, float]:
    """Return step and zero point of a tensor in unsigned 8 bits.

    step = (max(x, 0) - min(x, 0)) / 255, zero point = round(-min / step), as in ONNX's
    DynamicQuantizeLinear.
    """
    least, most = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    step = np.float32(most - least) / np.float32(255)
    return float(step), float(np.clip(np.rint(np.float32(-least) / step), 0, 255))


def stepped(
    x: np.ndarray,
    step: "np.ndarray | float",
    zero: float = 0.0,
    bounds: tuple[float, float] = (0, 255),
) -> tuple[np.ndarray, np.ndarray]:
    """Return x rounded to whole steps, and the change that a tie allows: the step for entries
    within NEAR_TIE of a tie, else 0.

    zero, bounds: zero point, and smallest and largest code.
    """
    quotient = x / np.where(np.asarray(step) == 0, 1, step)
    whole = np.clip(np.rint(quotient) + zero, *bounds) - zero
    tied = np.abs(quotient - np.floor(quotient) - 0.5) < NEAR_TIE
    return whole * step, np.where(tied, step, 0.0)
