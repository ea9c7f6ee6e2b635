"""`deepbench table`: published figures of whole models next to those of machines."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from deepbench_ops.analysis.published_model_figures import load
from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import machine_with_results, printed_as, results_folder, say
from deepbench_ops.commands.output_format import show


@click.command()
@click.argument("name", metavar="TABLE")
@click.option(
    "--machine",
    "machines",
    metavar="NAME",
    multiple=True,
    help="A machine whose results are shown next to it; may be repeated.  [default: this one]",
)
@printed_as("table", "markdown", "csv", "json")
@results_folder
def table(name: str, machines: tuple[str, ...], form: str, results: Path) -> None:
    """Print a published table of whole models next to your own figures.

    \b
        deepbench table stcp920
        deepbench table mindspore --machine epyc-7003-2core

    TABLE is mindspore, qingcloud, stcp920 or paper. A figure whose batch, threads or precision
    differ from the published ones says so in square brackets. A number in round brackets refers to
    a reason below the table, such as the command that measures it. There too are the day of
    publication, its source, and the figures that the timeline lacks. Unsteady times are left out,
    with a line that counts them.
    """
    from deepbench_ops.analysis import (
        machine_points,
        missing_reasons,
        model_tables,
        point_reading,
    )
    from deepbench_ops.analysis.model_latency_points import with_latency_runs
    from deepbench_ops.analysis.settings_and_state_agreement import notes
    from deepbench_ops.analysis.unsteady_list import remarks
    from deepbench_ops.asv_adapter import machine_entry
    from deepbench_ops.exchange.published import published_result_filing
    from deepbench_ops.exchange.submissions import entry_conflicts
    from deepbench_ops.machine import machine_profile
    from deepbench_ops.problems.model import Model
    from deepbench_ops.releases import table_location
    from deepbench_ops.storage import model_runs

    figures = load(name)
    releases = {release.hash: release for release in table_location.load(results)}
    here = machine_entry.default_name()
    if not machines and here not in point_reading.machines(results):
        click.echo(f"this machine, {here}, has no results to show next to it", err=True)
    else:
        machines = tuple(machine_with_results(results, name) for name in machines or (here,))
    networks = {figure.network for figure in figures}
    of_models = {"family": [Model.family]}
    asked = {
        machine: [
            point
            for point in machine_points.load(results, machine, releases, only=of_models)
            if isinstance(point.problem, Model) and point.problem.name in networks
        ]
        for machine in machines
    }
    every = [point for found in asked.values() for point in found]
    different = entry_conflicts.remarks((results / each for each in machines), of_runs=True)
    say([*notes(every), *remarks(every), *different], form)
    by_name = {release.name: release for release in releases.values()}
    measured = {
        machine: with_latency_runs(
            machine,
            [point for point in found if not point.unsteady],
            model_runs.load(results / machine),
            by_name,
        )
        for machine, found in asked.items()
    }
    known = {
        machine: missing_reasons.resources_of(
            published_result_filing.entry_of(results / machine / "machine.json") or {},
            machine_profile.read(results, machine),
        )
        for machine in measured
    }
    rows = model_tables.rows(figures, measured, known)
    show(form, lambda: _as_table(rows, form == "markdown"), lambda: rows, lambda: _lines(rows))


def _lines(rows: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """One line for each figure and machine."""
    lines = []
    for row in rows:
        here = row["here"]
        assert isinstance(here, dict)
        for machine, cell in here.items():
            plain = {key: value for key, value in row.items() if key != "here"}
            differs = ", ".join(cell.get("differs", ()))
            why_not = "; ".join(cell["why_not"])
            texts = {"here": machine, "here_differs": differs, "here_why_not": why_not}
            mine = {f"here_{k}": v for k, v in cell.items() if k not in ("differs", "why_not")}
            lines.append(plain | texts | mine)
    return lines


COLUMNS = (
    terminal_tables.Column("model"),
    terminal_tables.Column("pass", wrap=8),
    terminal_tables.Column("precision", wrap=8, drop=1),
    terminal_tables.Column("batch", right=True),
    terminal_tables.Column("threads", right=True, drop=2),
    terminal_tables.Column("machine", wrap=10, drop=3),
    terminal_tables.Column("published", right=True, wrap=10),
    terminal_tables.Column("settings", wrap=10, drop=4),
)


def _as_table(rows: Sequence[dict[str, object]], markdown: bool) -> str:
    """The table for a reader, a column for each machine, and the reasons for missing figures."""
    lines, no_points = [], []
    reasons: dict[str, int] = {}
    names = list(rows[0]["here"])  # type: ignore[call-overload]
    for row in rows:
        here = row["here"]
        assert isinstance(here, dict)
        cells = [_shown(cell, reasons) for cell in here.values()]
        no_points += [row["no_point"]] if row["no_point"] else []
        lines.append([*_published(row), str(row["told"]), *cells])
    columns = [*COLUMNS, *(terminal_tables.Column(name, wrap=12) for name in names)]
    text = terminal_tables.table(columns, lines, markdown)
    notes = [f"({number}) {reason}" for reason, number in reasons.items()]
    notes += [f"published {day}: {basis}" for day, basis in _days(rows)]
    notes += [
        f"{no_points.count(reason)} of {len(rows)} figures are no points of the timeline: {reason}"
        for reason in dict.fromkeys(no_points)
    ]
    return "\n".join([text, "", *(terminal_tables.prose(note, "    ") for note in notes)]).rstrip()


def _days(rows: Iterable[dict[str, object]]) -> Iterable[tuple[object, object]]:
    """Return each day of publication once, with its basis."""
    return dict.fromkeys((row["day"], row["basis"]) for row in rows)


def _published(row: dict[str, object]) -> list[str]:
    devices = f" x {row['devices']}" if int(str(row["devices"])) > 1 else ""
    layout = f", {row['layout']}" if row["layout"] else ""
    return [
        str(row["printed"]),
        str(row["operation"]),
        f"{row['precision'] or 'not stated'}{layout}",
        str(row["batch"] or "not stated"),
        str(row["threads"]),
        f"{row['machine']}{devices}, {row['framework']}",
        f"{row['published']:,.10g} {row['unit']}",
    ]


def _shown(cell: dict[str, object], reasons: dict[str, int]) -> str:
    """Items per second with their interval, how they were measured otherwise, and the numbers of
    the reasons; `reasons` has each one's number, and new ones are added to it."""
    why_not, differs = cell["why_not"], cell.get("differs", [])
    assert isinstance(why_not, list)
    assert isinstance(differs, list)
    text = ""
    if "per_second" in cell:
        text = f"{cell['per_second']:.4g}/s"
        if cell["low"] is not None:
            text += f" ({cell['low']:.4g} to {cell['high']:.4g})"
        else:
            text += f" ({cell['without_interval']})"
    numbers = [str(reasons.setdefault(reason, len(reasons) + 1)) for reason in why_not]
    marks = [f"[{', '.join(differs)}]" if differs else ""]
    marks.append(f"({', '.join(numbers)})" if numbers else "")
    return " ".join(filter(None, [text, *marks]))
