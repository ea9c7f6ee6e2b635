"""Operands: random, seeded, the same whatever the framework, already rounded to the precision.

Zero-filled operands run faster than real ones on hardware that saves power on them, so nothing
here is zero. Values come from the raw bits of a bit generator rather than from numpy's
distributions, because only the former are promised to stay the same from one numpy release to
the next, and because turning bits into numbers is fast enough for hundreds of megabytes.

Rounding happens here, before any reference is computed: a kernel is then judged by what it does
with its operands and not by what the conversion lost.
"""

from dataclasses import dataclass

import numpy as np

from deepbench_ops.problems import precision as precisions
from deepbench_ops.problems.gemm import Gemm

ALIGNMENT = 64
"""Bytes. numpy promises 16 only: which 16 differs from process to process, and so do timings."""

INT32_INITIAL = 2**15
"""The int32 output starts out uniform in [-INT32_INITIAL, INT32_INITIAL)."""

_DROPPED_BITS = {"tf32": 13, "bfloat16": 16}


@dataclass(frozen=True)
class GemmInputs:
    """The operands of C = A·B + C as numpy views of column-major storage, 64-byte aligned.

    `a` is op(A), m x k: a transposed view of k x m storage where the published operand is
    transposed; `b` is op(B), k x n, likewise; `c` is the initial C, m x n. Precisions that numpy
    lacks (tf32, bfloat16) are float32 arrays holding values of that precision; int8 has an
    int32 `c`.
    """

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    notes: dict[str, str]


def gemm_inputs(problem: Gemm, precision: str, seed: int = 0) -> GemmInputs:
    """Draw the operands of `problem` in `precision`.

    Floating-point A and B are uniform in [-h, h) with h = (9/k)^(1/4), which gives the entries
    of A·B unit variance whatever k is: accumulating again and again can then not overflow even
    float16, whose sums stop growing near 2^12 times the product that is added. C is uniform in
    [-1, 1). int8 operands are uniform over the full range -128..127. Raises DeepbenchError for
    an unknown precision.
    """
    precisions.precision(precision)
    m, n, k = problem.m, problem.n, problem.k
    shapes = (
        (m, k) if problem.a_transposed else (k, m),
        (k, n) if problem.b_transposed else (n, k),
        (n, m),
    )
    if precision == "int8":
        a, b = (_int8(shape, seed, stream) for stream, shape in enumerate(shapes[:2]))
        c = _int32(shapes[2], seed, 2)
        drawn = f"A, B uniform in -128..127, C in {-INT32_INITIAL}..{INT32_INITIAL - 1}"
    else:
        half_width = (9 / k) ** 0.25
        a, b = (
            _floats(shape, precision, half_width, seed, stream)
            for stream, shape in enumerate(shapes[:2])
        )
        c = _floats(shapes[2], precision, 1.0, seed, 2)
        drawn = f"A, B uniform in +-{half_width:.4g} = (9/k)^(1/4), C in +-1"
    return GemmInputs(
        a=a if problem.a_transposed else a.T,
        b=b if problem.b_transposed else b.T,
        c=c.T,
        notes={
            "inputs": f"{drawn}; raw bits of SFC64, seed {seed}",
            "layout": "column-major, A stored "
            f"{'k x m' if problem.a_transposed else 'm x k'}, B stored "
            f"{'n x k' if problem.b_transposed else 'k x n'}",
        },
    )


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype | type) -> np.ndarray:
    """Return an uninitialised C-contiguous array that starts at a multiple of ALIGNMENT bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


def random_bits(size: int, seed: int, stream: int) -> np.ndarray:
    """Return `size` random bytes (uint8); every (seed, stream) is a sequence of its own."""
    generator = np.random.SFC64(np.random.SeedSequence([seed, stream]))
    words = np.asarray(generator.random_raw(-(-size // 8)), dtype="<u8")
    return words.view(np.uint8)[:size]


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


def _floats(
    shape: tuple[int, int], precision: str, half_width: float, seed: int, stream: int
) -> np.ndarray:
    size = shape[0] * shape[1]
    integers = random_bits(4 * size, seed, stream).view(np.int32).reshape(shape)
    values = aligned_empty(shape, np.float32)
    np.multiply(
        integers, np.float32(half_width / 2**31), out=values, dtype=np.float32, casting="unsafe"
    )
    return round_to(values, precision)


def _int8(shape: tuple[int, int], seed: int, stream: int) -> np.ndarray:
    values = aligned_empty(shape, np.int8)
    values[...] = random_bits(values.size, seed, stream).view(np.int8).reshape(shape)
    return values


def _int32(shape: tuple[int, int], seed: int, stream: int) -> np.ndarray:
    values = aligned_empty(shape, np.int32)
    values[...] = random_bits(2 * values.size, seed, stream).view(np.int16).reshape(shape)
    return values
