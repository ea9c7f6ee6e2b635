"""Number formats of 8 and 4 bits that numpy lacks, and values quantised to them in blocks.

fp8 is e4m3 of OCP 8-bit Floating Point v1.0 (finite numbers and NaN, largest 448). fp4 is e2m1 and
the exponents are e8m0 of OCP Microscaling Formats v1.0. Rounding is to the nearest, ties to even;
values beyond the largest number become that number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deepbench_ops.random_operands import round_to

LARGEST = {"int8": 127.0, "int4": 7.0, "fp8": 448.0, "fp4": 6.0}
"""Largest number of a format; for integers the largest whose negative exists as well."""

GREATEST_EXPONENT = {"fp8": 8, "fp4": 2}
"""Exponent of the largest number of a format."""

EXPONENT_BIAS = 127
PIECE = 2**22
"""Number of values that are quantised at a time."""

FP4_VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
FP4_BOUNDS = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5], np.float32)
"""The numbers of fp4 without their signs, and the midpoints between neighbours."""


def _fp8_values() -> np.ndarray:
    """Return the number of each code of e4m3: 7 is the bias, below 2^-6 numbers are subnormal."""
    codes = np.arange(256)
    exponent, fraction = (codes >> 3) & 15, codes & 7
    size = np.where(
        exponent == 0, fraction * 2.0**-9, (8 + fraction) * 2.0 ** (exponent.astype(float) - 10)
    )
    size[(codes & 127) == 127] = np.nan
    return np.where(codes & 128, -size, size).astype(np.float32)


VALUES = {
    "fp8": _fp8_values(),
    "fp4": np.concatenate([FP4_VALUES, -FP4_VALUES]),
}
"""The number of each code."""


def fp8_codes(values: np.ndarray) -> np.ndarray:
    """Return the e4m3 codes (uint8) of finite float32 values."""
    size = np.minimum(np.abs(values), np.float32(LARGEST["fp8"]))
    exponent = np.maximum(np.frexp(size)[1] - 1, -6)
    steps = np.rint(np.ldexp(size, 3 - exponent)).astype(np.int32)
    carried = np.where(steps == 16, 8, steps), exponent + (steps == 16)
    normal = ((carried[1] + 7) << 3) + carried[0] - 8
    code = np.where(carried[0] < 8, carried[0], normal)
    return (code | (np.signbit(values).astype(np.int32) << 7)).astype(np.uint8)


def fp4_codes(values: np.ndarray) -> np.ndarray:
    """Return the e2m1 codes (uint8, 0 to 15) of finite float32 values."""
    size = np.abs(values)
    above = np.searchsorted(FP4_BOUNDS, size, side="left")
    tied = np.isin(size, FP4_BOUNDS) & (above % 2 == 1)  # a tie goes to the even code
    return ((above + tied) | (np.signbit(values).astype(np.uint8) << 3)).astype(np.uint8)


def codes_of(values: np.ndarray, kind: str) -> np.ndarray:
    """Return the codes, of the same shape, of values already divided by their scale: int8, or uint8
    for fp8 and fp4."""
    if kind == "fp8":
        return fp8_codes(values)
    if kind == "fp4":
        return fp4_codes(values)
    return np.clip(np.rint(values), -LARGEST[kind] - 1, LARGEST[kind]).astype(np.int8)


def numbers_of(codes: np.ndarray, kind: str) -> np.ndarray:
    """Return the float32 numbers that codes stand for, of their shape and without a scale."""
    return VALUES[kind][codes] if kind in VALUES else codes.astype(np.float32)


def exponents(largest: np.ndarray, kind: str) -> np.ndarray:
    """Return the e8m0 exponents (uint8, biased by 127) of blocks with these largest magnitudes.

    floor(log2(largest)) less the greatest exponent of the format (OCP Microscaling Formats v1.0,
    section 6.3).
    """
    found = np.frexp(largest)[1] - 1 - GREATEST_EXPONENT[kind] + EXPONENT_BIAS
    return np.clip(np.where(largest > 0, found, 0), 0, 254).astype(np.uint8)


def powers(biased: np.ndarray) -> np.ndarray:
    """Return the scales, powers of two as float32, of biased e8m0 exponents."""
    return np.ldexp(np.float32(1), biased.astype(np.int32) - EXPONENT_BIAS)


def scales_of(largest: np.ndarray, kind: str, scale_type: str) -> np.ndarray:
    """Return the float32 scales of blocks with these largest magnitudes.

    scale_type: "float32" or "bfloat16" for largest / LARGEST rounded to that precision, "e8m0" for
    powers of two. A block of zeros has the scale 1 (in e8m0 the smallest scale).
    """
    if scale_type == "e8m0":
        return powers(exponents(largest, kind))
    found = (largest / np.float32(LARGEST[kind])).astype(np.float32)
    found[found == 0] = 1
    return round_to(np.ascontiguousarray(found), scale_type)


def block_maxima(values: np.ndarray, block: tuple[int, int]) -> np.ndarray:
    """Return the largest magnitude in each block of a matrix; blocks at its ends may be cut off."""
    size = np.abs(values)
    down = np.maximum.reduceat(size, np.arange(0, values.shape[0], block[0]), axis=0)
    return np.maximum.reduceat(down, np.arange(0, values.shape[1], block[1]), axis=1)


@dataclass(frozen=True)
class Quantised:
    """A matrix in codes with a scale for each block.

    codes: rows x columns, int8 for integers, else uint8, one code in each byte. scales: float32,
    one for each block. kind: format, a key of LARGEST. block: rows and columns of a block. error:
    root mean square of the rounding errors, divided by that of the matrix.
    """

    codes: np.ndarray
    scales: np.ndarray
    kind: str
    block: tuple[int, int]
    error: float

    def rows(self, which: Any = slice(None)) -> np.ndarray:
        """Return rows of the matrix, dequantised, as float64."""
        wanted = np.arange(self.codes.shape[0])[which]
        numbers = numbers_of(self.codes[wanted], self.kind).astype(np.float64)
        return numbers * self.expanded_scales(wanted)

    def expanded_scales(self, rows: np.ndarray) -> np.ndarray:
        """Return the scale of each entry of some rows: (rows, columns of the matrix)."""
        columns = np.arange(self.codes.shape[1]) // self.block[1]
        return self.scales[rows // self.block[0]][:, columns]


def quantised(
    values: np.ndarray, kind: str, block: tuple[int, int], scale_type: str = "float32"
) -> Quantised:
    """Quantise a float32 matrix in blocks, each by its largest magnitude."""
    rows, columns = values.shape
    codes = np.empty(values.shape, np.int8 if kind.startswith("int") else np.uint8)
    scales, off, whole = [], 0.0, 0.0
    for part in _pieces(rows, columns, block[0]):
        wide = values[part].astype(np.float32, copy=False)
        found = scales_of(block_maxima(wide, block), kind, scale_type)
        scales.append(found)
        each = np.repeat(found, block[0], axis=0)[: len(wide)]
        each = np.repeat(each, block[1], axis=1)[:, :columns]
        codes[part] = codes_of(wide / each, kind)
        lost = numbers_of(codes[part], kind) * each - wide
        off += float(np.vdot(lost, lost))
        whole += float(np.vdot(wide, wide))
    return Quantised(codes, np.concatenate(scales), kind, block, (off / (whole or 1.0)) ** 0.5)


def _pieces(rows: int, columns: int, multiple: int) -> Iterator[slice]:
    """Yield slices of rows with about PIECE values each, in whole blocks of `multiple` rows."""
    step = max(PIECE // columns // multiple, 1) * multiple
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def packed_pairs(codes: np.ndarray) -> np.ndarray:
    """Return two codes of 4 bits in each byte, the first of a pair in the lower half."""
    low = codes.astype(np.uint8) & np.uint8(15)
    return np.ascontiguousarray(low[..., 0::2] | (low[..., 1::2] << np.uint8(4)))
