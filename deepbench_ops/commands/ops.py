"""`deepbench ops`: the operations of a whole model, with their shapes and their share."""

from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import stderr_filter, terminal_tables
from deepbench_ops.commands.options import device_option, precision_option, printed_as
from deepbench_ops.commands.output_format import show
from deepbench_ops.commands.terminal_tables import Column
from deepbench_ops.commands.whole_model_setup import demand, prepared_model
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import OPERATIONS_SUFFIX
from deepbench_ops.problems.problem_lists import load, named
from deepbench_ops.run_conditions import CACHE, EXECUTION, LAYOUT, demand_usual

if TYPE_CHECKING:
    from deepbench_ops.measure.step_breakdown import FamilyShare, OperationShare, StepBreakdown

PROFILER_MARK = b"USDT:"
"""Begins the lines that torch's profiler writes where it starts and stops, at any log level."""

OPERATION, FAMILY = "operation", "family"
"""Contents of a line: an operation of the framework, or the layers of one problem of a family."""


@click.command()
@click.argument("name", metavar="MODEL")
@click.option("--batch", metavar="B", default=1, show_default=True, help="Inputs in a batch.")
@click.option(
    "--pass",
    "operation",
    type=click.Choice(Model.operations),
    default="forward",
    show_default=True,
    help="Inference or training.",
)
@click.option(
    "--by",
    type=click.Choice((OPERATION, FAMILY)),
    help="A line for each operation of torch, or for each problem of modern families: family for"
    " modern networks, operation for others, unless given.",
)
@precision_option
@device_option
@click.option(
    "--top", metavar="N", type=click.IntRange(min=1), help="Only the N that take longest."
)
@printed_as("table", "csv", "json")
def ops(
    name: str,
    batch: int,
    operation: str,
    by: str | None,
    precision: str,
    device: str,
    top: int | None,
    form: str,
) -> None:
    """List the operations of one step of MODEL with their share of the time.

    \b
        deepbench ops bert_128 --batch 8 --pass training_step --top 10
        deepbench ops llama_1b_prefill_128 --by family

    By operation, each distinct operation is one line: shapes, type, calls in a step, FLOPs and
    bytes of a call, FLOPs per byte, the seconds of all its calls within a step by torch's profiler,
    their share of the measured step, and the seconds of a call measured alone. By family, each
    distinct layer is one: the problem's id where the lists have it, else its sizes in words, and
    the problem's own FLOPs and bytes; operations outside of all layers follow by name. The part of
    the step that the operations do not explain is the framework's overhead. Lines of CSV end with
    the figures of the whole step. The network is eager, in the layout of DEEPBENCH_LAYOUT and with
    warm caches. "deepbench problems --family model" lists the models.
    """
    demand("--batch", batch)
    demand_usual(
        [CACHE, EXECUTION],
        "deepbench ops lists the operations of eager networks, with warm caches; unset it",
    )
    if precision == "int8":
        raise DeepbenchError(
            "deepbench ops lists the operations of eager networks, which have no int8: deepbench"
            f" latency {name} --precision int8 --by compiled times the whole network"
        )
    layout = LAYOUT.asked()
    backend, problem = prepared_model(name, batch, precision, operation + OPERATIONS_SUFFIX, device)
    backend.layout = layout
    by = by or (FAMILY if _of_today(name) else OPERATION)
    from deepbench_ops.backends import output_check
    from deepbench_ops.measure.step_breakdown import breakdown

    output_check.verify(backend, problem, precision, operation)
    with stderr_filter.hidden_lines(PROFILER_MARK):
        kernel = backend.build(problem, precision, operation)
        found = breakdown(kernel, device, by_family=by == FAMILY)
    if by == FAMILY:
        lines = [_family_line(found, part, precision) for part in found.families[:top]]
    else:
        lines = [_line(found, part) for part in found.parts[:top]]
    summary = {
        "model": name,
        "batch": batch,
        "pass": operation,
        "precision": precision,
        "framework": backend.versions()["framework"],
        **({"layout": layout} if layout != LAYOUT.usual else {}),
        "step_seconds": found.whole,
        "operations_alone_seconds": found.alone,
        "overhead": found.overhead,
    }
    show(
        form,
        lambda: _as_table(found, lines, by, layout),
        lambda: summary | {"families" if by == FAMILY else "operations": lines},
        lambda: [line | summary for line in lines],
    )


