"""Whether the processor adds products of 8 bits up in 32.

x86 without VNNI adds them in pairs in 16 bits, where two large ones are cut off: sums of full-range
operands are wrong, by as much as they are large.
"""

import platform
import re
from functools import cache
from pathlib import Path

FLAG = re.compile(r"\bavx(512)?_vnni\b")
"""Names of the instruction among a processor's flags."""


@cache
def adds_in_32_bits() -> bool:
    """Return whether the processor adds 8-bit products up without loss; True if unknown."""
    try:
        flags = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return True
    return platform.machine() not in ("x86_64", "AMD64") or bool(FLAG.search(flags))
