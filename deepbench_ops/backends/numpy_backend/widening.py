"""Products of int8 and float16 matrices through the BLAS for float32, the only fast way in numpy.

numpy's own loops for these types reach a hundredth of the rate of BLAS, so users avoid them. A
kernel widens the operands to float32, multiplies, and rounds the sums, all in every call.

Sums of int8 products are exact. A float32 can hold every integer up to 2^24, which is the sum of
EXACT_DEPTH products of -128 and -128. Longer sums are computed in parts, which are added up in
int32.
"""

from collections.abc import Iterator

import numpy as np

EXACT_DEPTH = 2**24 // 128**2
"""Number of int8 products whose sum is exact in float32."""

ROUTES = {
    "float32": "np.matmul through BLAS",
    "float16": "widened to float32 in every call, np.matmul through BLAS, rounded once",
    "int8": "widened to float32 in every call, np.matmul through BLAS over at most"
    f" {EXACT_DEPTH} products at a time, whose sums are exact, added up in int32",
}


def parts(
    left: np.ndarray, right: np.ndarray, exact: bool
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (left, right), whole or, for exact int8 sums, in parts of EXACT_DEPTH along their
    common axis."""
    depth = left.shape[1]
    step = EXACT_DEPTH if exact else depth
    for start in range(0, depth, step):
        yield left[:, start : start + step], right[start : start + step]
