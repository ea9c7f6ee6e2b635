"""`deepbench history`: all releases of a framework, measured in the same seconds."""

import math
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deepbench_ops.analysis.open_history import demand_warm, open_history
from deepbench_ops.backends import DEVICES
from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.history_progress import HistoryProgress
from deepbench_ops.commands.options import (
    kernel_ids,
    measure_alone,
    most_rounds,
    percentage,
    printed_as,
    problem_options,
    say,
    say_settings,
)
from deepbench_ops.commands.output_format import show
from deepbench_ops.commands.problems import find_anywhere
from deepbench_ops.conditions import DEVICE
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.precision import precision as precision_named

if TYPE_CHECKING:
    from deepbench_ops.analysis.ensemble_verdicts import Ensemble
    from deepbench_ops.analysis.verdict import Verdict
    from deepbench_ops.measure.kernel_task import KernelTask
    from deepbench_ops.measure.round_store import RoundStore
    from deepbench_ops.releases.release_table import Release

UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600}
WORKER_BYTES = 1.5 * 2**30
"""Memory that a release's worker is expected to take, operands included: so many are started at
once as fit in what is left."""

COLUMNS = (
    terminal_tables.Column("kernel", wrap=16),
    terminal_tables.Column("operation", drop=2),
    terminal_tables.Column("rounds", right=True, drop=1),
    terminal_tables.Column("newest / oldest", right=True),
    terminal_tables.Column("99 % interval"),
    terminal_tables.Column("largest step", wrap=16),
)


CONTEST = (
    *COLUMNS[:3],
    terminal_tables.Column("fastest", wrap=16),
    terminal_tables.Column("second / first", wrap=16),
    terminal_tables.Column("99 % interval"),
)
"""Columns for several frameworks."""


def _seconds(context: click.Context, option: click.Parameter, given: str) -> float:
    """Return the seconds of a text such as 90s, 60m or 2h."""
    number, unit = given[:-1], UNIT_SECONDS.get(given[-1:])
    try:
        seconds = float(number) * (unit or math.nan)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise click.BadParameter(f"{given!r} is no time: write 90s, 60m or 2h")
    return seconds


@click.command()
@click.argument("framework", metavar="[FRAMEWORK]", required=False)
@click.argument("span", metavar="[RELEASES]", required=False)
@click.option(
    "--frameworks",
    metavar="NAMES",
    help="Several frameworks in the same rounds, such as numpy,torch; with --newest.",
)
@click.option("--newest", is_flag=True, help="The newest release of each of --frameworks.")
@problem_options
@kernel_ids("Only this problem; may be repeated.")
@click.option(
    "--precision", metavar="P", default="float32", show_default=True, help="The precision."
)
@click.option(
    "--within",
    metavar="PERCENT",
    default="1%",
    show_default=True,
    callback=percentage,
    help="Half-width of the intervals at which a kernel is measured no further.",
)
@click.option(
    "--budget",
    metavar="TIME",
    default="60m",
    show_default=True,
    callback=_seconds,
    help="End after so long, with what is measured by then.",
)
@most_rounds(40, "Most rounds of a kernel.")
@click.option("--anchor", metavar="RELEASE", help="Compare with this one.  [default: the newest]")
@click.option(
    "--together",
    metavar="N",
    type=click.IntRange(min=2),
    help="Most releases to run at once.  [default: as many as fit in memory]",
)
@click.option(
    "--device",
    type=click.Choice(DEVICES),
    help="Where kernels run.  [default: DEEPBENCH_DEVICE, or cpu]",
)
@click.option(
    "--no-save",
    is_flag=True,
    help="File no results; the rounds stay in .asv/history/, and the next run files them.",
)
@printed_as("table", "json")
def history(
    framework: str | None,
    span: str | None,
    frameworks: str | None,
    newest: bool,
    selection: str,
    family: str | None,
    ids: tuple[str, ...],
    precision: str,
    within: float,
    budget: float,
    rounds: int,
    anchor: str | None,
    together: int | None,
    device: str | None,
    no_save: bool,
    form: str,
) -> None:
    """Measure all releases of FRAMEWORK, or several frameworks, in the same seconds.

    \b
        deepbench history numpy
        deepbench history numpy 1.26.4..2.4.6 --family gemm --within 1% --budget 20m
        deepbench history numpy 1.23.5,1.26.4,2.0.0..2.1.3
        deepbench history --frameworks numpy,torch,jax --newest

    Each release runs in a live process, a few milliseconds at a time and in random order, so that
    what else happens on the machine falls on all of them alike. Rounds with fresh processes are
    added until the interval of every release is as narrow as asked for. Missing environments are
    installed. After an interruption the same command goes on from the last kernel.

    A result of each release is filed in results/, as asv run files it, with the rounds next to it.
    Printed are the newest release's time over the oldest's, and the largest step from a release to
    the next one.
    """
    from deepbench_ops import project
    from deepbench_ops.analysis.ensemble_verdicts import Ensemble, Goal, demand_two

    folder = project.environments()
    measure_alone()
    if device is not None:
        os.environ[DEVICE.variable] = device  # of the workers, and of where results are filed
    name, releases = _asked(framework, span, frameworks, newest)
    tasks = _tasks(selection, family, ids, precision_named(precision).name)
    demand_warm()
    say_settings()
    launches, reasons = _launches(releases, folder)
    demand_two(launches, reasons)
    measured = [release for release in releases if release.name in launches]
    opened = open_history(name, measured, save=not no_save, say=_note)
    reference = _anchor(anchor, list(launches), opened.store)
    most = together or _most_together()
    found = Ensemble(launches, reference, opened.store, most, opened.reference)
    progress = HistoryProgress(len(tasks), Goal(within, rounds, budget), opened.file, _note)
    with opened.filing_at_the_end():
        found.measure(tasks, progress.goal, progress.note)
    show(
        form,
        lambda: _table(found, tasks, several=frameworks is not None),
        lambda: _document(found, tasks, reasons),
    )
    say([*_remarks(found, tasks, reasons, within), *opened.remarks()], form)


