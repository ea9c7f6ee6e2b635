"""`deepbench backends`: kernels and precisions of each framework, and reasons for missing ones."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deepbench_ops.backends import DEVICES, NAMES
from deepbench_ops.commands import progress_line, terminal_tables
from deepbench_ops.commands.check import known, once, show_step
from deepbench_ops.commands.options import printed_as, several
from deepbench_ops.commands.output_format import show
from deepbench_ops.problems import ALL_PRECISIONS, FAMILIES, PRECISIONS
from deepbench_ops.problems.problem_lists import TYPES, family_name

if TYPE_CHECKING:
    from deepbench_ops.backends.backend_check_table import CheckResult

YES = "yes"
KINDS = 2
"""Of each family: the first convolution listed is a first layer, which has no backward data."""


@click.command()
@several("--framework", "frameworks", NAMES)
@click.option(
    "--device",
    metavar="D",
    default=DEVICES[0],
    show_default=True,
    help=f"On this device: {', '.join(DEVICES)}.",
)
@several("--family", "families", tuple(TYPES))
@printed_as("table", "json")
def backends(
    frameworks: tuple[str, ...], device: str, families: tuple[str, ...], form: str
) -> None:
    """Print which framework has which kernel, and why others are missing.

    \b
        deepbench backends --family gemm

    One small problem of each kind of kernel is computed by every installed framework and compared
    with float64, which takes one to three minutes for all. A cell is yes, or the number of a reason
    below the table. "deepbench check" tries every kind of problem.
    """
    names = once(known("framework", name, NAMES) for name in frameworks) or NAMES
    place = known("device", device, DEVICES)
    chosen = once(family_name(name) for name in families) or FAMILIES
    from deepbench_ops.measure import threads

    count = threads.fix()
    from deepbench_ops.backends import backend_check_table
    from deepbench_ops.distributed import collective_check_table as between_processes

    in_one, between = between_processes.split_by_processes(chosen)
    found = list(
        backend_check_table.rows(
            names, (place,), in_one, (), threads=count, kinds=KINDS, report=show_step
        )
    )
    found += between_processes.rows(between, names, (place,), PRECISIONS, report=show_step)
    found += between_processes.lacking(between, names, place)
    progress_line.clear()
    show(form, lambda: as_table(found), lambda: [asdict(row) for row in found])


def as_table(found: Sequence["CheckResult"]) -> str:
    """A line for each kernel, a column for each precision, and the reasons numbered below."""
    from deepbench_ops.backends import backend_check_table

    reasons: dict[str, int] = {}
    cells: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in found:
        had = row.verdict == backend_check_table.OK
        number = YES if had else str(reasons.setdefault(row.reason, len(reasons) + 1))
        line = cells.setdefault((row.framework, row.family, row.operation), {})
        every = TYPES[row.family].precisions if row.family in TYPES else PRECISIONS
        asked = every if row.precision not in ALL_PRECISIONS else (row.precision,)
        line |= dict.fromkeys(asked, number)
    shown = [name for name in ALL_PRECISIONS if any(name in by for by in cells.values())]
    lines = [[*kernel, *(by.get(name, "") for name in shown)] for kernel, by in cells.items()]
    columns = [
        terminal_tables.Column("framework"),
        terminal_tables.Column("family"),
        terminal_tables.Column("operation"),
    ]
    columns += [terminal_tables.Column(name) for name in shown]
    below = [
        terminal_tables.prose(f"{number:>3}  {reason}", " " * 5)
        for reason, number in reasons.items()
    ]
    return "\n".join([terminal_tables.table(columns, lines), *(["", *below] if below else [])])
