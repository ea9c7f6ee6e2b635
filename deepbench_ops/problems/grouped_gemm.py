"""Products of the experts of a mixture: each group of rows times its own matrix."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Annotated, ClassVar

from deepbench_ops.problems.precision import precision
from deepbench_ops.problems.problem import MODERN_SETS, Problem, computed

SPLITS = ("balanced", "single", "skewed")
"""Divisions of rows among groups: even, one row for each of some groups, and uneven."""

EULER = 0.5772156649015329
EXACT_TERMS = 10_000
"""Number of terms of the harmonic series that are added up; longer sums are approximated."""


@dataclass(frozen=True)
class GroupedGemm(Problem):
    """For each group i: y_i (m_i x n) = x_i (m_i x k) · W_iᵀ (W_i n x k), row-major.

    m: rows of all groups together. split: one of SPLITS, see `loads`.
    """

    family: ClassVar[str] = "grouped_gemm"
    position: ClassVar[int] = 130
    heading: ClassVar[str] = "grouped products"
    id_pattern: ClassVar[str] = (
        r"e(?P<groups>\d+)_m(?P<m>\d+)_n(?P<n>\d+)_k(?P<k>\d+)_(?P<split>balanced|single|skewed)"
    )
    listed_in: ClassVar[tuple[str, ...]] = MODERN_SETS
    precisions: ClassVar[tuple[str, ...]] = ("float32", "bfloat16", "float16")
    operations: ClassVar[tuple[str, ...]] = ("forward", "backward_input", "backward_weight")
    totalled: ClassVar[tuple[str, ...]] = operations
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "modern": ("e128_m2048_n768_k2048_balanced", "e128_m8_n768_k2048_single"),
    }
    headline_reason: ClassVar[str] = "many small experts, for a prompt and for a single token"
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"split": SPLITS}

    groups: Annotated[int, "groups, such as experts"]
    m: Annotated[int, "rows of all groups together"]
    n: Annotated[int, "outputs: columns of y"]
    k: Annotated[int, "inputs: columns of x"]
    split: Annotated[str, "distribution of the rows over the groups"] = "balanced"

    @property
    def id(self) -> str:
        """Id such as e128_m2048_n768_k2048_balanced."""
        return f"e{self.groups}_m{self.m}_n{self.n}_k{self.k}_{self.split}"

    @property
    def title(self) -> str:
        """Title such as "grouped product, 128 experts of 2048 to 768, 2048 rows, balanced"."""
        rows = "1 row" if self.m == 1 else f"{self.m} rows"
        return (
            f"grouped product, {self.groups} experts of {self.k} to {self.n}, {rows}, {self.split}"
        )

    def impossible(self) -> str:
        """Reason for an unknown split, or for more single rows than groups."""
        if self.split not in SPLITS:
            return f"no split is called {self.split}: write {', '.join(SPLITS)}"
        if self.split == "single" and self.m > self.groups:
            return f"{self.m} rows are more than {self.groups} experts: one row each is too many"
        return ""

    @property
    def loads(self) -> tuple[int, ...]:
        """m_i, the rows of each group.

        balanced: rows / groups; if this is no whole number, the first groups have one row more.
        single: m groups, evenly spread over all, have one row each. skewed: in proportion to
        1 / (1 + place), rounded down, with the remaining rows in the first group. Groups with odd
        numbers have the places of the second half, where small numbers of rows become 0.
        """
        groups, rows = self.groups, self.m
        if self.split == "balanced":
            return tuple(rows // groups + (i < rows % groups) for i in range(groups))
        if self.split == "single":
            firsts = [-(-group * rows // groups) for group in range(groups + 1)]
            return tuple(end - start for start, end in pairwise(firsts))
        even = -(-groups // 2)
        places = [i // 2 + (i % 2) * even for i in range(groups)]
        whole = _harmonic(groups)
        found = [int(rows / (1 + place) / whole) for place in places]
        found[0] += rows - sum(found)
        return tuple(found)

    @property
    def busy(self) -> int:
        """Number of groups with rows, as in `loads`."""
        if self.split != "skewed":
            return min(self.m, self.groups)
        whole = _harmonic(self.groups)
        places = range(1, self.groups + 1)
        found = bisect_left(places, True, key=lambda place: self.m / place / whole < 1)
        return max(found, 1)  # the first group has the remaining rows

    @property
    def flops(self) -> int:
        """Σ 2·m_i·n·k = 2·m·n·k, in each of the operations."""
        return 2 * self.m * self.n * self.k

    @property
    def items(self) -> int:
        """Number of rows; a token has a row for every expert that it goes to."""
        return self.m

    def traffic(self) -> tuple[int, int]:
        """x and the matrices of groups with rows read once, y written once."""
        return self.m * self.k + self.busy * self.n * self.k, self.m * self.n

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes of the two tensors that an operation reads and of the one that it writes.

        The gradient of the weights writes the matrices of all groups: zeros for those without rows.
        """
        weight = precision(name)
        x, y, w = self.m * self.k, self.m * self.n, self.busy * self.n * self.k
        read, written = {
            "forward": (x + w, y),
            "backward_input": (y + w, x),
            "backward_weight": (x + y, self.groups * self.n * self.k),
        }[computed(operation)]
        return read * weight.input_bytes + written * weight.output_bytes


def _harmonic(terms: int) -> float:
    """Return 1 + 1/2 + ... + 1/terms; of more than EXACT_TERMS the asymptotic expansion, whose
    error is below 1/(120·terms⁴)."""
    if terms <= EXACT_TERMS:
        return sum(1 / (1 + place) for place in range(terms))
    return log(terms) + EULER + 1 / (2 * terms) - 1 / (12 * terms**2)
