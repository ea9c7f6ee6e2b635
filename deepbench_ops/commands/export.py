"""`deepbench export`: results of a machine as a workbook or a tidy table."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deepbench_ops.commands.options import results_folder
from deepbench_ops.errors import DeepbenchError

if TYPE_CHECKING:
    from deepbench_ops.analysis.points import Point


@click.command()
@click.argument("output", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--machine", metavar="NAME", required=True, help="Whose results.")
@click.option("--release", metavar="R", help="Only this release, such as torch-2.13.0.")
@click.option("--set", "published_set", metavar="S", help="Only this published set.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["xlsx", "csv", "json", "parquet"]),
    help="What is written (default: by the ending of FILE).",
)
@results_folder
def export(
    output: Path,
    machine: str,
    release: str | None,
    published_set: str | None,
    form: str | None,
    results: Path,
) -> None:
    """Write results of a machine to FILE.

    xlsx is a workbook in DeepBench's style, of one release and set, which "deepbench import" reads
    back, without whole models; csv, json and parquet are one table with a row for each time.

    \b
        deepbench export ours.xlsx --machine our-card --release torch-2.13.0 --set training
        deepbench export all.csv --machine our-card
    """
    from deepbench_ops.analysis import points
    from deepbench_ops.exports import workbook
    from deepbench_ops.machine import profile
    from deepbench_ops.problems.tables import FAMILIES, set_name
    from deepbench_ops.releases import table

    releases = {each.hash: each for each in table.load()}
    found = points.load(results, machine, releases)
    known = profile.read(results, machine)
    if release is not None:
        found = [point for point in found if point.release.name == release]
    if published_set is not None:
        wanted = set_name(published_set)
        found = [point for point in found if point.set == wanted]
    form = form or output.suffix.removeprefix(".")
    if form == "xlsx":
        facts = {"Machine": machine, **(known.facts if known else {})}
        if found:
            facts["Release"] = found[0].release.name
        found = [point for point in found if point.family in FAMILIES]  # it has no sheet of models
        workbook.write(output, found, facts)
    elif form in _WRITERS:
        _WRITERS[form](output, [_row(point) for point in found])
    else:
        raise DeepbenchError(f"{output}: its ending names no format: give --format")
    click.echo(f"{len(found)} times of {machine} in {output}")


def _row(point: "Point") -> dict[str, Any]:
    """One time as the tidy tables have it; seconds, never derived figures."""
    return {
        "machine": point.machine,
        "framework": point.release.framework,
        "release": point.release.version,
        "date": point.release.date.isoformat(),
        "family": point.family,
        "set": point.set,
        "problem": point.problem_id,
        "precision": point.precision,
        "pass": point.operation,
        "ranks": point.ranks,
        **point.conditions,
        "seconds": point.seconds,
        "low": point.low,
        "high": point.high,
        "samples": point.samples,
        "source": "measured" if point.release.measurable else "published",
    }


def _csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]) if rows else ["machine"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _json(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _parquet(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    try:
        from pyarrow import Table, parquet
    except ModuleNotFoundError:
        raise DeepbenchError(
            "parquet needs pyarrow, which is missing here: pip install pyarrow"
        ) from None
    parquet.write_table(Table.from_pylist(list(rows)), path)


_WRITERS = {"csv": _csv, "json": _json, "parquet": _parquet}
