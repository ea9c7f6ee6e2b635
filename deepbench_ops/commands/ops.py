"""`deepbench ops`: the operations of a whole model, with their shapes and their share."""

from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import stderr_filter, terminal_tables
from deepbench_ops.commands.options import device_option, precision_option, printed_as
from deepbench_ops.commands.output import show
from deepbench_ops.commands.whole_model import demand, ready
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import OPERATIONS_SUFFIX

if TYPE_CHECKING:
    from deepbench_ops.measure.step_breakdown import OperationShare, StepBreakdown

PROFILER_MARK = b"USDT:"
"""Begins the lines that torch's profiler writes where it starts and stops, at any log level."""


@click.command()
@click.argument("name", metavar="MODEL")
@click.option("--batch", metavar="B", default=1, show_default=True, help="Items at once.")
@click.option(
    "--pass",
    "operation",
    type=click.Choice(Model.operations),
    default="forward",
    show_default=True,
    help="Inference or training.",
)
@precision_option
@device_option
@click.option(
    "--top", metavar="N", type=click.IntRange(min=1), help="Only the N that take longest."
)
@printed_as("table", "csv", "json")
def ops(
    name: str, batch: int, operation: str, precision: str, device: str, top: int | None, form: str
) -> None:
    """List the operations of one step of MODEL with their share of the time.

    \b
        deepbench ops bert_128 --batch 8 --pass training_step --top 10

    Each distinct operation is one line: shapes, type, calls in a step, FLOPs and bytes of a call,
    FLOPs per byte, the seconds of all its calls within a step by torch's profiler, their share of
    the measured step, and the seconds of a call measured alone. The part of the step that the
    operations do not explain is the framework's overhead. Lines of CSV end with the figures of the
    whole step. "deepbench problems --family model" lists the models.
    """
    demand("--batch", batch)
    backend, problem = ready(name, batch, precision, operation + OPERATIONS_SUFFIX, device)
    from deepbench_ops.backends import check
    from deepbench_ops.measure.step_breakdown import breakdown

    check.verify(backend, problem, precision, operation)
    with stderr_filter.hidden_lines(PROFILER_MARK):
        found = breakdown(backend.build(problem, precision, operation), device)
    lines = [_line(found, part) for part in found.parts[:top]]
    summary = {
        "model": name,
        "batch": batch,
        "pass": operation,
        "precision": precision,
        "framework": backend.versions()["framework"],
        "step_seconds": found.whole,
        "operations_alone_seconds": found.alone,
        "overhead": found.overhead,
    }
    show(
        form,
        lambda: _as_table(found, lines),
        lambda: summary | {"operations": lines},
        lambda: [line | summary for line in lines],
    )


COLUMNS = (
    terminal_tables.Column("operation", wrap=14),
    terminal_tables.Column("operands", wrap=16),
    terminal_tables.Column("dtype", drop=3),
    terminal_tables.Column("calls", right=True),
    terminal_tables.Column("MFLOP", right=True),
    terminal_tables.Column("MB", right=True, drop=1),
    terminal_tables.Column("FLOP/byte", right=True, drop=2),
    terminal_tables.Column("% of step", right=True),
    terminal_tables.Column("alone ms", right=True),
    terminal_tables.Column("GFLOP/s", right=True),
)


def _line(found: "StepBreakdown", part: "OperationShare") -> dict[str, object]:
    each = part.operation
    return {
        "operation": each.name,
        "kind": each.kind,
        "operands": each.operands,
        "dtype": each.dtype,
        "calls": each.calls,
        "flops": each.flops,
        "bytes": each.bytes,
        "intensity": each.flops / each.bytes if each.bytes else None,
        "seconds_in_step": part.inside,
        "share": found.share(part),
        "seconds_alone": part.alone,
        "flop_per_second": each.flops / part.alone if part.alone and each.flops else None,
    }


def _as_table(found: "StepBreakdown", lines: list[dict[str, object]]) -> str:
    shown = [
        [
            line["operation"],
            line["operands"],
            line["dtype"],
            line["calls"],
            _scaled(line["flops"], 1e-6),
            _scaled(line["bytes"], 1e-6),
            _scaled(line["intensity"], 1),
            _scaled(line["share"], 100),
            _scaled(line["seconds_alone"], 1e3),
            _scaled(line["flop_per_second"], 1e-9),
        ]
        for line in lines
    ]
    conclusion = (
        "the machine was disturbed, and the framework's overhead is not known: run it again"
        if found.overhead is None
        else f"the framework's overhead is {100 * found.overhead:.1f} %"
    )
    below = terminal_tables.prose(
        f"a step takes {found.whole * 1e3:.4g} ms; its operations, each alone and as often as it"
        f" is called, {found.alone * 1e3:.4g} ms: {conclusion}"
    )
    return f"{terminal_tables.table(COLUMNS, shown)}\n{below}"


def _scaled(number: object, factor: float) -> str:
    return f"{number * factor:.3g}" if isinstance(number, int | float) and number else ""
