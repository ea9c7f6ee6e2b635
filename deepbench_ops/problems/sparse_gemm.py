"""Products of a sparse matrix with a dense one: C = op(A) op(B), A sparse."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar

from deepbench_ops.problems.gemm import PRODUCT_HEADERS, Gemm
from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import Problem, Sheets, Table

INDEX_BYTES = 4


@dataclass(frozen=True)
class SparseGemm(Problem):
    """C (m x n) = op(A) (m x k) · op(B) (k x n); `sparsity` is the share of A that is zero."""

    family: ClassVar[str] = "sparse_gemm"
    heading: ClassVar[str] = "sparse products"
    title_names_operation: ClassVar[bool] = False
    position: ClassVar[int] = 40
    id_pattern: ClassVar[str] = Gemm.id_pattern + r"_sparsity(?P<sparsity>0\.\d+)"
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "inference_server": (
            "m7680_n1_k2560_NN_sparsity0.95",
            "m7860_n2_k2560_NN_sparsity0.95",  # printed as 7680: see the problem's note
            "m7680_n1500_k2560_NN_sparsity0.95",
            "m10752_n1_k3584_NN_sparsity0.9",
        ),
        "inference_device": (
            "m7680_n1_k2560_NN_sparsity0.95",
            "m7680_n1500_k2560_NN_sparsity0.95",
            "m7680_n1_k2560_NN_sparsity0.9",
        ),
    }
    headline_reason: ClassVar[str] = "the rows of DeepBench's README"
    sheets: ClassVar[Sheets] = Sheets(
        tables=(Table("Sparse Matrix Multiplication", start="sparse matrix"),),
        sizes={**PRODUCT_HEADERS, "sparsity": "sparsity"},
        times={
            "sparse time": "forward",
            "dense time": "dense_forward",
            "conversion time": "conversion",  # only in our exports
        },
    )
    operations: ClassVar[tuple[str, ...]] = ("forward", "dense_forward", "conversion")
    """The product; the same product with the zeros of A stored and multiplied; dense A to CSR."""

    m: Annotated[int, "rows of op(A) and of C"]
    n: Annotated[int, "columns of op(B) and of C"]
    k: Annotated[int, "columns of op(A), rows of op(B)"]
    a_transposed: Annotated[bool, "A is stored transposed, as k x m"] = False
    b_transposed: Annotated[bool, "B is stored transposed, as n x k"] = False
    sparsity: Annotated[float, "share of A's entries that are zero, above 0 and below 1"] = 0.0

    @property
    def id(self) -> str:
        """Id such as m7680_n1_k2560_NN_sparsity0.95: a GEMM's id and the share of zeros."""
        turned = "NT"[self.a_transposed] + "NT"[self.b_transposed]
        return f"m{self.m}_n{self.n}_k{self.k}_{turned}_sparsity{self.sparsity:g}"

    def impossible(self) -> str:
        """Reason for a sparsity that leaves no value of A."""
        if self.nonzeros:
            return ""
        return (
            f"sparsity {self.sparsity!r} leaves none of the {self.m} x {self.k} entries of A: write"
            " a smaller one"
        )

    @property
    def title(self) -> str:
        """Title such as "7680 x 1 x 2560, 95 % zeros": m, n, k and the sparsity."""
        return f"{self.m} x {self.n} x {self.k}, {100 * self.sparsity:g} % zeros"

    @property
    def density(self) -> float:
        """1 - sparsity, subtracted in decimal so that 0.95 leaves exactly 0.05."""
        return float(1 - Decimal(str(self.sparsity)))

    @property
    def nonzeros(self) -> int:
        """Number of stored values of A: m·k·(1 - sparsity), rounded to a whole number."""
        return round(self.m * self.k * self.density)

    @property
    def flops(self) -> float:
        """2·m·n·k·(1 - sparsity): products with stored values only, called effective FLOPs."""
        return 2 * self.m * self.n * self.k * self.density

    @property
    def flops_as_published(self) -> float:
        """2·m·n·k·sparsity: the count in the rates of the published sheets."""
        return 2 * self.m * self.n * self.k * self.sparsity

    @property
    def items(self) -> int:
        """n: in the published lists the columns of B are the samples of the batch."""
        return self.n

    def traffic(self) -> tuple[int, int]:
        """The values of A and all of B read once, C written once (C is not read)."""
        return self.nonzeros + self.k * self.n, self.m * self.n

    def bytes(self, name: str) -> float:
        """Bytes of `traffic`, and those of the positions of A's values in compressed rows.

        The positions are a 32-bit column number for each value, a 32-bit offset for each stored
        row, and one more offset.
        """
        return super().bytes(name) + self._position_bytes

    def flops_of(self, operation: str) -> float:
        """2·m·n·k·(1 - sparsity) of the product, 2mnk of the dense one, 0 of the conversion.

        The dense product also multiplies the zeros: its time divided by that of the sparse product
        is the gain from skipping them.
        """
        work = {"dense_forward": 2 * self.m * self.n * self.k, "conversion": 0}
        return work.get(operation, super().flops_of(operation))

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of one of the `operations`, with each operand moved once, as in `bytes`.

        Dense product: all m·k entries of A and all of B read, C written. Conversion: all entries of
        A read, its values and their positions written.
        """
        weight = precision(name)
        dense = self.m * self.k * weight.input_bytes
        if operation == "dense_forward":
            b, c = self.k * self.n, self.m * self.n
            return dense + b * weight.input_bytes + c * weight.output_bytes
        if operation == "conversion":
            return dense + self.nonzeros * weight.input_bytes + self._position_bytes
        return self.bytes(name)

    @property
    def _position_bytes(self) -> int:
        rows = self.k if self.a_transposed else self.m
        return INDEX_BYTES * (self.nonzeros + rows + 1)
