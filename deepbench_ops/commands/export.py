"""`deepbench export`: results of a machine as a workbook or a tidy table."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands.options import format_option, results_folder, say
from deepbench_ops.commands.output_format import as_json
from deepbench_ops.errors import DeepbenchError, NoAnswer
from deepbench_ops.storage import atomic_write

if TYPE_CHECKING:
    from deepbench_ops.analysis.points import Point


@click.command()
@click.argument(
    "output", metavar="[FILE]", required=False, type=click.Path(path_type=Path, dir_okay=False)
)
@click.option("--machine", metavar="NAME", required=True, help="Whose results.")
@click.option("--release", metavar="R", help="Only this release, such as torch-2.13.0.")
@click.option("--set", "published_set", metavar="S", help="Only this published set.")
@click.option("--device", metavar="D", help="Only times on this device, such as cpu or cuda.")
@format_option(
    ["xlsx", "csv", "json", "parquet"],
    None,
    "The form of the file (default: by the ending of FILE).",
)
@results_folder
def export(
    output: Path | None,
    machine: str,
    release: str | None,
    published_set: str | None,
    device: str | None,
    form: str | None,
    results: Path,
) -> None:
    """Write the results of a machine as a workbook or a table.

    \b
        deepbench export --machine our-card --format xlsx
        deepbench export ours.xlsx --machine our-card --release torch-2.13.0 --set training
        deepbench export all.csv --machine our-card

    xlsx is a workbook in DeepBench's style, of one release (the newest, if none is named) and set,
    under the usual conditions and the same external settings, without whole models; csv, json
    and parquet are one table with a row for each time. "deepbench import" reads all of them back,
    with intervals and samples.

    Without FILE, csv and json go to standard output, the others to files that are named after
    machine and release, a workbook for each set.
    """
    from deepbench_ops.analysis import machine_points, point_filter
    from deepbench_ops.exchange import export_table_writer
    from deepbench_ops.problems.problem_lists import set_name
    from deepbench_ops.problems.suggestions import unknown
    from deepbench_ops.releases import table_location

    texts = {"csv": export_table_writer.as_csv, "json": lambda rows: as_json(rows) + "\n"}
    form = form or (output.suffix.removeprefix(".") if output is not None else "")
    if form not in (*texts, "xlsx", "parquet"):
        raise DeepbenchError(
            f"--format is missing{f', and {output} ends in none' if output else ''}: choose one of"
            f" xlsx, {', '.join(texts)}, parquet"
        )
    releases = {each.hash: each for each in table_location.load(results)}
    wanted = set_name(published_set) if published_set is not None else None
    only = {
        **(point_filter.of_release(release, releases) if release is not None else {}),
        **({"set": [wanted]} if wanted is not None else {}),
        **({"device": [device]} if device is not None else {}),
    }
    found = machine_points.load(results, machine, releases, samples=True, only=only)
    if not found:  # or the release table lacks the release
        found = machine_points.load(results, machine, releases, samples=True)
        for what, name, of in (
            (f"release of {machine}", release, lambda point: point.release.name),
            (f"set of {machine}", wanted, lambda point: point.set),
            (f"device of {machine}", device, lambda point: point.device),
        ):
            if name is not None:
                known = sorted({of(point) for point in found})
                found = [point for point in found if of(point) == name]
                if not found:
                    raise unknown(what, name, known)
    if form == "xlsx":
        _workbooks(results, machine, output, found)
    elif form == "parquet":
        path = output or Path(f"{machine}.parquet")
        export_table_writer.write_parquet(path, list(map(export_table_writer.row, found)))
        click.echo(f"{len(found)} times of {machine} in {path}")
    elif output is None:
        click.echo(texts[form](list(map(export_table_writer.row, found))), nl=False)
    else:
        atomic_write.write_text(output, texts[form](list(map(export_table_writer.row, found))))
        click.echo(f"{len(found)} times of {machine} in {output}")


def _workbooks(results: Path, machine: str, output: Path | None, found: Sequence["Point"]) -> None:
    """Write workbooks: all to `output`, or each set to a file of its own."""
    from deepbench_ops.analysis import settings_and_state_agreement
    from deepbench_ops.asv_adapter import published_results
    from deepbench_ops.exchange.workbooks import workbook_writer
    from deepbench_ops.machine import machine_profile

    found = [point for point in found if point.usual_run and workbook_writer.has_column(point)]
    if not found:
        raise NoAnswer("nothing to export: no selected result fits into a workbook: write .csv")
    release = max(found, key=lambda point: point.release.date).release
    found, *apart = settings_and_state_agreement.groups_that_agree(
        [point for point in found if point.release == release]
    )
    say(settings_and_state_agreement.notes([], [point for group in apart for point in group]))
    stack = published_results.stack_of(results / machine, release)
    known = machine_profile.read(results, machine)
    facts = known.facts if known is not None and release.measurable else {}
    facts = {"Machine": machine, **facts, **stack, "Release": release.name}
    sets = {output: found} if output is not None else {}
    for point in found if output is None else ():
        sets.setdefault(Path(f"{machine}-{release.name}-{point.set}.xlsx"), []).append(point)
    for path, of_set in sets.items():
        workbook_writer.write(path, of_set, facts)
        click.echo(f"{len(of_set)} times of {machine} with {release.name} in {path}")
