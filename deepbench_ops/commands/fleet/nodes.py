"""`deepbench fleet nodes`: the nodes of a machine type compared."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.fleet.plan_file import path_of, read
from deepbench_ops.commands.options import percentage, printed_as
from deepbench_ops.commands.output_format import show
from deepbench_ops.errors import DeepbenchError, NoAnswer

NODES = (
    terminal_tables.Column("machine type", drop=1),
    terminal_tables.Column("node"),
    terminal_tables.Column("family"),
    terminal_tables.Column("kernels", right=True, drop=2),
    terminal_tables.Column("time / median", right=True),
    terminal_tables.Column("interval"),
    terminal_tables.Column("found"),
    terminal_tables.Column("slow since"),
)


@click.command()
@click.argument(
    "paths", metavar="[PLAN...]", nargs=-1, type=click.Path(path_type=Path, dir_okay=False)
)
@click.option(
    "--beyond",
    metavar="PERCENT",
    default="3%",
    show_default=True,
    callback=percentage,
    help="By how much a node must differ, with certainty.",
)
@printed_as("table", "json")
def nodes(paths: tuple[Path, ...], beyond: float, form: str) -> None:
    """Compare the nodes of each machine type by a plan that every node has run.

    \b
        deepbench fleet plan nodes-november/plan.json --every-node --system site
        deepbench fleet run nodes-november/plan.json
        deepbench fleet nodes nodes-november/plan.json

    Each node is compared with the median of the nodes that measured the same kernel, in raw
    seconds: a ratio for each family and for all kernels, with an interval. A node without kernels
    that most nodes have measured is named below the table. Of several PLANs the newest is shown, by
    the times of their measurements, with the day (UTC) since which a slow node has been slow.

    Jobs with a damaged file are named and left out.

    Ends with status 1 where a node is slow, with 3 where nothing can be compared.
    """
    from deepbench_ops.fleet import node_comparison, node_surveys

    plans = [(read(path), path) for path in paths or (path_of(None),)]
    if not all(found.every_node for found, _ in plans):
        raise DeepbenchError("name plans that were made with --every-node")
    damaged: list[str] = []
    surveys = node_surveys.by_machine_type(
        [node_comparison.times_of(found, path, damaged) for found, path in plans]
    )
    for line in damaged:
        click.echo(line, err=True)
    compared = {
        machine: [node_comparison.compare(each, beyond) for each in own]
        for machine, own in surveys.items()
    }
    rows = [
        {
            "machine": machine,
            **asdict(level),
            "slow_since": since.get(level.place),
        }
        for machine, levels in compared.items()
        for since in [node_comparison.slow_since(levels)]
        for level in levels[-1]
    ]
    if not rows:
        raise NoAnswer(
            f"no machine type has {node_comparison.FEWEST_NODES} nodes that measured the same"
            " kernels: deepbench fleet run measures them"
        )
    show(form, lambda: _nodes(rows), lambda: rows)
    if any(row["kind"] == node_comparison.SLOW for row in rows):
        raise click.exceptions.Exit(1)


def _nodes(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the nodes as a table, those that differ first, and the incomplete ones below it."""
    from deepbench_ops.fleet import node_comparison, node_surveys

    order = sorted(rows, key=lambda row: (row["machine"], not row["kernels"], -row["ratio"]))
    cells = [
        [
            row["machine"],
            row["node"],
            row["family"],
            _measured(row),
            f"{row['ratio']:.3f}" if row["kernels"] else "-",
            f"{row['low']:.3f} .. {row['high']:.3f}" if row["low"] else "-",
            row["kind"],
            node_surveys.day(row["slow_since"]) if row["slow_since"] else "",
        ]
        for row in order
    ]
    incomplete = [
        f"{row['machine']}: {row['node']} measured {_measured(row)} kernels"
        for row in rows
        if row["family"] == node_comparison.ALL and row["missing"]
    ]
    return "\n".join([terminal_tables.table(NODES, cells), *map(terminal_tables.prose, incomplete)])


def _measured(row: Mapping[str, Any]) -> str:
    """Return the number of a row's kernels, and of how many where some are missing."""
    kernels, missing = row["kernels"], row["missing"]
    return f"{kernels} of {kernels + missing}" if missing else f"{kernels}"
