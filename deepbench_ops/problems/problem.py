"""Base class of the problems of all families: an id, the work, the traffic, the origin.

A family is one dataclass derived from `Problem`. It adds its sizes and the formulas that follow
from them, and declares how it is listed, timed and ranked. Nothing here knows of any framework: a
problem says what to compute, never how.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

from deepbench_ops.problems.precision import PRECISIONS, precision

DEEPBENCH_SETS = ("training", "inference_server", "inference_device")
"""The sets of DeepBench's lists."""

MODERN_SETS = ("modern", "modern_full")
"""Sets of today's operations: those that two processor cores can run, and all."""

SETS = DEEPBENCH_SETS + MODERN_SETS

INCLUDED: Mapping[str, tuple[str, ...]] = {"modern_full": ("modern",)}
"""Sets that a set includes. Each problem is listed, and measured, in the smallest one alone."""

FIRST_CALL = "first_call"
"""An operation of every family: compile the forward pass and run it once. Frameworks that compile
nothing have none."""

OPERATIONS_SUFFIX = "_operations"
"""End of the name of an operation that times the parts of another one, each of them alone."""


def computed(operation: str) -> str:
    """Return the operation that has the same output: of a first call, the forward pass."""
    return "forward" if operation == FIRST_CALL else operation.removesuffix(OPERATIONS_SUFFIX)


def compared(operation: str) -> bool:
    """Return whether its seconds say how fast a kernel is, and may be compared with others'.

    First calls, and operations of a model timed alone, have lines and verdicts of their own, and
    are in no ratio, share of peak, summary or record.
    """
    return computed(operation) == operation


@dataclass(frozen=True)
class Table:
    """One kind of table in DeepBench's workbooks.

    title: as exports write it. start: beginning of published titles, in lower case. fixed: sizes
    that all rows share.
    """

    title: str
    start: str
    fixed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sheets:
    """Tables of a family in workbooks. Headers are in lower case, without text in brackets.

    sizes: fields of the problem by header. times: operations by header; where several headers mean
    one operation, exports write the last.
    """

    tables: tuple[Table, ...]
    sizes: dict[str, str]
    times: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Problem(ABC):
    """One distinct problem of the published lists.

    application: where the kernel comes from, as the workbooks print it; several are joined
        by "; ", none known is "".
    source: the list that it was taken from, and the workbook that names the application.
    note: what is odd about the published figures of this problem, "" for most.
    sets: the sets that list it.
    rows: how many rows each of these sets spends on it (two where a list repeats itself).
    aliases: ids under which the published sheets print this same problem by a slip.
    timed: those of `operations` that its benchmarks time; () for all of them.

    A family's sizes are its own fields, `m: Annotated[int, "rows of A"]` with a text for the help.
    """

    family: ClassVar[str]
    """Name of the family, of its module and of its CSV."""
    id_pattern: ClassVar[str]
    """Regular expression of an id, with a named group for each size that it holds."""
    position: ClassVar[int] = 100
    """Place among the families in tables and menus, the smallest first; equal ones by name."""
    heading: ClassVar[str] = ""
    """The family in words, such as "matrix products", for pages; "" for its name."""
    whole_models: ClassVar[bool] = False
    """Whether its problems are whole networks, which lists of kernels leave out."""
    operations: ClassVar[tuple[str, ...]] = ("forward",)
    """Operations that are timed, each under its own name; `flops` counts the first."""
    listed_in: ClassVar[tuple[str, ...]] = DEEPBENCH_SETS
    """The sets that may list its problems."""
    uncompared: ClassVar[tuple[str, ...]] = (FIRST_CALL,)
    """Operations that are timed as well, and never compared with others: see `compared`."""
    totalled: ClassVar[tuple[str, ...]] = ("forward",)
    """Operations whose times add up to a kernel's time where machines are ranked."""
    precisions: ClassVar[tuple[str, ...]] = PRECISIONS
    """The precisions of its benchmarks."""
    layouts: ClassVar[tuple[str, ...]] = ("published",)
    """Ways in which its tensors may lie in memory, the published one first."""
    served: ClassVar[tuple[str, ...]] = ()
    """Operations that can be compiled or exported to another framework's runtime as well."""
    smallest: ClassVar[Mapping[str, int]] = {}
    """Least value of each whole size; 1 where a size is not named."""
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Values of each size that is a text of a few."""
    headline: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Ids in the headline selection, by the set that lists them."""
    selections: ClassVar[Mapping[str, str]] = {}
    """Selections of this family alone, and the set that each takes `few` problems from."""
    ranks: ClassVar[tuple[int, ...]] = ()
    """Numbers of processes that it is timed on; () for problems that run in one process."""
    headline_ranks: ClassVar[tuple[int, ...]] = ()
    """Those of `ranks` that the headline selection times."""
    benchmark_version: ClassVar[str] = "1"
    """Version of its benchmarks under asv, where the family has no file in `suite/`: raised by hand
    when the measured operation changes, which sets earlier results apart."""
    sheets: ClassVar[Sheets | None] = None
    """Its tables in DeepBench's workbooks; None where it has none."""

    application: str = ""
    source: str = ""
    note: str = ""
    sets: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    aliases: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()

    @staticmethod
    def few(listed: "Sequence[Problem]") -> "Sequence[Problem]":
        """The problems of a set that the family's own selections hold."""
        return listed

    def impossible(self) -> str:
        """Why no such problem can exist; "" where it can."""
        return ""

    @property
    @abstractmethod
    def id(self) -> str:
        """Short, readable, unique in its family, the same on every machine for ever."""

    @property
    def title(self) -> str:
        """The problem in words with its sizes, for a reader who does not know the ids."""
        return self.id

    @property
    @abstractmethod
    def flops(self) -> float:
        """Floating-point operations of one pass, a multiply-add counting two."""

    @property
    @abstractmethod
    def items(self) -> int:
        """The unit of throughput: the samples that one run handles."""

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

    @property
    def timed_operations(self) -> tuple[str, ...]:
        """The operations that its benchmarks time."""
        return self.timed or self.operations

    def flops_of(self, operation: str) -> float:
        """Floating-point operations of one of the `operations`; 0 of what is not compared, which
        has no rate."""
        return self.flops if compared(operation) else 0

    def bytes_of(self, name: str, operation: str) -> float:
        """Bytes that one of the `operations` cannot avoid moving at the precision `name`."""
        return self.bytes(name)

    def amount_of_work(self, precision: str, operation: str) -> float:
        """FLOPs of one of the `operations`, or its bytes where nothing is computed."""
        return self.flops_of(operation) or self.bytes_of(precision, operation)

    @property
    def fast_factor(self) -> float:
        """`flops` over the fewest operations that a known algorithm needs; 1 where it needs all."""
        return 1.0

    def intensity(self, name: str) -> float:
        """FLOP per byte at the precision of that name, the x-axis of a roofline."""
        return self.flops / self.bytes(name)

    def sizes(self) -> dict[str, int | float | str | bool]:
        """The family's own fields by name: the sizes, without what describes the origin."""
        described = {f.name for f in fields(Problem)}
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in described}
