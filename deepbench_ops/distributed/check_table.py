"""Kernels of several processes in the table of `deepbench check`: every transport and rank.

They belong to no backend, so `backends.check_table` knows nothing of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from deepbench_ops.backends import check
from deepbench_ops.backends.base import demand_layout
from deepbench_ops.backends.check_table import ALL, OK, SKIPPED, WRONG, CheckResult
from deepbench_ops.distributed import all_reduce_kernel
from deepbench_ops.distributed.prepared_ranks import NO_TRANSPORT, TRANSPORTS
from deepbench_ops.distributed.rank_group import RankGroup
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.problems.problem_lists import TYPES

RANKS = (2, 3)
ELEMENTS = (1, 4097, 100_000)
"""Fewer than there are ranks, what no number of them divides, and the smallest published."""


def apart(families: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the families that run in one process, and those that run between several."""
    between = [family for family in families if TYPES[family].ranks]
    return [family for family in families if family not in between], between


def rows(
    families: Sequence[str],
    frameworks: Sequence[str],
    devices: Sequence[str],
    precisions: Sequence[str],
    tell: Callable[[str], object] = lambda step: None,
    layouts: Sequence[str] = (),
) -> Iterator[CheckResult]:
    """Yield a row for every framework and device that has a transport, precision and layout.

    Of a family that this project does not run between processes it is one row, with the reason.
    """
    yield from _others(families, devices)
    if AllReduce.family not in families:
        return
    for (framework, device), name in TRANSPORTS.items():
        if framework in frameworks and device in devices:
            tell(f"{name} between processes")
            for layout, precision in product(layouts or AllReduce.layouts, precisions):
                yield _row(framework, device, name, precision, layout)


def lacking(
    families: Sequence[str], frameworks: Sequence[str], device: str
) -> Iterator[CheckResult]:
    """Yield a row for every framework that has no transport on a device."""
    if AllReduce.family not in families:
        return
    for framework in frameworks:
        if (framework, device) not in TRANSPORTS:
            reason = NO_TRANSPORT.format(framework, device)
            kernel = (AllReduce.family, AllReduce.operations[0])
            yield CheckResult(framework, device, *kernel, reason=reason)


def _others(families: Sequence[str], devices: Sequence[str]) -> Iterator[CheckResult]:
    for family in families:
        if family != AllReduce.family:
            reason = f"this project runs {AllReduce.family} alone between processes, not {family}"
            yield CheckResult(ALL, devices[0], family, ALL, reason=reason)


def _row(framework: str, device: str, name: str, precision: str, layout: str) -> CheckResult:
    """Sum on every number of ranks; a rank that fails or holds another sum is wrong."""
    row = CheckResult(
        framework, device, AllReduce.family, AllReduce.operations[0], precision, layout
    )
    try:
        demand_layout(AllReduce, layout)
        all_reduce_kernel.demand_precision(precision)
        for ranks in RANKS:
            with RankGroup(name, ranks) as group:
                for elements in ELEMENTS:
                    row = _compared(row, AllReduce(elements=elements), group)
                    if row.verdict == WRONG:
                        return row
    except Unsupported as lacking:
        return replace(row, verdict=SKIPPED, reason=str(lacking))
    except DeepbenchError as fault:
        return replace(row, verdict=WRONG, reason=str(fault))
    return row


def _compared(row: CheckResult, problem: AllReduce, group: RankGroup) -> CheckResult:
    """Return the row with one more sum compared."""
    kernel = all_reduce_kernel.prepare(problem, group)
    found = check.spot_check(kernel)
    return replace(
        row,
        verdict=OK if found.ok else WRONG,
        error=found.error,
        tolerance=found.tolerance,
        problem=problem.id,
        compared=row.compared + 1,
        reason="" if found.ok else f"entry {found.entry} of {kernel.label} is wrong",
    )
