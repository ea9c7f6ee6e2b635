"""Quantisation: operands whose blocks have different ranges, and references of the outputs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deepbench_ops.backends.families import low_precision as formats
from deepbench_ops.backends.kernel import Index, Reference, widened
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.quantisation import BLOCKS, Quantisation
from deepbench_ops.random_operands import floats, round_to

SMALL = {"m": 37, "n": 384}
PROBE = {"m": 256, "n": 1024}

VALUES, WIDTHS, WEIGHT = 0, 1, 2
"""Streams of random bits."""

SCALES = "scales"
"""Name of the second output, the scales of the blocks."""

KINDS = {"int8_row": "int8", "fp8_row": "fp8", "fp8_block": "fp8", "mxfp8": "fp8", "mxfp4": "fp4"}
"""Number format of the codes, by precision."""

EPSILON = 1e-6
"""Added to the mean square in the norm."""

SMALLEST_STEP = {"fp8": 2.0**-9, "fp4": 0.5}
"""Distance between the smallest numbers of a format."""

FRACTION_BITS = {"fp8": 3, "fp4": 1}
"""Bits of the fraction of a format."""

IN_FLOAT32 = 16 * 2.0**-24
"""Relative error of the numbers before they are rounded to codes, and of a float32 scale: the error
of norm, quotients and products in float32."""

IN_BFLOAT16 = 3 * 2.0**-8
"""Relative error of a normalised number that a framework stores once or twice in bfloat16 before it
is rounded to a code."""


@dataclass(frozen=True)
class QuantisationInputs:
    """Operands: x, m x n, and the weight of the norm, n; float32 with values of bfloat16."""

    problem: Quantisation
    seed: int

    @cached_property
    def x(self) -> np.ndarray:
        """Numbers to quantise, m x n, uniform in each block of 32 with a bound from 1/4 to 4."""
        p = self.problem
        groups = -(-p.n // 32)
        widths = np.abs(floats((p.m, groups), "float32", 1.0, self.seed, WIDTHS))
        values = floats((p.m, p.n), "float32", 4.0, self.seed, VALUES)
        values *= np.repeat(np.maximum(widths, 1 / 16), 32, axis=1)[:, : p.n]
        return round_to(values, "bfloat16")

    @cached_property
    def weight(self) -> np.ndarray:
        """Weight of the norm, n numbers between 1/2 and 3/2."""
        drawn = 1 + floats((self.problem.n,), "float32", 0.5, self.seed, WEIGHT)
        return round_to(drawn, "bfloat16")

    @property
    def notes(self) -> dict[str, str]:
        """Notes for the record: distribution and layout of the operands."""
        return {
            "inputs": "x uniform in blocks of 32, each of a width of its own between 1/4 and 4, raw"
            f" bits of SFC64, seed {self.seed}",
            "layout": "row-major",
            "padding": "none",
        }


def inputs(problem: Quantisation, precision: str, seed: int = 0) -> QuantisationInputs:
    """Return the operands of `problem`."""
    return QuantisationInputs(problem, seed)


def refuse(problem: Quantisation, precision: str, operation: str) -> None:
    """Raise Unsupported for rows that are no whole number of blocks."""
    across = BLOCKS[precision]
    if across and problem.n % across:
        raise Unsupported(
            f"{precision} has a scale for each {across} numbers, which do not divide rows of"
            f" {problem.n}"
        )


def reference(
    problem: Quantisation, drawn: QuantisationInputs, precision: str, operation: str
) -> dict[str, Reference]:
    """Return the references of the dequantised numbers, code times scale, and of the scales."""
    numbers = NumbersReference(drawn, precision, operation == "norm_forward")
    return {"": numbers, SCALES: ScalesReference(numbers)}


@dataclass(frozen=True)
class NumbersReference:
    """Reference of the dequantised numbers: x, or its normalised rows, in float64.

    Half a step of the format is allowed, and for numbers beyond the largest one of the format their
    distance to it. The errors of the scale and of the norm, in float32 or bfloat16, are added.
    """

    inputs: QuantisationInputs
    precision: str
    normalised: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output, (m, n)."""
        return self.inputs.problem.m, self.inputs.problem.n

    @property
    def across(self) -> int:
        """Count of numbers that share a scale."""
        return BLOCKS[self.precision] or self.inputs.problem.n

    @property
    def before_rounding(self) -> float:
        """Relative error of the numbers that are rounded to codes."""
        return IN_BFLOAT16 if self.normalised else IN_FLOAT32

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), both m x n; for small problems."""
        return self._judge(slice(None))

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries (rows, columns)."""
        rows, columns = index
        entry = np.arange(rows.size)
        found = self._judge(rows)
        return found[0][entry, columns], found[1][entry, columns]

    def rows(self, which: object) -> np.ndarray:
        """Return rows of the numbers that are quantised, in float64."""
        x = widened(self.inputs.x[which])  # type: ignore[call-overload]
        if not self.normalised:
            return x
        size = np.sqrt((x**2).mean(axis=1, keepdims=True) + EPSILON)
        return x / size * widened(self.inputs.weight)

    def scales(self, which: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the scales of rows, one for each block, with the smallest and largest allowed one.

        In the MX formats scales are exact powers of two. But a norm has an error, and a largest
        number of a block close to a power of two may then have either exponent.
        """
        values = self.rows(which)
        largest = np.abs(values.reshape(len(values), -1, self.across)).max(axis=2)
        exponents = self.precision.startswith("mx")
        kind = "e8m0" if exponents else "float32"
        known = self.before_rounding if self.normalised or not exponents else 0.0
        found, least, most = (
            widened(
                formats.scales_of(
                    (largest * factor).astype(np.float32), KINDS[self.precision], kind
                )
            )
            for factor in (1.0, 1 - known, 1 + known)
        )
        return found, least, most

    def _judge(self, which: object) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of rows."""
        kind, values = KINDS[self.precision], self.rows(which)
        _, least, most = (np.repeat(scale, self.across, axis=1) for scale in self.scales(which))
        size = np.abs(values) / most
        if kind == "int8":
            step = np.ones_like(size)
        else:
            exponent = np.floor(np.log2(np.maximum(size, 1e-30)))
            step = np.maximum(2.0 ** (exponent - FRACTION_BITS[kind]), SMALLEST_STEP[kind])
        beyond = np.maximum(np.abs(values) - formats.LARGEST[kind] * least, 0)
        carried = 2 * self.before_rounding * np.abs(values)
        return values, np.maximum(step / 2 * most, beyond) + carried


@dataclass(frozen=True)
class ScalesReference:
    """Reference of the scale of each block, with the bounds of `NumbersReference.scales`."""

    numbers: NumbersReference

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the output, (m, blocks)."""
        p = self.numbers.inputs.problem
        return p.m, -(-p.n // self.numbers.across)

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), both m x blocks."""
        return self._judge(slice(None))

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries (rows, blocks)."""
        rows, blocks = index
        entry = np.arange(rows.size)
        expected, allowed = self._judge(rows)
        return expected[entry, blocks], allowed[entry, blocks]

    def _judge(self, which: object) -> tuple[np.ndarray, np.ndarray]:
        expected, least, most = self.numbers.scales(which)
        return expected, np.maximum(expected - least, most - expected)
