"""What every problem has, whatever its family: an id, the work, the traffic, where it is from.

A family adds its sizes and the formulas that follow from them. Nothing here knows of any
framework: a problem is what is to be computed, never how.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

from deepbench_ops.problems.precision import precision

FIRST_CALL = "first_call"
"""An operation of every family: to compile the forward pass, and run it once. Frameworks that
compile nothing have none."""

APART = "_operations"
"""Ends the name of what the operations take that another one consists of, each of them alone."""


def computed(operation: str) -> str:
    """Return the operation whose output this one has."""
    return "forward" if operation == FIRST_CALL else operation.removesuffix(APART)


def compared(operation: str) -> bool:
    """Return whether its seconds are how fast a kernel is, and so stand beside other kernels'.

    Those of a first call or of operations apart have lines and verdicts of their own, and are in
    no ratio, share of peak, summary or record.
    """
    return computed(operation) == operation


@dataclass(frozen=True, kw_only=True)
class Problem(ABC):
    """One distinct problem of the published lists.

    application: where the kernel comes from, as the workbooks print it; several are joined
        by "; ", none known is "".
    source: the list that it was taken from, and the workbook that names the application.
    note: what is odd about the published figures of this problem, "" for most.
    sets: the published sets that list it.
    rows: how many rows each of these sets spends on it (two where a list repeats itself).
    aliases: ids under which the published sheets print this same problem by a slip.
    """

    family: ClassVar[str]
    operations: ClassVar[tuple[str, ...]] = ("forward",)
    """What of it is timed, each under its own name; the first is what `flops` counts."""
    beside: ClassVar[tuple[str, ...]] = (FIRST_CALL,)
    """What else is timed of it, and not compared: see `compared`."""
    layouts: ClassVar[tuple[str, ...]] = ("published",)
    """How its tensors may lie in memory; the published way is everybody's first."""
    served: ClassVar[tuple[str, ...]] = ()
    """Its operations that can be compiled or exported to another framework's runtime as well."""

    application: str = ""
    source: str = ""
    note: str = ""
    sets: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    @abstractmethod
    def id(self) -> str:
        """Short, readable, unique in its family, the same on every machine for ever."""

    @property
    @abstractmethod
    def flops(self) -> float:
        """Floating-point operations of one pass, a multiply-add counting two."""

    @property
    @abstractmethod
    def items(self) -> int:
        """What a throughput counts: the samples that one run handles."""

    @abstractmethod
    def traffic(self) -> tuple[float, float]:
        """Elements (of input type, of output type) that one pass cannot avoid moving."""

    def bytes(self, name: str) -> float:
        """Bytes that one pass cannot avoid moving at the precision of that name.

        Every operand is read once and every result written once, as if the cache were
        unlimited and empty: a lower bound, the denominator of `intensity`.
        """
        weight = precision(name)
        inputs, outputs = self.traffic()
        return inputs * weight.input_bytes + outputs * weight.output_bytes

    def flops_of(self, operation: str) -> float:
        """Floating-point operations of one of the `operations`; 0 of what is not compared, which
        has no rate."""
        return self.flops if compared(operation) else 0

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes that one of the `operations` cannot avoid moving at the precision `name`."""
        return self.bytes(name)

    def intensity(self, name: str) -> float:
        """FLOP per byte at the precision of that name, the x-axis of a roofline."""
        return self.flops / self.bytes(name)

    def sizes(self) -> dict[str, int | float | str | bool]:
        """The family's own fields by name: the sizes, without what describes the origin."""
        described = {field.name for field in fields(Problem)}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in described}
