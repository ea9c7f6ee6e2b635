"""Memory that a check frees is used again by the same check, and by nothing timed."""

import ctypes
import subprocess
import sys

import pytest

PROGRAM = r"""
import re
from pathlib import Path

import numpy as np

from deepbench_ops.measure.memory_reuse import freed_memory_kept

def in_the_heap():
    address = np.ones(2**26, np.uint8).ctypes.data
    for line in Path("/proc/self/maps").read_text().splitlines():
        if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) .*\[heap\]", line):
            return int(found[1], 16) <= address < int(found[2], 16)
    return False

places = [in_the_heap()]
with freed_memory_kept():
    places.append(in_the_heap())
places.append(in_the_heap())
try:
    with freed_memory_kept():
        places.append(in_the_heap())
        raise ValueError
except ValueError:
    places.append(in_the_heap())
print(places)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="no mallopt in the C library")
def test_arrays_lie_in_the_heap_during_the_block_alone():
    """Also after a block that ends with an error, arrays have memory of their own again.

    In a new process, whose heap has room.
    """
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "[False, True, False, True, False]\n" == done.stdout
