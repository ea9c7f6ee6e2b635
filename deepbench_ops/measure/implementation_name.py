"""Name of the library code that computed a kernel, for its record.

A framework chooses among several implementations of one operation: cores of a BLAS, primitives of
oneDNN, custom calls of XLA. Which one it took has no noise, and often explains a change.
"""

import os

from deepbench_ops.backends.kernel import Kernel

VARIABLE = "DEEPBENCH_NAMES"
"""Environment variable: with 0 no implementation is asked for."""

LONGEST_CALL = 1.0
"""Seconds of a call from which no implementation is asked for: finding it may take one more."""

LONGEST_NAME = 200
"""Characters of a stored name."""


def is_asked() -> bool:
    """Return whether names of implementations are asked for."""
    return os.environ.get(VARIABLE) != "0"


def implementation_of(kernel: Kernel, call_seconds: float) -> str:
    """Return which implementation computes a kernel whose call takes so many seconds.

    "" where that is not known, or asking could take too long. For use after the last timed call.
    """
    if call_seconds > LONGEST_CALL or not is_asked():
        return ""
    try:
        found = kernel.implementation()
    except Exception:  # a name from a library's private corners is not worth a measurement
        return ""
    return " ".join(found.split())[:LONGEST_NAME]