def _asked(
    framework: str | None, span: str | None, frameworks: str | None, newest: bool
) -> "tuple[str, list[Release]]":
    """Return the name of the history and its releases. Raises DeepbenchError for a question that
    is none, and as `_releases` does."""
    from deepbench_ops.storage import ensemble_round_files

    if frameworks is None and framework is not None and not newest:
        return framework, _releases(framework, span)
    if frameworks is None or not newest or framework is not None:
        raise DeepbenchError(
            "name one framework, such as numpy 1.26.4..2.4.6, or several with --newest, such as"
            " --frameworks numpy,torch --newest"
        )
    names = list(dict.fromkeys(filter(None, frameworks.replace(" ", "").split(","))))
    if len(names) < 2:
        raise DeepbenchError(f"--frameworks {frameworks}: name two or more, separated by commas")
    return ensemble_round_files.SEVERAL, [_newest(name) for name in names]


def _newest(framework: str) -> "Release":
    """Return a framework's newest release, if possible one that is not marked on request."""
    releases = _releases(framework, None)
    return ([each for each in releases if not each.on_request] or releases)[-1]


def _releases(framework: str, span: str | None) -> "list[Release]":
    """Return the releases that `span` names, oldest first; all where it is None.

    Raises DeepbenchError for an unknown framework or release, and for fewer than two releases.
    """
    from deepbench_ops.problems.suggestions import unknown
    from deepbench_ops.releases import release_ranges, release_table, table_location

    every = release_table.measurable(table_location.of_project())
    of_framework = [release for release in every if release.framework == framework]
    if not of_framework:
        raise unknown("framework", framework, sorted({release.framework for release in every}))
    if span is None:
        return of_framework
    chosen = release_ranges.select(span, of_framework)
    if len(chosen) < 2:
        raise DeepbenchError(f"{span} is one release: name two or more, such as 1.26.4..2.4.6")
    return chosen


def _tasks(
    selection: str, family: str | None, ids: Sequence[str], precision: str
) -> "list[KernelTask]":
    """Return the kernels asked for, without what runs on several ranks.

    Raises DeepbenchError where nothing is left.
    """
    from deepbench_ops.measure.kernel_task import KernelTask
    from deepbench_ops.problems.selections import operations, select

    problems = [find_anywhere(text, family) for text in ids] or [
        member.problem for member in select(selection, family)
    ]
    tasks = [
        KernelTask(problem.family, problem.id, precision, operation)
        for problem in problems
        if not problem.ranks and precision in problem.precisions
        for operation in operations(problem)
    ]
    if not tasks:
        raise DeepbenchError(
            f"no kernel of {selection} runs in one process at {precision}: choose another"
            " --selection, --family or --precision"
        )
    return list(dict.fromkeys(tasks))


