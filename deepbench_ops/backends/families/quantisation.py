"""Quantising: rows whose blocks have different widths, and the judges of numbers and scales."""

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
"""Name of the second output."""

KINDS = {"int8_row": "int8", "fp8_row": "fp8", "fp8_block": "fp8", "mxfp8": "fp8", "mxfp4": "fp4"}
EPSILON = 1e-6
"""Of the norm."""

FINEST = {"fp8": 2.0**-9, "fp4": 0.5}
"""Distance between the smallest numbers of a format."""

FRACTION_BITS = {"fp8": 3, "fp4": 1}

IN_FLOAT32 = 16 * 2.0**-24
"""Relative error of the numbers before they are rounded to codes, and of a float32 scale: norm,
quotients and products in float32."""

IN_BFLOAT16 = 3 * 2.0**-8
"""The same of a normalised number that a framework stores in bfloat16 on the way, once or twice."""


@dataclass(frozen=True)
class QuantisationInputs:
    """x: m x n of bfloat16's numbers in float32; weight: of the norm, n."""

    problem: Quantisation
    seed: int

    @cached_property
    def x(self) -> np.ndarray:
        """Uniform in each block of 32 and each row, with widths between 1/16 and 1."""
        p = self.problem
        groups = -(-p.n // 32)
        widths = np.abs(floats((p.m, groups), "float32", 1.0, self.seed, WIDTHS))
        values = floats((p.m, p.n), "float32", 4.0, self.seed, VALUES)
        values *= np.repeat(np.maximum(widths, 1 / 16), 32, axis=1)[:, : p.n]
        return round_to(values, "bfloat16")

    @cached_property
    def weight(self) -> np.ndarray:
        """Between 1/2 and 3/2."""
        drawn = 1 + floats((self.problem.n,), "float32", 0.5, self.seed, WEIGHT)
        return round_to(drawn, "bfloat16")

    @property
    def notes(self) -> dict[str, str]:
        """How they are drawn, and how they lie."""
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
    """Raise Unsupported for blocks that do not fill a row."""
    across = BLOCKS[precision]
    if across and problem.n % across:
        raise Unsupported(
            f"{precision} has a scale for each {across} numbers, which do not divide rows of"
            f" {problem.n}"
        )


def reference(
    problem: Quantisation, drawn: QuantisationInputs, precision: str, operation: str
) -> dict[str, Reference]:
    """Return the judges of the numbers that codes and scales stand for, and of the scales."""
    judge = NumbersReference(drawn, precision, operation == "norm_forward")
    return {"": judge, SCALES: ScalesReference(judge)}


@dataclass(frozen=True)
class NumbersReference:
    """x, or its normalised rows, in float64: codes stand for numbers at most half a step from it.

    What lies beyond the largest number of a format may be off by as much as it lies beyond. A
    normalised number is off by what float32, or bfloat16 on the way, rounds.
    """

    inputs: QuantisationInputs
    precision: str
    normalised: bool

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self.inputs.problem.m, self.inputs.problem.n

    @property
    def across(self) -> int:
        """Numbers that share a scale."""
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
        """Return rows of what is quantised."""
        x = widened(self.inputs.x[which])  # type: ignore[call-overload]
        if not self.normalised:
            return x
        size = np.sqrt((x**2).mean(axis=1, keepdims=True) + EPSILON)
        return x / size * widened(self.inputs.weight)

    def scales(self, which: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the scales of rows, one for each block, with the least and the most they may be.

        Exact powers of two in the MX formats: but the largest number of a block is known to within
        the norm's error, and next to a power of two it may have either exponent.
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
            step = np.maximum(2.0 ** (exponent - FRACTION_BITS[kind]), FINEST[kind])
        beyond = np.maximum(np.abs(values) - formats.LARGEST[kind] * least, 0)
        carried = 2 * self.before_rounding * np.abs(values)
        return values, np.maximum(step / 2 * most, beyond) + carried


@dataclass(frozen=True)
class ScalesReference:
    """The scale of each block, within `NumbersReference.scales`."""

    numbers: NumbersReference

    @property
    def shape(self) -> tuple[int, int]:
        """(m, blocks)."""
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
