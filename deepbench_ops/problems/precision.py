"""The precisions that a result may name, and what an element of each weighs in memory.

A precision says how numbers are multiplied and how they are added up: `float16` is 16-bit
products added in 32 bits, `int8` is 8-bit products added into 32-bit integers, `tf32` is
float32 in memory with a 19-bit multiplier. Only the weight in memory matters here.
"""

from dataclasses import dataclass

from deepbench_ops.problems.suggestions import unknown


@dataclass(frozen=True)
class Precision:
    """Name, bytes of one input element, bytes of one output element."""

    name: str
    input_bytes: int
    output_bytes: int


TABLE = {
    precision.name: precision
    for precision in (
        Precision("float32", 4, 4),
        Precision("tf32", 4, 4),
        Precision("bfloat16", 2, 2),
        Precision("float16", 2, 2),
        Precision("int8", 1, 4),
    )
}
PRECISIONS = tuple(TABLE)

MIXED = "float32_mixed"
"""A precision of published sheets only: float32 operands that the library multiplies in 16
bits."""


def precision(name: str) -> Precision:
    """The precision of that name; DeepbenchError, naming the nearest, when there is none."""
    if name not in TABLE:
        raise unknown("precision", name, PRECISIONS)
    return TABLE[name]


def multiplied(name: str) -> str:
    """The precision that products are made in, whose peak is the kernel's: of MIXED, float16."""
    return "float16" if name == MIXED else name


def stored(name: str) -> str:
    """The precision that operands lie in memory in, whose bytes are the kernel's: of MIXED,
    float32."""
    return "float32" if name == MIXED else name


def groups(names: tuple[str, ...] = PRECISIONS) -> tuple[tuple[str, ...], ...]:
    """The names, those of equal weight together: their bytes and intensities are the same."""
    found: dict[tuple[int, int], list[str]] = {}
    for name in names:
        weight = precision(name)
        found.setdefault((weight.input_bytes, weight.output_bytes), []).append(name)
    return tuple(tuple(group) for group in found.values())