def _launches(releases: "Sequence[Release]", folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return how to start each release, and why others cannot be installed."""
    from deepbench_ops.releases import worker_launch

    launches, reasons = {}, {}
    for release in releases:
        try:
            launches[release.name] = worker_launch.launch(release, folder, _note)
        except DeepbenchError as error:
            reasons[release.name] = str(error)
            _note(f"left out: {release.name}: {error}")
    return launches, reasons


def _anchor(name: str | None, names: Sequence[str], store: "RoundStore") -> str:
    """Return the anchor: the one named, else that of most rounds so far, else the newest."""
    from deepbench_ops.problems.suggestions import unknown

    if name is None:
        return store.anchor(names) or names[-1]
    if name not in names:
        raise unknown("release", name, names)
    return name


def _most_together() -> int:
    from deepbench_ops.backends import free_memory

    left = free_memory.available()
    return max(2, int(left / WORKER_BYTES)) if math.isfinite(left) else 16


def _table(found: "Ensemble", tasks: "Sequence[KernelTask]", several: bool) -> str:
    """Return a row for each kernel: its steps, or the fastest of several frameworks."""
    if several:
        return terminal_tables.table(CONTEST, [_contest(found, task) for task in tasks])
    return terminal_tables.table(COLUMNS, _rows(found, tasks))


def _contest(found: "Ensemble", task: "KernelTask") -> list[str]:
    """Return the fastest release of a kernel, and the time of the second over its."""
    ratios = {found.anchor: 1.0}
    ratios |= {name: each.ratio for name, each in found.against_anchor(task).items()}
    names = sorted(
        (name for name in ratios if ratios[name] == ratios[name]), key=ratios.__getitem__
    )
    if len(names) < 2:
        return [task.problem, task.operation, "0", "-", "-", "-"]
    first, second = names[:2]
    lead = found.compare(task, first, second)
    clear = first if lead.kind == "slower" else "none beyond the noise"
    cells = [str(lead.rounds), clear, f"{second}: {lead.ratio:.3f}", _interval(lead)]
    return [task.problem, task.operation, *cells]


def _rows(found: "Ensemble", tasks: "Sequence[KernelTask]") -> list[list[str]]:
    largest: dict[KernelTask, tuple[str, float]] = {}
    for (task, _, after), step in found.all_steps(tasks).items():
        most = largest.get(task, ("", 1.0))[1]
        if step.kind in ("slower", "faster") and abs(math.log(step.ratio)) > abs(math.log(most)):
            largest[task] = after, step.ratio
    return [
        [task.problem, task.operation, *_whole_span(found, task), _spoken(largest.get(task))]
        for task in tasks
    ]


def _whole_span(found: "Ensemble", task: "KernelTask") -> list[str]:
    """Return the rounds of a kernel, and its newest release's time over its oldest's."""
    measured = found.measured(task)
    if len(measured) < 2:
        return ["0", "-", "-"]
    whole = found.compare(task, measured[0], measured[-1])
    return [str(whole.rounds), f"{whole.ratio:.3f}", _interval(whole)]


def _interval(found: "Verdict") -> str:
    """Return the interval of a ratio as text."""
    if not math.isfinite(found.low):
        return "too few rounds"
    return f"{found.low:.3f} .. {found.high:.3f}"


def _spoken(step: tuple[str, float] | None) -> str:
    if step is None:
        return "none"
    name, ratio = step
    times = f"{ratio:.3g} times slower" if ratio > 1 else f"{1 / ratio:.3g} times faster"
    return f"{name}: {times}"


def _document(
    found: "Ensemble", tasks: "Sequence[KernelTask]", reasons: dict[str, str]
) -> dict[str, object]:
    """Return all ratios to the anchor, for --format json."""
    from dataclasses import asdict

    kernels = [
        {
            **asdict(task),
            "releases": {name: asdict(each) for name, each in found.against_anchor(task).items()},
            "left_out": found.reasons(task),
            "state": (selected := found.selected(task)).state,
            "rounds_of_other_states": selected.left_out,
        }
        for task in tasks
    ]
    return {"anchor": found.anchor, "left_out": reasons, "kernels": kernels}


def _remarks(
    found: "Ensemble", tasks: "Sequence[KernelTask]", reasons: dict[str, str], within: float
) -> list[str]:
    able = [task for task in tasks if found.measured(task) or not found.store.of(task)]
    wide = sum(found.half_width(task) > within for task in able)
    lines = [f"{len(able) - wide} of {len(able)} kernels are known to {100 * within:g} % or better"]
    if wide:
        lines.append("the same command with a larger --budget or --rounds goes on")
    if waiting := [f"{task.problem} {task.operation}" for task in able if not found.store.of(task)]:
        lines.append(f"not measured, for want of time: {', '.join(waiting)}")
    lines += _states(found, able)
    lines += [f"left out: {name}: {text}" for name, text in reasons.items()]
    return lines + _left_out(found, tasks)


def _left_out(found: "Ensemble", tasks: "Sequence[KernelTask]") -> list[str]:
    """Return a line for each reason why releases have no times of an operation."""
    who: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for task in tasks:
        for name, text in found.reasons(task).items():
            who[task.family, task.operation, text].add(name)
    lines = []
    for (family, operation, text), names in sorted(who.items()):
        listed = [name for name in found.names if name in names] or sorted(names)
        every = f"all {len(listed)} releases" if len(listed) == len(found.names) else ""
        lines.append(f"left out: {every or ', '.join(listed)}, {family} {operation}: {text}")
    return lines


def _states(found: "Ensemble", tasks: "Sequence[KernelTask]") -> list[str]:
    """Return a line about the states of the machine that count; none where no state is known."""
    every = [found.selected(task) for task in tasks]
    counts = Counter(each.state for each in every if each.state)
    left_out = sum(each.left_out for each in every)
    if not counts and not left_out:
        return []
    total = left_out + sum(len(each.rounds) for each in every)
    kernels = [f"{state} ({number} of {len(tasks)} kernels)" for state, number in counts.items()]
    why = ", measured in another state, an unknown one or while it changed" if left_out else ""
    return [
        f"state of the machine: {', '.join(kernels) or 'not known'}; {left_out} of {total} rounds"
        f" left out{why}"
    ]


def _note(line: str) -> None:
    click.echo(line, err=True)
