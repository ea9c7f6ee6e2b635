"""Linear layers of language models with quantised operands: y = x·Wᵀ in 8 and 4 bits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import MODERN_SETS, Problem

MX_BLOCK = 32
"""Values that share a scale in the MX formats (OCP Microscaling Formats v1.0, table 1)."""

FP8_BLOCK = 128
"""Values along k, and rows of weights, that share a scale in fp8_block (DeepSeek-V3 technical
report, section 3.3.2)."""

FLOAT_BYTES = 4
EXPONENT_BYTES = 1
"""Bytes of a scale: float32, or the 8-bit exponent (e8m0) of the MX formats."""


@dataclass(frozen=True)
class QuantisedLinear(Problem):
    """y (m x n) = x (m x k) · Wᵀ (W n x k), row-major: m tokens, n outputs, k inputs.

    group: number of weights along k that share a scale in the int4 precisions. In the other
    precisions this number is fixed.
    """

    family: ClassVar[str] = "quantised_linear"
    position: ClassVar[int] = 120
    heading: ClassVar[str] = "quantised linear layer"
    id_pattern: ClassVar[str] = r"m(?P<m>\d+)_n(?P<n>\d+)_k(?P<k>\d+)_g(?P<group>\d+)"
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    precisions: ClassVar[tuple[str, ...]] = (
        "int8_row",
        "float32_int4",
        "bfloat16_int4",
        "float32_mxfp4",
        "bfloat16_mxfp4",
        "fp8_row",
        "fp8_block",
        "mxfp8",
        "mxfp4",
    )
    operations: ClassVar[tuple[str, ...]] = (
        "forward",
        "dequantised_forward",
        "fused_forward",
        "library_forward",
    )
    """The product by a kernel for quantised operands; the same product with the operands widened
    in every call; a framework's own layer that quantises the activations with one scale; the layer
    of a library of quantised layers for the framework."""
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("m1_n4096_k4096_g32", "m128_n4096_k7168_g32"),
    }
    headline_reason: ClassVar[str] = (
        "one token, whose time is that of reading the weights; a batch of prompts "
    )

    m: Annotated[int, "tokens: rows of x and y"]
    n: Annotated[int, "outputs: columns of y"]
    k: Annotated[int, "inputs: columns of x"]
    group: Annotated[int, "weights along k that share a scale, in the int4 precisions"] = 32

    @property
    def id(self) -> str:
        """Id such as m1_n1280_k8192_g32."""
        return f"m{self.m}_n{self.n}_k{self.k}_g{self.group}"

    @property
    def title(self) -> str:
        """Title such as "quantised linear layer, 1 token, 8192 to 1280, groups of 32"."""
        tokens = "token" if self.m == 1 else "tokens"
        return (
            f"quantised linear layer, {self.m} {tokens}, {self.k} to {self.n}, groups of"
            f" {self.group}"
        )

    def impossible(self) -> str:
        """Reason for groups that do not divide k."""
        fits = self.k % self.group == 0
        return "" if fits else f"the group size {self.group} does not divide k = {self.k}"

    @property
    def flops(self) -> int:
        """2·m·n·k. Neither quantising nor widening is counted."""
        return 2 * self.m * self.n * self.k

    @property
    def items(self) -> int:
        """m, the number of tokens."""
        return self.m

    def traffic(self) -> tuple[int, int]:
        """Both operands read once, y written once; without scales, see `bytes`."""
        return self.m * self.k + self.n * self.k, self.m * self.n

    def bytes(self, name: str) -> float:
        """x, W and their scales read once, y written once.

        Scales that the call itself computes (of the activations in int8_row) do not count.
        """
        weight = precision(name)
        return (
            self.m * self.k * weight.input_bytes
            + self.n * self.k * weight.weight_bytes
            + self.m * self.n * weight.output_bytes
            + self.scale_bytes(name)
        )

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of an operation; a framework's own layer takes and returns float32."""
        if operation != "fused_forward":
            return self.bytes(name)
        weight, ends = precision(name), self.m * (self.k + self.n) * FLOAT_BYTES
        return ends + self.n * self.k * weight.weight_bytes + self.scale_bytes(name)

    def scale_bytes(self, name: str) -> float:
        """Bytes of all scales that are read at the precision `name`.

        int4: one of the activations' type for each group; mxfp4 with wider activations: an exponent
        for each 32 weights of a row; int8_row: float32 for each row of W; fp8_row: for each row of
        x and W; fp8_block: for each 1 x 128 of x and 128 x 128 of W; mxfp8, mxfp4: an exponent for
        each 32 of a row of x and of W. The last block of a row may be smaller.
        """
        m, n, k = self.m, self.n, self.k
        across, blocks = -(-k // FP8_BLOCK), -(-k // MX_BLOCK)
        counted = {
            "float32_int4": n * k / self.group * FLOAT_BYTES,
            "bfloat16_int4": n * k / self.group * precision("bfloat16").input_bytes,
            "float32_mxfp4": n * blocks * EXPONENT_BYTES,
            "bfloat16_mxfp4": n * blocks * EXPONENT_BYTES,
            "int8_row": n * FLOAT_BYTES,
            "fp8_row": (m + n) * FLOAT_BYTES,
            "fp8_block": (m + -(-n // FP8_BLOCK)) * across * FLOAT_BYTES,
            "mxfp8": (m + n) * blocks * EXPONENT_BYTES,
            "mxfp4": (m + n) * blocks * EXPONENT_BYTES,
        }
        return counted.get(name, 0.0)
