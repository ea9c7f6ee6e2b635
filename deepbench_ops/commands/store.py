"""`deepbench store`: results as Parquet files, for SQL and other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import results_folder, store_folder
from deepbench_ops.errors import NoAnswer

if TYPE_CHECKING:
    from deepbench_ops.analysis.parquet_store import Store

_KEPT = ": the store, which was made elsewhere, is kept"

COLUMNS = (
    terminal_tables.Column("machine"),
    terminal_tables.Column("times", right=True),
    terminal_tables.Column("state"),
)


@click.group()
def store() -> None:
    """Write results as Parquet files, which any tool for tables reads.

    \b
        deepbench store build

    The files are made from results/ and can be made again from it at any time. "deepbench query"
    asks them in SQL.
    """


@store.command()
@click.option("--again", is_flag=True, help="Make all files, also of unchanged results.")
@store_folder
@results_folder
def build(again: bool, folder: Path | None, results: Path) -> None:
    """Make the files of each machine whose results have changed.

    \b
        deepbench store build
        deepbench store build --again --store /data/deepbench

    \b
    In the folder store/ next to results/, with a file for each machine:
        times/       a row for each time: seconds, interval, conditions, release
        samples/     the samples behind them
        counts/      FLOPs, bytes and items of each kernel
        rounds/      rounds of histories: the seconds of each sweep
        model_runs/  runs of "deepbench latency" and "deepbench scaling"
        machines/    description, peaks and bandwidths
        libraries/   libraries and other software of each release
    """
    found = opened(folder, results)
    parts = list(found.build(again))
    if not parts:
        raise NoAnswer(f"no results in {results}" + ("" if not found.machines else _KEPT))
    made = sum(part.made for part in parts)
    click.echo(
        f"{sum(part.times for part in parts)} times of {len(parts)} machines in {found.folder},"
        f" {made} of them made now"
    )


@store.command()
@store_folder
@results_folder
def status(folder: Path | None, results: Path) -> None:
    """Say which machines' files are up to date.

    \b
        deepbench store status

    Ends with status 3 where any are not. A store that was copied from elsewhere, without the
    results that it was made from, cannot be checked here.
    """
    from deepbench_ops.analysis import parquet_store

    found = opened(folder, results)
    sizes = found.sizes()
    states = dict.fromkeys(sizes, "a copy") if found.is_copy else found.states()
    rows = [[machine, str(sizes.get(machine, "-")), state] for machine, state in states.items()]
    click.echo(terminal_tables.table(COLUMNS, rows))
    if found.is_copy:
        raise NoAnswer(f"{results} holds no results: whether the copy is up to date is not known")
    if old := [machine for machine, state in states.items() if state != parquet_store.FRESH]:
        raise NoAnswer(f"{len(old)} machines are out of date: deepbench store build")


def opened(folder: Path | None, results: Path) -> "Store":
    """Return the store in a folder, by default the one next to the results."""
    from deepbench_ops.analysis.parquet_store import Store

    return Store(folder, results) if folder else Store.next_to(results)
