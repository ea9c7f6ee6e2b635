"""`deepbench noise`: the smallest change that this machine can show, kernel by kernel."""

import math
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import (
    keeping,
    kernel_ids,
    measure_alone,
    most_rounds,
    precision_option,
    printed_as,
    say_settings,
)
from deepbench_ops.commands.output_format import show
from deepbench_ops.commands.problems import find_anywhere
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.kernel_demands import demand_one_process, demand_precision
from deepbench_ops.run_conditions import demand_warm
from deepbench_ops.statistics.ruined_rounds import FEWEST

if TYPE_CHECKING:
    from deepbench_ops.analysis.verdict import Verdict
    from deepbench_ops.measure.worker_control import Launch
    from deepbench_ops.releases.release_table import Release

GOAL = 0.05
COLUMNS = (
    terminal_tables.Column("kernel", wrap=16),
    terminal_tables.Column("against itself", right=True),
    terminal_tables.Column("99 % interval"),
    terminal_tables.Column("a change seen from", right=True),
    terminal_tables.Column("rounds for 5 %", right=True, drop=1),
)


@click.command()
@click.argument("release", metavar="[RELEASE]", required=False)
@kernel_ids("A kernel to try; may be repeated (default: the headline's products).")
@precision_option
@most_rounds(5, "Pairs of processes for each kernel.")
@printed_as("table", "json")
def noise(
    release: str | None, ids: tuple[str, ...], precision: str, rounds: int, form: str
) -> None:
    """Print how small a change of a kernel this machine can show.

    \b
        deepbench noise
        deepbench noise numpy-2.4.6 --rounds 10

    RELEASE (default: the newest numpy of the release table) is measured against itself in two
    processes, the first operation of each problem; it is installed where it is missing. "A change
    seen from 3 %" means that a change of 3 % would be found 95 times in 100 with as many rounds.
    Ways to improve it are listed below the table: the processor's governor and turbo, other load,
    more rounds, the machine's state. For numpy, the cost of a setting of OpenBLAS follows: the one
    that the environment has, or OPENBLAS_CORETYPE=Haswell.
    """
    from deepbench_ops import project
    from deepbench_ops.analysis.ensemble_verdicts import compare_in_one_state
    from deepbench_ops.machine import noise_advice, state_profile
    from deepbench_ops.measure import blas_cost, ensemble_sweeps, fingerprint, threads
    from deepbench_ops.measure.kernel_identity import KernelIdentity
    from deepbench_ops.releases import worker_launch

    problems = [find_anywhere(text, None) for text in ids or _headline()]
    for each in problems:
        demand_one_process(type(each))
        demand_precision(type(each), precision)
    tasks = [
        KernelIdentity(each.family, each.id, precision, each.timed_operations[0])
        for each in problems
    ]
    demand_warm()
    measure_alone()
    say_settings()
    launch = worker_launch.launch(_release(release), project.environments(), _note)
    latencies = state_profile.latencies(threads.wanted())
    load, before = os.getloadavg()[0], noise_advice.processor_time()
    with keeping(lambda: "nothing is kept, the same command begins again"):
        rounds_by_task = ensemble_sweeps.run_rounds(
            {"first": launch, "second": launch}, tasks, rounds
        )
    advised = noise_advice.advice(fingerprint.of_the_run(), load, noise_advice.stolen_since(before))
    verdicts = {
        task.problem: compare_in_one_state(found, "first", "second")
        for task, found in rounds_by_task.items()
    }
    latencies += state_profile.latencies(threads.wanted())
    states = state_profile.summary(_levels(), latencies)
    advised += _too_few(list(verdicts.values()), rounds)
    blas = blas_cost.lines(launch.python) if _is_numpy(launch) else []

    def text() -> str:
        rows = [_row(id, verdict, rounds) for id, verdict in verdicts.items()]
        said = [*states, *(advised or ["Nothing to improve was found."])]
        said += ["", *blas] if blas else []
        return "\n".join(
            [terminal_tables.table(COLUMNS, rows), "", *map(terminal_tables.prose, said)]
        )

    def data() -> object:
        figures = {id: asdict(verdict) for id, verdict in verdicts.items()}
        return {"kernels": figures, "advice": advised, "blas": blas, "states": states}

    show(form, text, data)


def _levels() -> list[float]:
    """Return the levels of core latency in this machine's profile, [] where it has none."""
    from deepbench_ops import project
    from deepbench_ops.asv_adapter import machine_entry
    from deepbench_ops.machine import machine_profile

    known = machine_profile.read(project.results(), machine_entry.default_name())
    return [] if known is None else known.latencies


def _note(line: str) -> None:
    click.echo(line, err=True)


def _is_numpy(launch: "Launch") -> bool:
    return launch.environ.get("DEEPBENCH_FRAMEWORK") == "numpy"


def _headline() -> list[str]:
    ids = [*Gemm.headline["training"], *Gemm.headline["inference_server"]]
    return [id for id in dict.fromkeys(ids) if "n9124" not in id]  # one that takes a second


def _release(name: str | None) -> "Release":
    from deepbench_ops import project
    from deepbench_ops.backends import NAMES
    from deepbench_ops.releases import release_table, table_location

    releases = table_location.measurable(project.results())
    if name is None:
        return [release for release in releases if release.framework == NAMES[0]][-1]
    return release_table.find(name, releases)


def _row(id: str, verdict: "Verdict", rounds: int) -> list[str]:
    return [
        id,
        f"{verdict.ratio:.4f}",
        f"{verdict.low:.4f} .. {verdict.high:.4f}",
        f"{verdict.detectable:.1%}" if math.isfinite(verdict.detectable) else "-",
        str(_needed(verdict, rounds) or "-"),
    ]


def _needed(verdict: "Verdict", rounds: int) -> int:
    """Return about how many rounds would show a change of GOAL: noise falls with their root.

    0 where too few rounds were of one state of the machine to say so.
    """
    if not math.isfinite(verdict.detectable):
        return 0
    return max(3, round(rounds * (verdict.detectable / GOAL) ** 2))


def _too_few(verdicts: "Sequence[Verdict]", rounds: int) -> list[str]:
    found = []
    unknown = [verdict for verdict in verdicts if not math.isfinite(verdict.detectable)]
    if unknown:
        found.append(
            f"{len(unknown)} of {len(verdicts)} kernels have fewer than {FEWEST} rounds in"
            " one state of the machine. Remedy: more --rounds"
        )
    short = [each for each in verdicts if GOAL < each.detectable < math.inf]
    if short:
        most = max(_needed(verdict, rounds) for verdict in short)
        found.append(
            f"{len(short)} of {len(verdicts)} kernels cannot show {GOAL:.0%} in {rounds} rounds."
            f" Remedy: up to {most} rounds"
        )
    return found
