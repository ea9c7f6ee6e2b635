"""Quantisation: 16-bit numbers to codes of 8 or 4 bits and a scale for each block."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import MODERN_SETS, Problem, computed

WHOLE_ROW = 0
BLOCKS = {"int8_row": WHOLE_ROW, "fp8_row": WHOLE_ROW, "fp8_block": 128, "mxfp8": 32, "mxfp4": 32}
"""Count of numbers in a row that share a scale, by precision; WHOLE_ROW for all of them."""

CODE_BYTES = {"int8_row": 1, "fp8_row": 1, "fp8_block": 1, "mxfp8": 1, "mxfp4": 0.5}
SCALE_BYTES = {"int8_row": 4, "fp8_row": 4, "fp8_block": 4, "mxfp8": 1, "mxfp4": 1}

FLOPS_EACH = {"forward": 3, "norm_forward": 7}
"""FLOPs for each number, by operation: a comparison for the largest, a quotient and a rounding, and
for the norm a square, its addition and two products."""


@dataclass(frozen=True)
class Quantisation(Problem):
    """m rows of n bfloat16 numbers to codes and scales, in norm_forward after an RMSNorm."""

    family: ClassVar[str] = "quantisation"
    position: ClassVar[int] = 150
    id_pattern: ClassVar[str] = r"rows(?P<m>\d+)_columns(?P<n>\d+)"
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    precisions: ClassVar[tuple[str, ...]] = tuple(BLOCKS)
    operations: ClassVar[tuple[str, ...]] = ("forward", "norm_forward")
    """Quantise; normalise each row, multiply by a weight, and quantise."""
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("rows16_columns4096", "rows512_columns2048"),
    }
    headline_reason: ClassVar[str] = "the activations of 16 tokens; those of 512"

    m: Annotated[int, "rows"]
    n: Annotated[int, "numbers in a row"]

    @property
    def id(self) -> str:
        """Id such as rows1024_columns4096."""
        return f"rows{self.m}_columns{self.n}"

    @property
    def title(self) -> str:
        """Title such as "quantising 1024 rows of 4096"."""
        return f"quantising {self.m} {'row' if self.m == 1 else 'rows'} of {self.n}"

    @property
    def flops(self) -> int:
        """3·m·n: for each number a comparison, a quotient and a rounding."""
        return FLOPS_EACH["forward"] * self.m * self.n

    def flops_of(self, operation: str) -> float:
        """3·m·n, and 7·m·n with the norm."""
        return FLOPS_EACH.get(operation, 0) * self.m * self.n

    def multiplied(self, name: str) -> str:
        """Return float32: nothing is computed in the formats of the codes."""
        return "float32"

    @property
    def items(self) -> int:
        """m, the number of rows."""
        return self.m

    def traffic(self) -> tuple[int, int]:
        """Numbers read, codes written; see `bytes_of`."""
        return self.m * self.n, self.m * self.n

    def bytes(self, name: str) -> float:
        """Bytes of the first operation; see `bytes_of`."""
        return self.bytes_of(name, "forward")

    def bytes_of(self, name: str, operation: str) -> float:
        """Numbers of bfloat16 read (the norm's weight too), codes and scales written."""
        wide = precision("bfloat16").input_bytes
        across = BLOCKS.get(name, WHOLE_ROW) or self.n
        scales = self.m * -(-self.n // across) * SCALE_BYTES.get(name, 4)
        weight = self.n * wide if computed(operation) == "norm_forward" else 0
        codes = self.m * self.n * CODE_BYTES.get(name, 1)
        return self.m * self.n * wide + weight + codes + scales