def _of_today(name: str) -> bool:
    """Whether a network is modern, that is, made of modern families."""
    return any(each.sizes()["name"] == name for each in load("model", "modern_full"))


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


def _family_line(found: "StepBreakdown", part: "FamilyShare", precision: str) -> dict[str, object]:
    """Return a line whose FLOPs and bytes are those of one call; None where a family has none."""
    shared: dict[str, object] = {
        "calls": part.calls,
        "seconds_in_step": part.inside,
        "share": found.share(part),
    }
    problem = part.problem
    if problem is None:
        return {"family": "", "problem": "", "title": "", "direction": "", "other": part.name} | (
            {"flops": None, "bytes": None, "intensity": None} | shared
        )
    flops = sum(problem.flops_of(each) for each in part.operations) or None
    moved = sum(problem.bytes_of(precision, each) for each in part.operations) or None
    taken = part.inside_each
    return {
        "family": problem.family,
        "problem": problem.id if problem.id in named(problem.family) else "",
        "title": problem.title,
        "direction": part.name,
        "other": "",
        "flops": flops,
        "bytes": moved,
        "intensity": flops / moved if flops and moved else None,
        **shared,
        "flop_per_second": flops / taken if flops and taken else None,
        "bytes_per_second": moved / taken if moved and taken else None,
    }


Shown = tuple[Column, str, float | None]
"""A column, the name of its cells in a line, and the factor of its numbers; None for text."""

BY_OPERATION: tuple[Shown, ...] = (
    (Column("operation", wrap=14), "operation", None),
    (Column("operands", wrap=16), "operands", None),
    (Column("dtype", drop=3), "dtype", None),
    (Column("calls", right=True), "calls", None),
    (Column("MFLOP", right=True), "flops", 1e-6),
    (Column("MB", right=True, drop=1), "bytes", 1e-6),
    (Column("FLOP/byte", right=True, drop=2), "intensity", 1),
    (Column("% of step", right=True), "share", 100),
    (Column("alone ms", right=True), "seconds_alone", 1e3),
    (Column("GFLOP/s", right=True), "flop_per_second", 1e-9),
)
BY_FAMILY: tuple[Shown, ...] = (
    (Column("family", wrap=14), "family", None),
    (Column("problem", wrap=24), "shown", None),
    (Column("direction"), "direction", None),
    (Column("calls", right=True), "calls", None),
    (Column("MFLOP", right=True), "flops", 1e-6),
    (Column("MB", right=True, drop=1), "bytes", 1e-6),
    (Column("FLOP/byte", right=True, drop=3), "intensity", 1),
    (Column("% of step", right=True), "share", 100),
    (Column("ms in step", right=True), "seconds_in_step", 1e3),
    (Column("GFLOP/s", right=True), "flop_per_second", 1e-9),
    (Column("GB/s", right=True, drop=2), "bytes_per_second", 1e-9),
)


def _as_table(found: "StepBreakdown", lines: list[dict[str, object]], by: str, layout: str) -> str:
    columns = BY_FAMILY if by == FAMILY else BY_OPERATION
    readable = [
        {"shown": line.get("problem") or line.get("title") or line.get("other")} | line
        for line in lines
    ]
    shown = [
        [
            line.get(name) if factor is None else _scaled(line.get(name), factor)
            for _, name, factor in columns
        ]
        for line in readable
    ]
    conclusion = (
        "the machine was disturbed, and the framework's overhead is not known: run it again"
        if found.overhead is None
        else f"the framework's overhead is {100 * found.overhead:.1f} %"
    )
    laid = "" if layout == LAYOUT.usual else f"in {layout} layout "
    below = terminal_tables.prose(
        f"{laid}a step takes {found.whole * 1e3:.4g} ms; its operations, each alone and as often as"
        f" it is called, {found.alone * 1e3:.4g} ms: {conclusion}"
    )
    return f"{terminal_tables.table([column for column, *_ in columns], shown)}\n{below}"


def _scaled(number: object, factor: float) -> str:
    return f"{number * factor:.3g}" if isinstance(number, int | float) and number else ""
