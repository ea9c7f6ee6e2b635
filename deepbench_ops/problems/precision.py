"""The precisions that a result may name, and the bytes of an element of each in memory.

A precision says how numbers are stored, multiplied and added: `float16` is 16-bit products added
in 32 bits, `int8` is 8-bit products added into 32-bit integers, `tf32` is float32 in memory with a
19-bit multiplier.

Names of two parts, such as `bfloat16_int4`, are the types of the activations and of the weights:
weights are widened to the type of the activations, multiplied in this type and added in float32.
Names that end with `row` and `block` say which values share a scale. Scales are no elements: their
bytes are counted by the problem that has them (`Problem.bytes`).

| name | activations | weights | scales | products, sums | result |
|---|---|---|---|---|---|
| float32_int4, bfloat16_int4 | that type | int4 | a group of k | that type, float32 | that type |
| float32_mxfp4, bfloat16_mxfp4 | that type | fp4 e2m1 | e8m0, 32 of k | the same | that type |
| int8_row | int8, from bfloat16 | int8 | a row of each | int8, int32 | bfloat16 |
| fp8_row | fp8 e4m3 | fp8 e4m3 | a row of each | fp8, float32 | bfloat16 |
| fp8_block | fp8 e4m3 | fp8 e4m3 | 1 x 128 and 128 x 128 | fp8, float32 | bfloat16 |
| mxfp8 | fp8 e4m3 | fp8 e4m3 | e8m0, 32 of k | fp8, float32 | bfloat16 |
| mxfp4 | fp4 e2m1 | fp4 e2m1 | e8m0, 32 of k | fp4, float32 | bfloat16 |

Formats: OCP Microscaling Formats (MX) v1.0 and OCP 8-bit Floating Point v1.0.
"""

from dataclasses import dataclass

from deepbench_ops.problems.suggestions import unknown


@dataclass(frozen=True)
class Precision:
    """Bytes of one input element, output element and weight, and their types.

    weights: bytes of a weight, if its type is another than that of the other inputs. result:
    precision of stored results and of drawn operands that are not quantised; "" for itself.
    product: precision whose peak limits the kernel; "" for itself.
    """

    name: str
    input_bytes: float
    output_bytes: float
    weights: float | None = None
    result: str = ""
    product: str = ""

    @property
    def weight_bytes(self) -> float:
        """Bytes of an element of a weight, without scales."""
        return self.input_bytes if self.weights is None else self.weights


TABLE = {
    precision.name: precision
    for precision in (
        Precision("float32", 4, 4),
        Precision("tf32", 4, 4),
        Precision("bfloat16", 2, 2),
        Precision("float16", 2, 2),
        Precision("int8", 1, 4),
        Precision("float32_int4", 4, 4, 0.5, result="float32", product="float32"),
        Precision("bfloat16_int4", 2, 2, 0.5, result="bfloat16", product="bfloat16"),
        Precision("float32_mxfp4", 4, 4, 0.5, result="float32", product="float32"),
        Precision("bfloat16_mxfp4", 2, 2, 0.5, result="bfloat16", product="bfloat16"),
        Precision("int8_row", 2, 2, 1, result="bfloat16", product="int8"),
        Precision("fp8_row", 1, 2, result="bfloat16", product="fp8"),
        Precision("fp8_block", 1, 2, result="bfloat16", product="fp8"),
        Precision("mxfp8", 1, 2, result="bfloat16", product="fp8"),
        Precision("mxfp4", 0.5, 2, result="bfloat16", product="fp4"),
    )
}
PRECISIONS = ("float32", "tf32", "bfloat16", "float16", "int8")
"""Precisions of a family that declares no others."""

ALL_PRECISIONS = tuple(TABLE)
"""All precisions that a result may have, except MIXED."""

MIXED = "float32_mixed"
"""A precision of published sheets only: float32 operands that the library multiplies in 16
bits."""


def precision(name: str) -> Precision:
    """Return the precision of this name; raise DeepbenchError with similar names if none exists."""
    if name not in TABLE:
        raise unknown("precision", name, ALL_PRECISIONS)
    return TABLE[name]


def result_type(name: str) -> str:
    """Return the precision of stored results, such as bfloat16 for bfloat16_int4."""
    return precision(name).result or name


def multiplied(name: str) -> str:
    """Return the precision of the products, whose peak limits the kernel: float16 for MIXED.

    An unknown name is returned as it is.
    """
    if name == MIXED:
        return "float16"
    return TABLE[name].product or name if name in TABLE else name


def stored(name: str) -> str:
    """Return the precision of operands in memory, which gives the bytes: float32 for MIXED."""
    return "float32" if name == MIXED else name


def groups(names: tuple[str, ...] = PRECISIONS) -> tuple[tuple[str, ...], ...]:
    """Return the names in groups with the same bytes per element, and so the same intensities."""
    found: dict[tuple[object, ...], list[str]] = {}
    for name in names:
        weight = precision(name)
        scaled = name if name not in PRECISIONS else ""  # the number of scales differs
        key = (weight.input_bytes, weight.output_bytes, scaled)
        found.setdefault(key, []).append(name)
    return tuple(tuple(group) for group in found.values())
