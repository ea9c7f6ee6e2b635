"""Operands: arrays in small pages, for numbers that are converted before anything is timed."""

import mmap
import re
from pathlib import Path

import numpy as np
import pytest

from deepbench_ops.random_operands import (
    ALIGNMENT,
    HUGE_FROM,
    floats,
    round_to,
    small_page_empty,
)


def flags_of_memory(address):
    """Return the kernel's flags of the mapping at an address, such as "nh" for no huge pages."""
    flags = None
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            flags = int(found[1], 16) <= address < int(found[2], 16)
        elif flags and line.startswith("VmFlags:"):
            return line.split()[1:]
    raise AssertionError(f"no mapping at {address:x}")


@pytest.mark.parametrize("rows", [3, HUGE_FROM // 400 + 1])
def test_an_array_in_small_pages_is_like_any_other(rows):
    """It can be written, is aligned, and holds its numbers."""
    found = small_page_empty((rows, 100), np.float32)
    found[...] = np.arange(100)
    assert ((rows, 100), np.float32) == (found.shape, found.dtype)
    assert found.flags.c_contiguous
    assert 0 == found.ctypes.data % ALIGNMENT
    assert np.array_equal(found[-1], np.arange(100))


@pytest.mark.skipif(
    not hasattr(mmap, "MADV_NOHUGEPAGE")
    or not Path("/sys/kernel/mm/transparent_hugepage").exists(),
    reason="a system without huge pages",
)
def test_numbers_of_bfloat16_are_drawn_into_small_pages():
    """Their memory is not advised to be huge; that of float32, which kernels read, is untouched."""
    size = (HUGE_FROM,)
    assert "nh" in flags_of_memory(floats(size, "bfloat16", 1.0, 0, 0).ctypes.data + 4096)
    assert "nh" not in flags_of_memory(floats(size, "float32", 1.0, 0, 0).ctypes.data + 4096)


def test_numbers_of_bfloat16_are_rounded_float32():
    """The pages change no bit."""
    shape = (3, HUGE_FROM)
    expected = round_to(floats(shape, "float32", 2.0, 5, 1), "bfloat16")
    assert np.array_equal(expected, floats(shape, "bfloat16", 2.0, 5, 1))
