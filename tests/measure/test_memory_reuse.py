"""Memory that a check frees is used again by the same check, and by nothing timed."""

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from deepbench_ops.measure.memory_reuse import freed_memory_kept

BYTES = 2**26

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallopt"), reason="a C library without mallopt"
)


def in_the_heap():
    """Return whether a new large array lies in the heap, whose freed memory is kept."""
    address = np.ones(BYTES, np.uint8).ctypes.data
    for line in Path("/proc/self/maps").read_text().splitlines():
        if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) .*\[heap\]", line):
            return int(found[1], 16) <= address < int(found[2], 16)
    return False


def test_arrays_lie_in_the_heap_during_the_block_alone():
    """Also after a block that ends with an error, arrays have memory of their own again."""
    places = [in_the_heap()]
    with freed_memory_kept():
        places.append(in_the_heap())
    places.append(in_the_heap())
    with pytest.raises(ValueError, match="wrong"), freed_memory_kept():
        places.append(in_the_heap())
        raise ValueError("wrong")
    places.append(in_the_heap())
    assert [False, True, False, True, False] == places
