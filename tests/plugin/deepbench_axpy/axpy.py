"""Sums of scaled vectors: y = a x + y."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from deepbench_ops.problems.problem import Problem


@dataclass(frozen=True)
class Axpy(Problem):
    """y = a x + y for vectors of `elements` numbers."""

    family: ClassVar[str] = "axpy"
    id_pattern: ClassVar[str] = r"axpy_n(?P<elements>\d+)"
    headline: ClassVar = {"training": ("axpy_n1000",)}

    elements: Annotated[int, "length of the vectors"]

    @property
    def id(self):
        return f"axpy_n{self.elements}"

    @property
    def flops(self):
        return 2 * self.elements

    @property
    def items(self):
        return self.elements

    def traffic(self):
        return 2 * self.elements, self.elements
