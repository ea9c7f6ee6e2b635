"""Dense matrix products: C = op(A) op(B) + C."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.problem import Problem, Sheets, Table

PRODUCT_HEADERS = {
    "m": "m",
    "n": "n",
    "k": "k",
    "a transpose": "a_transposed",
    "b transpose": "b_transposed",
}
"""Sizes of a product, by header in workbooks."""


@dataclass(frozen=True)
class Gemm(Problem):
    """C (m x n) = op(A) (m x k) · op(B) (k x n) + C, column-major as in BLAS.

    With a_transposed A is stored as k x m, with b_transposed B as n x k; op transposes it.
    """

    family: ClassVar[str] = "gemm"
    heading: ClassVar[str] = "matrix products"
    title_names_operation: ClassVar[bool] = False
    position: ClassVar[int] = 10
    id_pattern: ClassVar[str] = (
        r"m(?P<m>\d+)_n(?P<n>\d+)_k(?P<k>\d+)_(?P<a_transposed>[NT])(?P<b_transposed>[NT])"
    )
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "training": (
            "m1760_n128_k1760_NN",
            "m7680_n64_k2560_NN",
            "m2560_n64_k2560_NN",
            "m5124_n9124_k2560_TN",
            "m3072_n128_k1024_TN",
        ),
        "inference_server": (
            "m5124_n700_k2048_NN",
            "m35_n700_k2048_NN",
            "m3072_n3000_k1024_NN",
            "m512_n6000_k2816_NN",
        ),
        "inference_device": (
            "m5124_n700_k2048_NN",
            "m35_n700_k2048_NN",
            "m3072_n1500_k1024_NN",
        ),
    }
    headline_reason: ClassVar[str] = "the rows of DeepBench's README"
    sheets: ClassVar[Sheets] = Sheets(
        tables=(Table("Dense Matrix Multiplication", start="dense matrix"),),
        sizes=PRODUCT_HEADERS,
        times={"time": "forward"},
    )

    m: Annotated[int, "rows of op(A) and of C"]
    n: Annotated[int, "columns of op(B) and of C"]
    k: Annotated[int, "columns of op(A), rows of op(B)"]
    a_transposed: Annotated[bool, "A is stored transposed, as k x m"] = False
    b_transposed: Annotated[bool, "B is stored transposed, as n x k"] = False

    @property
    def id(self) -> str:
        """Id such as m1760_n128_k1760_NN: the sizes, then N or T for A and for B."""
        turned = "NT"[self.a_transposed] + "NT"[self.b_transposed]
        return f"m{self.m}_n{self.n}_k{self.k}_{turned}"

    @property
    def title(self) -> str:
        """Title such as "1760 x 128 x 1760, B transposed": m, n and k."""
        turned = {
            "NN": "",
            "TN": ", A transposed",
            "NT": ", B transposed",
            "TT": ", both transposed",
        }
        kind = "NT"[self.a_transposed] + "NT"[self.b_transposed]
        return f"{self.m} x {self.n} x {self.k}{turned[kind]}"

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
