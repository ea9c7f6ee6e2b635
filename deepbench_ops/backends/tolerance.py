"""Largest errors of a correct kernel: the constants of every family's tolerance.

An entry that adds up many products may err by

    CONFIDENCE · sqrt(terms + 2) · ADDER · wander

where wander is how far the partial sums get from zero: for randomly signed products about the
root of the sum of their squares. The bound that holds for any operands is hundreds of times
larger at some thousands of terms, and would let a kernel pass that drops a product or rounds its
operands to fewer bits. The stored value errs by UNIT_ROUNDOFF of itself, and by SMALLEST
where the numbers run out below. Integers must be exact.

Quotients, exponentials and the like are computed in float32 before they are stored, each within
LIBRARY of itself. How errors go on from there is in `families/propagated_errors.py`;
docs/reference/method.md has the derivation.
"""

import numpy as np

from deepbench_ops.problems.precision import ALL_PRECISIONS, TABLE, result_type

_ROUNDOFF = {"float32": 2.0**-24, "tf32": 2.0**-24, "bfloat16": 2.0**-8, "float16": 2.0**-11}
_SMALLEST = {"float32": 2.0**-149, "tf32": 2.0**-149, "bfloat16": 2.0**-133, "float16": 2.0**-24}
_ADDER = {"float32": 2.0**-24, "fp8": 2.0**-13}
_FLOATING = [name for name in ALL_PRECISIONS if result_type(name) in _ROUNDOFF]

UNIT_ROUNDOFF = {name: _ROUNDOFF[result_type(name)] for name in _FLOATING}
"""Half the distance from 1 to the next number of the precision in which results are stored."""

SMALLEST = {name: _SMALLEST[result_type(name)] for name in _FLOATING}
"""The least positive number of the precision in which results are stored."""

ADDER = {name: _ADDER.get(TABLE[name].product or name, 2.0**-22) for name in _FLOATING}
"""Largest relative error of one addition. All add in float32; tensor cores round towards zero, and
those of Hopper keep about 14 bits of a sum of fp8 products (DeepSeek-V3 technical report, 3.3.2).
"""

LIBRARY = 4 * 2.0**-24
"""Relative error of a library's exp, tanh, sigmoid, quotient or root, computed in float32."""

CONFIDENCE = 8.0
"""How many times its natural growth the accumulated rounding error is allowed to reach."""


def accumulated(precision: str, terms: float) -> float:
    """Return the error of a sum of so many products, as a part of its wander."""
    return float(CONFIDENCE * np.sqrt(terms + 2) * ADDER[precision])


def allowed(precision: str, terms: float, wander: np.ndarray, stored: np.ndarray) -> np.ndarray:
    """Return the error allowed at each entry, zeros for int8.

    terms: how many products an entry adds up; wander: see above; stored: the sum of the
    magnitudes of all that is rounded to the precision on the way to the entry.
    """
    if precision == "int8":
        return np.zeros(wander.shape, dtype=np.int64)
    accumulating = accumulated(precision, terms) * wander
    return np.asarray(accumulating + UNIT_ROUNDOFF[precision] * stored + SMALLEST[precision])
