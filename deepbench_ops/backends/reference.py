"""The judge of a GEMM: the true C in float64 or int64, and the error each entry is allowed."""

from dataclasses import dataclass

import numpy as np

from deepbench_ops.backends.inputs import GemmInputs
from deepbench_ops.backends.kernel import Index

UNIT_ROUNDOFF = {
    "float32": 2.0**-24,
    "tf32": 2.0**-24,
    "bfloat16": 2.0**-8,
    "float16": 2.0**-11,
}
"""Half the distance from 1 to the next number of the precision in which C is stored."""

SMALLEST = {
    "float32": 2.0**-149,
    "tf32": 2.0**-149,
    "bfloat16": 2.0**-133,
    "float16": 2.0**-24,
}
"""The least positive number of the precision in which C is stored."""

ADDER = {"float32": 2.0**-24, "tf32": 2.0**-22, "bfloat16": 2.0**-22, "float16": 2.0**-22}
"""Largest relative error of one addition. All add in float32; tensor cores round towards zero."""

CONFIDENCE = 8.0
"""How many times its natural growth the accumulated rounding error is allowed to reach."""


@dataclass(frozen=True)
class GemmReference:
    """C + A·B, computed exactly enough from the operands the kernel was given.

    An entry of a correct kernel may differ from the true one by

        8·sqrt(k + 2)·v·(|C| + p)        adding up k products, p the root of the sum of their
                                         squares and v the largest error of one addition
        + u·(|C| + 2·|C + A·B|)          storing the product, then the sum
        + s                              where the numbers run out below

    with u the unit roundoff and s the smallest number of the output's precision. The first line
    relies on the operands being random: partial sums of randomly signed products wander about as
    far as p, and the errors of adding to them grow with sqrt(k). The bound that holds for any
    operands, k·v·|A|·|B|, is hundreds of times larger at k of some thousands and would let a
    kernel pass that drops a product or rounds its operands to fewer bits. The second line covers
    both a kernel that adds C before it rounds and one that stores A·B first. Integers must be
    exact.
    """

    inputs: GemmInputs
    precision: str

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        m, n = self.inputs.c.shape
        return m, n

    def everywhere(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed), both m x n; for small problems."""
        wide = self._wide
        left, right, initial = (wide(x) for x in (self.inputs.a, self.inputs.b, self.inputs.c))
        return self._judge(initial, left @ right, left**2 @ right**2)

    def at(self, index: Index) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) at the entries (rows, columns), one dot product each."""
        rows, columns = index
        left = self._wide(self.inputs.a[rows])
        right = self._wide(self.inputs.b.T[columns])
        initial = self._wide(self.inputs.c[rows, columns])
        products = left * right
        return self._judge(initial, products.sum(axis=1), (products**2).sum(axis=1))

    def _wide(self, values: np.ndarray) -> np.ndarray:
        return values.astype(np.int64 if self.precision == "int8" else np.float64)

    def _judge(
        self, initial: np.ndarray, product: np.ndarray, squares: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        expected = initial + product
        if self.precision == "int8":
            return expected, np.zeros_like(expected)
        k = self.inputs.a.shape[1]
        wander = np.abs(initial) + np.sqrt(squares)
        accumulating = CONFIDENCE * np.sqrt(k + 2) * ADDER[self.precision] * wander
        storing = UNIT_ROUNDOFF[self.precision] * (np.abs(initial) + 2 * np.abs(expected))
        return expected, accumulating + storing + SMALLEST[self.precision]
