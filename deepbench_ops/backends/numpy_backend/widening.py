"""Products of int8 and float16 matrices through float32's BLAS, the only fast one numpy has.

numpy's own loops for these types reach a hundredth of BLAS's rate, so users avoid them. Measured is
the fast way: widen the operands, take the product, and narrow the sums, all of it in every call.

Sums of int8 products come out exact. A float32 holds every integer up to 2^24, which is what
EXACT_DEPTH products of -128 and -128 add up to; deeper products are taken in parts, and the
parts added up in int32.
"""

from collections.abc import Iterator

import numpy as np

EXACT_DEPTH = 2**24 // 128**2

ROUTES = {
    "float32": "np.matmul through BLAS",
    "float16": "widened to float32 in every call, np.matmul through BLAS, rounded once",
    "int8": "widened to float32 in every call, np.matmul through BLAS over at most"
    f" {EXACT_DEPTH} products at a time, whose sums are exact, added up in int32",
}


def parts(
    left: np.ndarray, right: np.ndarray, exact: bool
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (left, right) cut along their common axis, if sums are to be exact into short ones."""
    depth = left.shape[1]
    step = EXACT_DEPTH if exact else depth
    for start in range(0, depth, step):
        yield left[:, start : start + step], right[start : start + step]
