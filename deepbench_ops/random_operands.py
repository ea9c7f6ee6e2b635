"""Operands: random, seeded, the same whatever the framework, already rounded to the precision.

Zero-filled operands run faster than real ones on hardware that saves power on them, so nothing
here is zero. Values come from the raw bits of a bit generator rather than from numpy's
distributions, because only the former are promised to stay the same from one numpy release to
the next, and because turning bits into numbers is fast enough for hundreds of megabytes.

Rounding happens here, before any reference is computed: a kernel is then judged by its own
errors and not by those of the conversion.
"""

import mmap
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import numpy as np
from numpy import random  # now, before anything forks: numpy waits until it is used

Put = Callable[[np.ndarray, np.ndarray], object]

ALIGNMENT = 64
"""Bytes. numpy promises 16 only: which 16 differs from process to process, and so do timings."""

HUGE_FROM = 2**22
"""Bytes of an array from which numpy asks for huge pages."""

INT32_INITIAL = 2**15
"""The int32 output starts out uniform in [-INT32_INITIAL, INT32_INITIAL)."""

PIECE_BYTES = 2**20
"""A multiple of the words that the generator makes."""

PART = 2**22
"""Values that are drawn as one sequence."""

_DROPPED_BITS = {"tf32": 13, "bfloat16": 16}


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
    """Return an uninitialised C-contiguous array that starts at a multiple of ALIGNMENT bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


def small_page_empty(shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
    """Return an uninitialised C-contiguous array in small pages, for numbers that no timed call
    reads.

    numpy asks the system for huge pages. On a virtual machine the first touch of a gigabyte in huge
    pages may take 2.4 s, and 0.4 s in small ones.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if size < HUGE_FROM:
        return aligned_empty(shape, dtype)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(AttributeError, OSError):  # a system without huge pages
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, dtype).reshape(shape)


def random_bits(size: int, seed: int, stream: int) -> np.ndarray:
    """Return `size` random bytes (uint8); every (seed, stream) is a sequence of its own."""
    pieces = list(_pieces(size, seed, stream))
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _pieces(size: int, *draw: int) -> Iterator[np.ndarray]:
    """Yield `size` random bytes in pieces that stay in the cache.

    A gigabyte at once would come from fresh memory, whose first touch costs ten times more
    than drawing the numbers.
    """
    generator = random.SFC64(random.SeedSequence(draw))
    for start in range(0, max(size, 1), PIECE_BYTES):
        wanted = min(PIECE_BYTES, size - start)
        words = np.asarray(generator.random_raw(-(-wanted // 8)), dtype="<u8")
        yield words.view(np.uint8)[:wanted]


def _fill(values: np.ndarray, bits_type: type, put: Put, *draw: int) -> np.ndarray:
    """Fill contiguous `values` by `put`ting random integers of `bits_type` there, part by part.

    Parts are sequences of their own, so that all processors can draw: most of the time goes into
    the first touch of the memory.
    """
    flat = values.reshape(-1)
    parts = [flat[start : start + PART] for start in range(0, flat.size, PART)]
    sequences = [draw, *((*draw, number) for number in range(1, len(parts)))]
    if len(parts) == 1:
        _fill_part(bits_type, put, flat, draw)
    else:
        with ThreadPoolExecutor(os.cpu_count()) as crew:
            list(crew.map(partial(_fill_part, bits_type, put), parts, sequences))
    return values


def _fill_part(bits_type: type, put: Put, part: np.ndarray, draw: tuple[int, ...]) -> None:
    start = 0
    for piece in _pieces(np.dtype(bits_type).itemsize * part.size, *draw):
        integers: np.ndarray = piece.view(bits_type)
        put(part[start : start + integers.size], integers)
        start += integers.size


def round_to(values: np.ndarray, precision: str) -> np.ndarray:
    """Round float32 `values` to the nearest of `precision`, ties to even.

    Returns float16 for float16, else float32 (in place for tf32 and bfloat16). Finite values
    only.
    """
    if precision == "float16":
        rounded = aligned_empty(values.shape, np.float16)
        rounded[...] = values
        return rounded
    dropped = _DROPPED_BITS.get(precision, 0)
    if dropped:
        bits = values.view(np.uint32)
        odd = (bits >> dropped) & 1
        bits += odd + np.uint32((1 << (dropped - 1)) - 1)
        bits &= np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
    return values


def floats(
    shape: tuple[int, ...], precision: str, half_width: float, seed: int, stream: int
) -> np.ndarray:
    """Return values uniform in [-half_width, half_width), rounded to `precision`.

    Those of bfloat16 are float32 numbers, which each framework converts before it times anything.
    """
    factor = np.float32(half_width / 2**31)
    times = partial(np.multiply, dtype=np.float32, casting="unsafe")

    def put(part: np.ndarray, integers: np.ndarray) -> None:
        if precision == "float16":
            part[...] = times(integers, factor)
        else:
            round_to(times(integers, factor, out=part), precision)

    dtype = np.float16 if precision == "float16" else np.float32
    empty = small_page_empty if precision == "bfloat16" else aligned_empty
    return _fill(empty(shape, dtype), np.int32, put, seed, stream)


def int8(shape: tuple[int, ...], seed: int, stream: int) -> np.ndarray:
    """Return values uniform over the full range -128..127."""
    return _fill(aligned_empty(shape, np.int8), np.int8, np.copyto, seed, stream)


def int32(shape: tuple[int, ...], seed: int, stream: int) -> np.ndarray:
    """Return values uniform in [-INT32_INITIAL, INT32_INITIAL)."""
    return _fill(aligned_empty(shape, np.int32), np.int16, np.copyto, seed, stream)
