"""`deepbench history`: all releases of a framework, measured in turns of milliseconds."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deepbench_ops.analysis.history_stores import open_history
from deepbench_ops.backends import DEVICES, framework_list
from deepbench_ops.commands import history_report
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
from deepbench_ops.errors import DeepbenchError, NoAnswer
from deepbench_ops.problems.precision import ALL_PRECISIONS
from deepbench_ops.problems.precision import precision as precision_named
from deepbench_ops.run_conditions import DEVICE, demand_warm

if TYPE_CHECKING:
    from deepbench_ops.backends.framework_list import Framework
    from deepbench_ops.measure.kernel_identity import KernelIdentity
    from deepbench_ops.measure.unfinished_rounds import RoundStore
    from deepbench_ops.releases.release_table import Release

UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600}
WORKER_BYTES = 1.5 * 2**30
"""Memory that a release's worker is expected to take, operands included: so many are started at
once as fit in the rest."""


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
    help="End after this time, with the rounds measured by then.",
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
    """Measure all releases of FRAMEWORK, or several frameworks, in short turns.

    \b
        deepbench history numpy
        deepbench history numpy 1.26.4..2.4.6 --family gemm --within 1% --budget 20m
        deepbench history numpy 1.23.5,1.26.4,2.0.0..2.1.3
        deepbench history --frameworks numpy,torch,jax --newest

    Each release runs in a live process, a few milliseconds at a time and in random order, so that
    a disturbance of the machine hits all of them alike. Rounds with fresh processes are
    added until the interval of every release is as narrow as asked for. Missing environments are
    installed. After an interruption the same command goes on from the last kernel.

    A result of each release is filed in results/, as asv run files it, with the rounds next to it.
    Printed are the newest release's time over the oldest's, and the largest step from a release to
    the next one.
    """
    from deepbench_ops import project
    from deepbench_ops.analysis.ensemble_verdicts import Ensemble, Goal, demand_two
    from deepbench_ops.asv_adapter import filing_target
    from deepbench_ops.exchange.submissions import entry_conflicts

    folder = project.environments()
    measure_alone()
    if device is not None:
        os.environ[DEVICE.variable] = device  # of the workers, and of where results are filed
    name, releases = _asked(framework, span, frameworks, newest)
    every = framework_list.found()[0]
    known = [every[each] for each in dict.fromkeys(release.framework for release in releases)]
    _demand_device(known)
    tasks = _tasks(selection, family, ids, precision_named(precision).name, known)
    demand_warm()
    if not no_save:
        filing_target.demand_environment()
    say_settings()
    launches, reasons = _launches(releases, folder)
    demand_two(launches, reasons)
    measured = [release for release in releases if release.name in launches]
    opened = open_history(name, measured, save=not no_save, say=_note)
    reference = _anchor(anchor, list(launches), opened.store)
    most = together or _most_together()
    found = Ensemble(launches, reference, opened.store, most, opened.reference)
    goal = Goal(within, rounds, budget)
    progress = HistoryProgress(len(tasks), goal, found.seconds_missing, opened.file, _note)
    with opened.filing_at_the_end():
        found.measure(tasks, progress.goal, progress.note)
    show(
        form,
        lambda: history_report.table(found, tasks, several=frameworks is not None),
        lambda: history_report.document(found, tasks, reasons),
    )
    of_goal = history_report.remarks(found, tasks, reasons, within)
    folders = [] if opened.filing is None else [opened.filing.target.folder]
    say([*of_goal, *opened.remarks(), *entry_conflicts.remarks(folders)], form)
    if all(found.reasons(task) and not found.measured(task) for task in tasks):
        raise NoAnswer(f"{name} has no times of these kernels: the reasons are above")


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


def _demand_device(frameworks: "Sequence[Framework]") -> None:
    """Raise DeepbenchError for a device on which a framework never runs."""
    device = DEVICE.of(os.environ)
    for framework in frameworks:
        if device not in (framework.runs_on or DEVICES):
            raise DeepbenchError(
                f"{framework.name} does not run on {device}:"
                f" choose --device {' or '.join(framework.runs_on or DEVICES)}"
            )


def _tasks(
    selection: str,
    family: str | None,
    ids: Sequence[str],
    precision: str,
    frameworks: "Sequence[Framework]",
) -> "list[KernelIdentity]":
    """Return the kernels asked for, without those that run on several ranks.

    Raises DeepbenchError where nothing is left, or a framework has no kernel in the precision.
    """
    from deepbench_ops.measure.kernel_identity import KernelIdentity
    from deepbench_ops.problems.selections import operations, select

    problems = [find_anywhere(text, family) for text in ids] or [
        member.problem for member in select(selection, family)
    ]
    problems = [problem for problem in problems if not problem.ranks]
    possible = [
        name
        for name in ALL_PRECISIONS
        if any(name in problem.precisions for problem in problems)
        and all(name in (each.precisions or ALL_PRECISIONS) for each in frameworks)
    ]
    if precision not in possible:
        others = f"--precision {', '.join(possible)}" if possible else "another --selection"
        raise DeepbenchError(
            f"no kernel of {' '.join(ids) or family or selection} at {precision} runs in one"
            f" process of {' and '.join(each.name for each in frameworks)}: choose {others}"
        )
    tasks = [
        KernelIdentity(problem.family, problem.id, precision, operation)
        for problem in problems
        if precision in problem.precisions
        for operation in operations(problem)
    ]
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


def _note(line: str) -> None:
    click.echo(line, err=True)
