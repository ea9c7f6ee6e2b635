"""Linear layers: y = x·Wᵀ (+ b), and the gradients of x and of W (and b)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import MODERN_SETS, Problem, computed


@dataclass(frozen=True)
class LinearLayer(Problem):
    """y (m x n) = x (m x k) · Wᵀ (W is n x k), row-major, with b (n) added where `bias`.

    m: tokens; n: outputs; k: inputs. Nothing is accumulated into y, unlike in `Gemm`.
    """

    family: ClassVar[str] = "linear_layer"
    position: ClassVar[int] = 60
    id_pattern: ClassVar[str] = r"linear_m(?P<m>\d+)_n(?P<n>\d+)_k(?P<k>\d+)(?P<bias>_bias)?"
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward_input", "backward_weight")
    precisions: ClassVar[tuple[str, ...]] = ("float32", "tf32", "bfloat16", "float16")
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("linear_m1_n28672_k4096", "linear_m128_n6144_k4096"),
    }
    headline_reason: ClassVar[str] = (
        "one token, which is limited by bandwidth; 128 tokens, which are limited by arithmetic"
    )

    m: Annotated[int, "tokens: rows of x and y"]
    n: Annotated[int, "outputs: columns of y"]
    k: Annotated[int, "inputs: columns of x"]
    bias: Annotated[bool, "a bias is added to each output"] = False

    @property
    def id(self) -> str:
        """Id such as linear_m128_n6144_k4096, with _bias at the end for a layer with a bias."""
        return f"linear_m{self.m}_n{self.n}_k{self.k}{'_bias' if self.bias else ''}"

    @property
    def title(self) -> str:
        """Title such as "linear layer of 4096 inputs, 6144 outputs, 128 tokens"."""
        bias = ", bias" if self.bias else ""
        return f"linear layer of {self.k} inputs, {self.n} outputs, {self.m} tokens{bias}"

    @property
    def flops(self) -> int:
        """2mnk for each of the three operations. Additions of the bias, and for its gradient, do
        not count."""
        return 2 * self.m * self.n * self.k

    @property
    def items(self) -> int:
        """m, the number of tokens."""
        return self.m

    def traffic(self) -> tuple[int, int]:
        """x, W and b read once, y written once."""
        return self.m * self.k + self.n * self.k + self.n * self.bias, self.m * self.n

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of the two matrices that an operation reads and of the one that it writes.

        The gradient of W comes with that of b, where there is a bias.
        """
        weight = precision(name)
        sizes = {"x": self.m * self.k, "w": self.n * self.k, "y": self.m * self.n}
        written = {"forward": "y", "backward_input": "x", "backward_weight": "w"}[
            computed(operation)
        ]
        result = sizes.pop(written)
        read = sum(sizes.values())
        if written == "w":
            result += self.n * self.bias
        elif written == "y":
            read += self.n * self.bias
        return read * weight.input_bytes + result * weight.output_bytes
