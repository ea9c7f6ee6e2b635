"""Base class of the problems of all families: id, work, traffic and origin.

A family is one dataclass derived from `Problem`. It adds its sizes and the formulas that follow
from them, and declares how it is listed, timed and ranked. A problem does not depend on any
framework: it describes the computation and no implementation.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import ClassVar

from deepbench_ops.problems.precision import PRECISIONS, multiplied, precision

DEEPBENCH_SETS = ("training", "inference_server", "inference_device")
"""Sets of DeepBench's lists."""

MODERN_SETS = ("modern", "modern_full")
"""Sets of modern operations: those that two processor cores can run, and all of them."""

SETS = DEEPBENCH_SETS + MODERN_SETS

INCLUDED: Mapping[str, tuple[str, ...]] = {"modern_full": ("modern",)}
"""Sets that a set includes. Each problem is listed and measured in the smallest set only."""

NAME = re.compile("[a-z][a-z0-9_]*")
"""Name of a family or an operation: it is part of the names of benchmarks, files and pages."""

FIRST_CALL = "first_call"
"""Operation of every family that compiles the forward pass and runs it once. Frameworks that do not
compile do not have it."""

OPERATIONS_SUFFIX = "_operations"
"""End of the name of an operation that times each part of another operation alone."""


def computed(operation: str) -> str:
    """Return the operation that has the same output: the forward pass for a first call, the whole
    operation for its parts."""
    return "forward" if operation == FIRST_CALL else operation.removesuffix(OPERATIONS_SUFFIX)


@cache
def compared(operation: str) -> bool:
    """Return whether the seconds of an operation are the speed of a kernel and may be compared.

    First calls, and operations of a model that are timed alone, have their own lines and verdicts,
    and are left out of ratios, shares of peaks, summaries and records.
    """
    return computed(operation) == operation


@dataclass(frozen=True)
class Table:
    """One kind of table in DeepBench's workbooks.

    title: title in exports. start: beginning of published titles, in lower case. fixed: sizes
    that are the same in all rows.
    """

    title: str
    start: str
    fixed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sheets:
    """Tables of a family in workbooks. Headers are in lower case, without text in brackets.

    sizes: fields of the problem by header. times: operations by header; exports use the last of
    several headers with the same operation.
    """

    tables: tuple[Table, ...]
    sizes: dict[str, str]
    times: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Problem(ABC):
    """One distinct problem of the published lists.

    application: origin of the kernel as printed in the workbooks; several are joined by "; ", ""
        if unknown.
    source: list from which it was taken, and workbook with the application.
    note: anything unusual about the published figures of this problem, "" for most.
    sets: sets that list it.
    rows: number of rows in each of these sets (two where a list repeats the problem).
    aliases: wrong ids that the published sheets print for this problem.
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
    title_names_operation: ClassVar[bool] = True
    """Whether `title` says what is done, as "softmax 4096 x 256" does, and not the sizes alone."""
    whole_models: ClassVar[bool] = False
    """Whether its problems are whole networks, which lists of kernels leave out."""
    operations: ClassVar[tuple[str, ...]] = ("forward",)
    """Operations that are timed, each under its own name; `flops` counts the first."""
    training_operations: ClassVar[tuple[str, ...]] = ()
    """Those of `operations` that only the benchmarks of the set training time."""
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
    headline_reason: ClassVar[str] = ""
    """Why these: a clause for each problem, or one for all. The documentation prints it."""
    selections: ClassVar[Mapping[str, str]] = {}
    """Selections of only this family, and the set from which each takes `few` problems."""
    ranks: ClassVar[tuple[int, ...]] = ()
    """Numbers of processes that it is timed on; () for problems that run in one process."""
    headline_ranks: ClassVar[tuple[int, ...]] = ()
    """Numbers among `ranks` in the headline selection."""
    benchmark_version: ClassVar[str] = "1"
    """Version of its benchmarks under asv: raised by hand when the measured operation changes,
    which sets earlier results and rounds apart."""
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
        """Return the problems of a set that are in the family's own selections."""
        return listed

    def impossible(self) -> str:
        """Reason why a problem of these sizes cannot exist; "" if it can."""
        return ""

    @property
    @abstractmethod
    def id(self) -> str:
        """Short, readable name, unique in its family; it never changes."""

    @property
    def title(self) -> str:
        """The problem in words with its sizes, for readers who do not know the ids."""
        return self.id

    @property
    @abstractmethod
    def flops(self) -> float:
        """Floating-point operations of one pass; a multiply-add counts two."""

    @property
    @abstractmethod
    def items(self) -> int:
        """Number of samples that one run processes, for throughput."""

    @abstractmethod
    def traffic(self) -> tuple[float, float]:
        """Least number of elements (of input type, of output type) that one pass moves."""

    def bytes(self, name: str) -> float:
        """Least number of bytes that one pass moves, at the precision `name`.

        Every operand is read once and every result written once, as with an unlimited, empty cache.
        This lower bound is the denominator of `intensity`.
        """
        weight = precision(name)
        inputs, outputs = self.traffic()
        return inputs * weight.input_bytes + outputs * weight.output_bytes

    @property
    def timed_operations(self) -> tuple[str, ...]:
        """Return the operations that the benchmarks of this problem time, in any of its sets; all
        of them for a problem that no set lists."""
        if self.timed or not self.sets or "training" in self.sets:
            return self.timed or self.operations
        return tuple(name for name in self.operations if name not in self.training_operations)

    def version_of(self, operation: str) -> str:
        """Return the version of the benchmarks that time one of the `operations`."""
        return self.benchmark_version

    def unrecorded_version_of(self, operation: str) -> str:
        """Return that of rounds of histories that were measured before rounds had a version."""
        return "1"

    def flops_of(self, operation: str) -> float:
        """Return the floating-point operations of one of the `operations`; 0 for operations that
        are not compared, which have no rate."""
        return self.flops if compared(operation) else 0

    def bytes_of(self, name: str, operation: str) -> float:
        """Return the least number of bytes that one of the `operations` moves, at the precision
        `name`."""
        return self.bytes(name)

    def amount_of_work(self, precision: str, operation: str) -> float:
        """Return the FLOPs of one of the `operations`, or its bytes if it computes nothing."""
        return self.flops_of(operation) or self.bytes_of(precision, operation)

    def multiplied(self, name: str) -> str:
        """Return the precision of the products at the precision `name`: its peak limits the
        kernel. A family overrides this if its algorithm multiplies in a fixed precision."""
        return multiplied(name)

    @property
    def fast_factor(self) -> float:
        """`flops` divided by the fewest operations of any known algorithm; 1 if none needs
        fewer."""
        return 1.0

    def intensity(self, name: str) -> float:
        """Return the FLOPs per byte at the precision `name`, the x-axis of a roofline."""
        return self.flops / self.bytes(name)

    def sizes(self) -> dict[str, int | float | str | bool]:
        """Return the sizes by name: the family's own fields, without those about the origin."""
        return {name: getattr(self, name) for name in size_fields(type(self))}


def size_fields(kind: type[Problem]) -> tuple[str, ...]:
    """Return the size fields of a family, in the order of its dataclass."""
    described = {field.name for field in fields(Problem)}
    return tuple(field.name for field in fields(kind) if field.name not in described)
