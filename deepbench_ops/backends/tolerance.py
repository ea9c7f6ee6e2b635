"""Largest error that a correct kernel may have: the constants of the tolerances of all families.

The error allowed for an entry that is a sum of many products is

    CONFIDENCE_FACTOR · sqrt(terms + 2) · ADDITION_ERROR · wander

Here wander is the largest distance of the partial sums from zero. For products of random signs it
is about the root of the sum of their squares. A bound for any operands would be hundreds of times
larger at some thousands of terms; a kernel that drops a product or rounds its operands to fewer
bits would pass. A stored value has the relative error UNIT_ROUNDOFF, and the absolute error
SMALLEST_NUMBER near zero. Integers must be exact.

Quotients, exponentials and similar functions are computed in float32 before they are stored, each
with the relative error LIBRARY_ERROR. `families/propagated_errors.py` follows errors through
further operations; docs/reference/method.md has the derivation.
"""

import numpy as np

from deepbench_ops.problems.precision import ALL_PRECISIONS, TABLE, result_type

_ROUNDOFF = {"float32": 2.0**-24, "tf32": 2.0**-24, "bfloat16": 2.0**-8, "float16": 2.0**-11}
_SMALLEST = {"float32": 2.0**-149, "tf32": 2.0**-149, "bfloat16": 2.0**-133, "float16": 2.0**-24}
_ADDER = {"float32": 2.0**-24, "fp8": 2.0**-13}
_FLOATING = [name for name in ALL_PRECISIONS if result_type(name) in _ROUNDOFF]

UNIT_ROUNDOFF = {name: _ROUNDOFF[result_type(name)] for name in _FLOATING}
"""Half the distance from 1 to the next number of the precision in which results are stored."""

SMALLEST_NUMBER = {name: _SMALLEST[result_type(name)] for name in _FLOATING}
"""Smallest positive number of the precision in which results are stored."""

ADDITION_ERROR = {name: _ADDER.get(TABLE[name].product or name, 2.0**-22) for name in _FLOATING}
"""Largest relative error of one addition. All kernels add in float32. Tensor cores round towards
zero, and those of Hopper keep about 14 bits of a sum of fp8 products (DeepSeek-V3 technical report,
section 3.3.2)."""

LIBRARY_ERROR = 4 * 2.0**-24
"""Relative error of a library's exp, tanh, sigmoid, quotient or root, computed in float32."""

CONFIDENCE_FACTOR = 8.0
"""Factor between the allowed error of a sum and its expected growth, sqrt(terms)."""


def accumulated(precision: str, terms: float) -> float:
    """Return the allowed error of a sum of `terms` products, divided by its wander."""
    return float(CONFIDENCE_FACTOR * np.sqrt(terms + 2) * ADDITION_ERROR[precision])


def allowed(precision: str, terms: float, wander: np.ndarray, stored: np.ndarray) -> np.ndarray:
    """Return the error allowed at each entry, zeros for int8.

    terms: number of products in the sum of an entry. wander: largest distance of the partial sums
    from zero, one number for each entry. stored: for each entry, the sum of the magnitudes of all
    values that are rounded to the precision while it is computed.
    """
    if precision == "int8":
        return np.zeros(wander.shape, dtype=np.int64)
    accumulating = accumulated(precision, terms) * wander
    return np.asarray(accumulating + UNIT_ROUNDOFF[precision] * stored + SMALLEST_NUMBER[precision])
