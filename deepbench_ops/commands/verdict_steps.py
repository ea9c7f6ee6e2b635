"""`deepbench verdict --steps`: kernels between two releases, by the rounds that both share."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.output_format import show
from deepbench_ops.errors import DeepbenchError, NoAnswer

if TYPE_CHECKING:
    from deepbench_ops.analysis.kernel_lines import Line
    from deepbench_ops.analysis.points import Point
    from deepbench_ops.analysis.shared_rounds import SharedStep

COLUMNS = (
    terminal_tables.Column("release", wrap=12),
    terminal_tables.Column("previous release", wrap=12),
    terminal_tables.Column("kernel", wrap=20),
    terminal_tables.Column("precision", drop=2),
    terminal_tables.Column("ratio", right=True),
    terminal_tables.Column("99 % interval"),
    terminal_tables.Column("measured in", wrap=12, drop=1),
    terminal_tables.Column("library code", wrap=20, drop=3),
)


@dataclass(frozen=True)
class Step:
    """A kernel between two releases that share rounds."""

    before: "Point"
    after: "Point"
    shared: "SharedStep"

    @property
    def day(self) -> int:
        """The day of the later release."""
        return self.after.release.date.toordinal()

    @property
    def size(self) -> float:
        """The absolute logarithm of its ratio."""
        return abs(math.log(self.shared.verdict.ratio))


def steps_beyond(lines: "Sequence[Line]", beyond: float) -> list[Step]:
    """Return the certain steps that are larger than a share, newest release first, then by size.

    A kernel that several sets list is one step. Raises NoAnswer where no releases share
    rounds.
    """
    from deepbench_ops.analysis.shared_rounds import task_of

    if not any(line.shared for line in lines):
        raise NoAnswer(
            "no two releases share rounds on this machine: deepbench history measures such rounds"
        )
    found = {
        (step.before.release, step.after.release, step.after.machine, task_of(step.after)): step
        for step in _every(lines)
        if step.shared.verdict.kind in ("slower", "faster") and step.size > math.log1p(beyond)
    }
    return sorted(found.values(), key=lambda step: (-step.day, -step.size))


def print_steps(found: Sequence[Step], form: str) -> None:
    """Print a table of steps, or JSON.

    Raises DeepbenchError for junit, which has no steps.
    """
    if form == "junit":
        raise DeepbenchError("--steps has no junit: choose --format table, markdown or json")
    rows = [_row(step) for step in found]
    show(
        form,
        lambda: (
            terminal_tables.table(COLUMNS, rows, form == "markdown") if rows else "no such step"
        ),
        lambda: [_as_data(step) for step in found],
    )


def _every(lines: "Sequence[Line]") -> Iterator[Step]:
    for line in lines:
        for place, shared in line.shared:
            before, after = line.steady[place : place + 2]
            yield Step(before, after, shared)


def _row(step: Step) -> list[str]:
    verdict = step.shared.verdict
    return [
        step.after.release.name,
        step.before.release.name,
        f"{step.after.family} {step.after.operation} {step.after.problem_id}",
        step.after.precision,
        f"{verdict.ratio:.3f}",
        f"{verdict.low:.3f} .. {verdict.high:.3f}",
        step.shared.origin,
        _code(step.shared.implementations),
    ]


def _code(names: tuple[str, str]) -> str:
    """Return the library code before and after, once where it is the same."""
    before, after = (name or "unknown" for name in names)
    return before if before == after else f"{before} -> {after}"


def _as_data(step: Step) -> dict[str, Any]:
    verdict, point = step.shared.verdict, step.after
    return {
        "machine": point.machine,
        "before": step.before.release.name,
        "after": point.release.name,
        "family": point.family,
        "operation": point.operation,
        "problem": point.problem_id,
        "precision": point.precision,
        "verdict": verdict.kind,
        "ratio": verdict.ratio,
        "low": verdict.low,
        "high": verdict.high,
        "rounds": verdict.rounds,
        "state": step.shared.state,
        "implementations": list(step.shared.implementations),
    }
