"""Test whether the processor adds up 8-bit products in 32 bits.

x86 processors without VNNI add pairs of products in 16 bits, which cuts off two large ones: sums of
full-range operands can be completely wrong.
"""

import platform
import re
from functools import cache
from pathlib import Path

FLAG = re.compile(r"\bavx(512)?_vnni\b")
"""Names of the instruction set among the flags of a processor."""


@cache
def adds_in_32_bits() -> bool:
    """Return whether the processor adds up 8-bit products exactly; True if unknown."""
    try:
        flags = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return True
    return platform.machine() not in ("x86_64", "AMD64") or bool(FLAG.search(flags))
