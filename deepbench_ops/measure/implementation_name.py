"""Name of the library code that computed a kernel, for its record.

A framework chooses among several implementations of one operation: cores of a BLAS, primitives of
oneDNN, custom calls of XLA. Which one it took has no noise, and often explains a change.
"""

from deepbench_ops.backends.kernel import Kernel

LONGEST_CALL = 1.0
"""Seconds of a call from which no implementation is asked for: finding it may take one more."""

LONGEST_NAME = 200
"""Characters of a stored name."""


def implementation_of(kernel: Kernel, call_seconds: float) -> str:
    """Return which implementation computes a kernel whose call takes so many seconds.

    "" where that is not known, or asking could take too long. For use after the last timed call.
    """
    if call_seconds > LONGEST_CALL:
        return ""
    try:
        found = kernel.implementation()
    except Exception:  # a name from a library's private corners is not worth a measurement
        return ""
    return " ".join(found.split())[:LONGEST_NAME]
