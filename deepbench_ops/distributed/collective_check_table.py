"""Kernels of several processes in the table of `deepbench check`: every transport and rank.

These kernels belong to no backend, so they are not in `backends.backend_check_table`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from typing import cast

from deepbench_ops.backends import output_check
from deepbench_ops.backends.backend_check_table import ALL, OK, SKIPPED, WRONG, CheckResult
from deepbench_ops.backends.backend_interface import require_layout
from deepbench_ops.distributed import collective_kernel
from deepbench_ops.distributed.one_machine.rank_group import RankGroup
from deepbench_ops.distributed.prepared_ranks import NO_TRANSPORT, TRANSPORTS
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.collective import Collective
from deepbench_ops.problems.problem_lists import TYPES

RANKS = (2, 3)
ELEMENTS = (1, 4097, 100_000)
"""Sizes of checked vectors: fewer than ranks, divisible by no number of ranks, and the smallest
published size. For a vector that is divided they are the entries of each part."""


def split_by_processes(families: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the families that run in one process, and those that run between several."""
    between = [family for family in families if TYPES[family].ranks]
    return [family for family in families if family not in between], between


def rows(
    families: Sequence[str],
    frameworks: Sequence[str],
    devices: Sequence[str],
    precisions: Sequence[str],
    report: Callable[[str], object] = lambda step: None,
    layouts: Sequence[str] = (),
) -> Iterator[CheckResult]:
    """Yield a row for every framework and device with a transport, and every family, precision and
    layout.

    A family that is no collective operation has one row, with the reason.
    """
    collective = [family for family in families if issubclass(TYPES[family], Collective)]
    for family in families:
        if family not in collective:
            reason = f"{family} is no collective operation: this project cannot start its ranks"
            yield CheckResult(ALL, devices[0], family, ALL, reason=reason)
    for (framework, device), name in TRANSPORTS.items():
        if framework not in frameworks or device not in devices:
            continue
        report(f"{name} between processes")
        groups = _Groups(name)
        try:
            for family in collective:
                kind = cast(type[Collective], TYPES[family])
                for layout, precision in product(layouts or kind.layouts, precisions):
                    row = CheckResult(
                        framework, device, family, kind.operations[0], precision, layout
                    )
                    yield _compared(row, kind, groups)
        finally:
            groups.close()


def lacking(
    families: Sequence[str], frameworks: Sequence[str], device: str
) -> Iterator[CheckResult]:
    """Yield a row for every family and every framework without a transport on a device."""
    for framework, family in product(frameworks, families):
        if (framework, device) not in TRANSPORTS and issubclass(TYPES[family], Collective):
            reason = NO_TRANSPORT.format(framework, device)
            yield CheckResult(framework, device, family, TYPES[family].operations[0], reason=reason)


class _Groups:
    """Groups of ranks over one transport, each started at its first use."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._open: dict[int, RankGroup] = {}
        self._stack = ExitStack()

    def of(self, size: int) -> RankGroup:
        """Return the group of `size` ranks."""
        if size not in self._open:
            self._open[size] = self._stack.enter_context(RankGroup(self.name, size))
        return self._open[size]

    def close(self) -> None:
        """End all ranks; others start when they are needed."""
        self._stack.close()
        self._open.clear()


def _compared(row: CheckResult, kind: type[Collective], groups: _Groups) -> CheckResult:
    """Return the row with its results for every number of ranks; a failing rank counts as wrong."""
    problems = {
        (ranks, elements): kind(elements=elements * ranks if kind.in_parts else elements)
        for ranks, elements in product(RANKS, ELEMENTS)
    }
    try:
        require_layout(kind, row.layout)
        for (ranks, _), problem in problems.items():
            collective_kernel.demand(problem, row.precision, ranks, groups.name)
    except Unsupported as lacking:
        return replace(row, verdict=SKIPPED, reason=str(lacking))
    try:
        for (ranks, _), problem in problems.items():
            row = _with(row, problem, groups.of(ranks))
            if row.verdict == WRONG:
                return row
    except Unsupported as lacking:
        groups.close()
        return replace(row, verdict=SKIPPED, reason=str(lacking))
    except DeepbenchError as fault:
        groups.close()
        return replace(row, verdict=WRONG, reason=str(fault))
    return row


def _with(row: CheckResult, problem: Collective, group: RankGroup) -> CheckResult:
    """Return the row with one more result compared."""
    kernel = collective_kernel.prepare(problem, group, row.precision)
    found = output_check.spot_check(kernel)
    return replace(
        row,
        verdict=OK if found.ok else WRONG,
        error=found.error,
        tolerance=found.tolerance,
        problem=problem.id,
        compared=row.compared + 1,
        reason="" if found.ok else f"entry {found.entry} of {kernel.label} is wrong",
    )
