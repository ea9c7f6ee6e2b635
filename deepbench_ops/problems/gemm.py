"""Dense matrix products: C = op(A) op(B) + C."""

from dataclasses import dataclass
from typing import ClassVar

from deepbench_ops.problems.problem import Problem


@dataclass(frozen=True)
class Gemm(Problem):
    """C (m x n) = op(A) (m x k) · op(B) (k x n) + C, column-major as BLAS sees it.

    With a_transposed the operand is stored as k x m, with b_transposed as n x k; op turns it.
    """

    family: ClassVar[str] = "gemm"

    m: int
    n: int
    k: int
    a_transposed: bool = False
    b_transposed: bool = False

    @property
    def id(self) -> str:
        """Like m1760_n128_k1760_NN: the sizes, then N or T for A and for B."""
        turned = "NT"[self.a_transposed] + "NT"[self.b_transposed]
        return f"m{self.m}_n{self.n}_k{self.k}_{turned}"

    @property
    def flops(self) -> int:
        """2mnk, as DeepBench counts it; adding the old C is not counted."""
        return 2 * self.m * self.n * self.k

    @property
    def items(self) -> int:
        """n: in the published lists the columns of B are the samples of the batch."""
        return self.n

    def traffic(self) -> tuple[int, int]:
        """A and B read once; C read once, because beta is 1, and written once."""
        return self.m * self.k + self.k * self.n, 2 * self.m * self.n
