"""`deepbench overhead`: time of whole models beyond their operations, release by release."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import machine_with_results, printed_as, results_folder
from deepbench_ops.commands.output_format import show
from deepbench_ops.errors import NoAnswer
from deepbench_ops.problems import PRECISIONS
from deepbench_ops.problems.model import Model, network_size

if TYPE_CHECKING:
    from deepbench_ops.analysis.model_overhead import Overhead

MEASURE = 'asv run --bench "$(deepbench select models-inference --apart)" torch'


@click.command()
@click.argument("name", metavar="[MODEL]", required=False)
@click.option("--machine", metavar="NAME", help="The machine.  [default: this one]")
@click.option("--batch", metavar="B", type=click.IntRange(min=1), help="Only this batch.")
@click.option("--pass", "operation", type=click.Choice(Model.operations), help="Only this pass.")
@click.option("--precision", type=click.Choice(PRECISIONS), help="Only this precision.")
@printed_as("table", "markdown", "csv", "json")
@results_folder
def overhead(
    name: str | None,
    machine: str | None,
    batch: int | None,
    operation: str | None,
    precision: str | None,
    form: str,
    results: Path,
) -> None:
    """Print the time of a model's step beyond its operations, by release.

    \b
        deepbench overhead bert_128 --pass training_step

    The operations of the step are measured one by one; the rest of the step is the framework's
    overhead. It is below zero if an operation finds in the cache the result of the one before.
    Only releases that measured both are listed; without MODEL, all models. "deepbench ops" measures
    one step now.
    """
    from deepbench_ops.analysis import machine_points
    from deepbench_ops.analysis.model_overhead import overheads
    from deepbench_ops.releases import table_location

    if name is not None:
        network_size(name)
    releases = {release.hash: release for release in table_location.load(results)}
    whose = machine_with_results(results, machine, f"some with {MEASURE}")
    asked = {"name": name, "batch": batch}
    of_models = {"family": [Model.family]}
    lines = [
        as_dict(found)
        for found in overheads(machine_points.load(results, whose, releases, only=of_models))
        if all(v is None or v == getattr(found.whole.problem, k) for k, v in asked.items())
        and operation in (None, found.whole.operation)
        and precision in (None, found.whole.precision)
    ]
    lines.sort(key=lambda line: (line["problem"], line["pass"], line["precision"]))
    if not lines:
        kinds = filter(None, (name, operation, precision, f"batch {batch}" if batch else None))
        raise NoAnswer(
            f"{whose} has no release with both times of {', '.join(kinds) or 'any model'}, of the"
            f" step and of its operations: measure them with {MEASURE}"
        )
    show(form, lambda: _as_table(lines, form == "markdown"), lambda: lines, lambda: lines)


def as_dict(found: "Overhead") -> dict[str, Any]:
    """One line for another program: times in seconds, the overhead as a part of the step."""
    whole = found.whole
    low, high = found.interval or (None, None)
    return {
        "problem": whole.problem_id,
        "pass": whole.operation,
        "precision": whole.precision,
        "release": whole.release.name,
        "day": whole.release.date.isoformat(),
        "conditions": ", ".join(whole.unusual.values()),
        "step_seconds": whole.seconds,
        "operations_alone_seconds": found.operations.seconds,
        "overhead": found.part,
        "overhead_low": low,
        "overhead_high": high,
    }


COLUMNS = (
    terminal_tables.Column("problem"),
    terminal_tables.Column("pass"),
    terminal_tables.Column("precision", drop=1),
    terminal_tables.Column("release"),
    terminal_tables.Column("step, ms", right=True),
    terminal_tables.Column("operations, ms", right=True),
    terminal_tables.Column("overhead", wrap=8),
)


def _as_table(lines: Sequence[dict[str, Any]], markdown: bool) -> str:
    rows = [
        [
            line["problem"],
            line["pass"],
            ", ".join(filter(None, (line["precision"], line["conditions"]))),
            line["release"],
            f"{line['step_seconds'] * 1e3:.4g}",
            f"{line['operations_alone_seconds'] * 1e3:.4g}",
            _shown(line),
        ]
        for line in lines
    ]
    return terminal_tables.table(COLUMNS, rows, markdown)


def _shown(line: dict[str, Any]) -> str:
    """Percent, with the interval where there is one."""
    text = f"{100 * line['overhead']:.1f} %"
    if line["overhead_low"] is None:
        return text
    return f"{text} ({100 * line['overhead_low']:.1f} to {100 * line['overhead_high']:.1f})"
