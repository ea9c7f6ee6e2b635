"""`deepbench bisect`: the first release on which a kernel is slow."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands.options import (
    keeping,
    measure_alone,
    most_rounds,
    operation_option,
    precision_option,
    say_settings,
)
from deepbench_ops.commands.problems import find_anywhere
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.kernel_demands import (
    demand_one_process,
    demand_operation,
    demand_precision,
)
from deepbench_ops.run_conditions import demand_warm

if TYPE_CHECKING:
    from deepbench_ops.analysis.bisection import BisectionStep
    from deepbench_ops.measure.ensemble_round import Round
    from deepbench_ops.releases.release_table import Release

NOT_SLOWER, FOUND, UNSURE = 0, 1, 3


@click.command()
@click.argument("problem", metavar="PROBLEM")
@click.argument("span", metavar="FROM..TO")
@click.option("--family", metavar="F", help="The family of PROBLEM, if several have its id.")
@precision_option
@operation_option
@click.option(
    "--wheel",
    "wheels",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="The wheel of a nightly build, to try instead of the listed releases; repeat it, oldest"
    " first.",
)
@most_rounds(20, "The most rounds, each of new processes, for one comparison.")
def bisect(
    problem: str,
    span: str,
    family: str | None,
    precision: str,
    operation: str,
    wheels: tuple[Path, ...],
    rounds: int,
) -> None:
    """Find the first release from FROM to TO on which PROBLEM is slow.

    \b
        deepbench bisect m3072_n1_k128_NN numpy-1.24.4..numpy-2.4.6

    Releases in between are measured together with FROM in live processes, each until it is
    certain whether it is slow. Missing environments are installed.

    The exit status is 1 if a slow release was found, 0 if TO is not slower than FROM, and 3 if
    that stays uncertain.
    """
    from deepbench_ops import project
    from deepbench_ops.analysis.bisection import bisect as search
    from deepbench_ops.measure import ensemble_sweeps
    from deepbench_ops.measure.kernel_identity import KernelIdentity
    from deepbench_ops.releases import worker_launch

    folder = project.environments()
    wanted = find_anywhere(problem, family)
    demand_one_process(type(wanted))
    demand_operation(type(wanted), operation)
    demand_precision(type(wanted), precision)
    task = KernelIdentity(wanted.family, wanted.id, precision, operation)

    def measure(before: "Release", after: "Release", rounds: int, first: int) -> "list[Round]":
        launches = {
            release.name: worker_launch.launch(release, folder, _note)
            for release in (before, after)
        }
        return ensemble_sweeps.run_rounds(launches, [task], rounds, first=first)[task]

    demand_warm()
    releases = _candidates(span, wheels)
    measure_alone()
    say_settings()
    steps: list[BisectionStep] = []

    def note(step: "BisectionStep") -> None:
        steps.append(step)
        _say(step)

    with keeping(lambda: _narrowed(problem, releases, steps)):
        found = search(releases, measure, rounds, note)
    for name, reason in found.left_out.items():
        _note(f"left out: {name}: {reason}")
    if found.first_slow is None:
        click.echo("not slower" if found.sure else f"uncertain after {rounds} rounds")
        sys.exit(NOT_SLOWER if found.sure else UNSURE)
    assert found.last_good is not None
    if found.sure:
        click.echo(f"first slow: {found.first_slow.name}; last good: {found.last_good.name}")
    else:
        click.echo(
            f"between {found.last_good.name} and {found.first_slow.name}: uncertain where after"
            f" {rounds} rounds"
        )
    sys.exit(FOUND if found.sure else UNSURE)


def _narrowed(problem: str, releases: "list[Release]", steps: "list[BisectionStep]") -> str:
    """Return the span that an interrupted search has settled, and the command that continues it."""
    slow = [releases.index(step.release) for step in steps if step.slow]
    good = [releases.index(step.release) for step in steps if step.slow is False]
    if not slow:
        return "nothing is settled, the same command begins again"
    first, last = releases[max(good, default=0)], releases[min(slow)]
    return (
        "the rounds of the last release are lost, the answers above stay: deepbench "
        f"bisect {problem} {first.name}..{last.name} goes on from there"
    )


def _candidates(span: str, wheels: tuple[Path, ...]) -> "list[Release]":
    from deepbench_ops import project
    from deepbench_ops.releases import release_from_wheel_file, release_table, table_location

    releases = table_location.measurable(project.results())
    ends = span.split("..")
    if len(ends) != 2 or not all(ends):
        raise DeepbenchError(f"{span} is no span of releases: write numpy-1.26.4..numpy-2.2.6")
    first, last = (release_table.find(name, releases) for name in ends)
    if first.framework != last.framework:
        raise DeepbenchError(f"{span}: both ends must be releases of one framework")
    of_framework = [release for release in releases if release.framework == first.framework]
    low, high = of_framework.index(first), of_framework.index(last)
    if low == high:
        raise DeepbenchError(f"{span}: both are {first.name}: name an older and a newer release")
    if low > high:
        raise DeepbenchError(f"{span}: the older release comes first: {last.name}..{first.name}")
    if wheels:
        return [first, *(release_from_wheel_file.read(path, last) for path in wheels), last]
    return [first, *of_framework[low + 1 : high], last]


def _say(step: "BisectionStep") -> None:
    verdict = step.verdict
    answer = {True: "slow", False: "not slow", None: "uncertain"}[step.slow]
    _note(
        f"{step.release.name}: {verdict.ratio:.3f} times the first release's time"
        f" ({verdict.low:.3f} to {verdict.high:.3f}, {verdict.rounds} rounds): {answer}"
    )


def _note(line: str) -> None:
    click.echo(line, err=True)
