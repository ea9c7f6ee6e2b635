"""`deepbench check`: every kernel on small problems, its error beside what is allowed."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import click
from tabulate import tabulate

from deepbench_ops.backends import DEVICES, NAMES
from deepbench_ops.commands.options import several
from deepbench_ops.conditions import LAYOUT
from deepbench_ops.problems import FAMILIES, PRECISIONS
from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.problems.nearest import unknown
from deepbench_ops.problems.precision import precision as known_precision
from deepbench_ops.problems.tables import TYPES, family_name

if TYPE_CHECKING:
    from deepbench_ops.backends.sweep import Row

ANY_WRONG = 1
"""The exit status when a kernel computes a wrong result."""


@click.command()
@several("--framework", "frameworks", NAMES)
@several("--device", "devices", DEVICES)
@several("--family", "families", tuple(TYPES))
@several("--precision", "precisions", PRECISIONS)
@several("--layout", "layouts", LAYOUT.values)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="A table to read, or CSV or JSON for another program.",
)
def check(
    frameworks: tuple[str, ...],
    devices: tuple[str, ...],
    families: tuple[str, ...],
    precisions: tuple[str, ...],
    layouts: tuple[str, ...],
    form: str,
) -> None:
    """Compare every kernel with float64, on small problems, and time none.

    One line for each framework, device, family, operation, precision and layout of tensors that
    the family has. The problems are those of the published lists cut down to a size at which
    every entry of the output can be compared, one of each kind; all-reduces run between two and
    between three processes. Shown is the entry that comes nearest to what is allowed, or is
    furthest beyond it: its error and its tolerance.

    \b
      ok       every entry of every problem is within its tolerance
      wrong    some entry is not, or the kernel fails: the exit status is 1
      skipped  not to be had here, and why
    """
    wanted = (
        once(known("framework", name, NAMES) for name in frameworks) or NAMES,
        once(known("device", name, DEVICES) for name in devices) or DEVICES,
        once(family_name(name) for name in families) or FAMILIES,
        once(known_precision(name).name for name in precisions) or PRECISIONS,
    )
    lying = once(known("layout", name, LAYOUT.values) for name in layouts)
    from deepbench_ops.measure import threads

    count = threads.fix()
    # The frameworks are only imported now, after their thread counts were settled.
    from deepbench_ops.backends import sweep
    from deepbench_ops.ranks import sweep as between_processes

    places, chosen, kinds = wanted[:2], wanted[2], wanted[3]
    found: list[Row] = []
    if in_one := [family for family in chosen if family != AllReduce.family]:
        found += sweep.rows(*places, in_one, kinds, threads=count, tell=tell, layouts=lying)
    if AllReduce.family in chosen:
        found += between_processes.rows(*places, kinds, tell=tell, layouts=lying)
    written = {"table": as_table, "csv": as_csv, "json": as_json}[form](found)
    click.echo(written)
    verdicts = Counter(row.verdict for row in found)
    counted = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in sweep.VERDICTS)
    click.echo(counted, err=form != "table")
    if verdicts[sweep.WRONG]:
        click.get_current_context().exit(ANY_WRONG)


def known(what: str, name: str, names: Sequence[str]) -> str:
    """The name itself; DeepbenchError where it is none of `names`."""
    if name not in names:
        raise unknown(what, name, names)
    return name


def once(names: Iterable[str]) -> tuple[str, ...]:
    """The names without repetitions, in the order in which they were given."""
    return tuple(dict.fromkeys(names))


def tell(step: str) -> None:
    """Say what is being checked, apart from the output proper."""
    click.echo(f"checking: {step} ...", err=True)


def as_json(found: Sequence["Row"]) -> str:
    """A list with an object a row; error and tolerance are null where nothing was compared."""
    return json.dumps([asdict(row) for row in found], indent=1, allow_nan=False)


def as_csv(found: Sequence["Row"]) -> str:
    """One line a row; error and tolerance are empty where nothing was compared."""
    out = io.StringIO()
    names = [field.name for field in fields(found[0])]
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in found)
    return out.getvalue().rstrip("\n")


def as_table(found: Sequence["Row"]) -> str:
    """The rows for a reader, errors to three digits."""
    headers = ["framework", "device", "family", "operation", "precision", "layout"]
    headers += ["error", "tolerance", "verdict", "reason"]
    lines = [
        [
            row.framework,
            row.device,
            row.family,
            row.operation,
            row.precision,
            row.layout,
            shown(row.error),
            shown(row.tolerance),
            row.verdict,
            row.reason,
        ]
        for row in found
    ]
    align = ("left",) * 6 + ("right",) * 2 + ("left",) * 2
    return tabulate(lines, headers, "simple", disable_numparse=True, colalign=align)


def shown(number: float | None) -> str:
    """A figure to three digits, 0 as such, nothing for none."""
    if number is None:
        return ""
    return f"{number:.2e}" if number else "0"
