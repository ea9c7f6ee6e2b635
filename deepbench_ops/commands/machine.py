"""`deepbench machine`: detects this machine, asks, writes asv's entry and the profile."""

import sys
from pathlib import Path

import click

from deepbench_ops.backends import NAMES
from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import measure_alone, results_folder_to_write, say_settings
from deepbench_ops.commands.problems import scaled
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.machine_profile import Figure, Profile


@click.command()
@click.option("--name", help="The machine's name in the results (default: that of asv's entry).")
@click.option("--accelerator", help="The accelerator's name, where it cannot be detected.")
@results_folder_to_write
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option(
    "--framework",
    "frameworks",
    type=click.Choice(NAMES),
    multiple=True,
    help="Measure FLOP/s with this framework only; may be repeated (default: all installed).",
)
@click.option("--no-measure", is_flag=True, help="Write asv's entry only, measure nothing.")
@click.option(
    "--renew-yardsticks",
    is_flag=True,
    help="Read the yardsticks of this state again; deepbench recalibrate then corrects stored"
    " times.",
)
@click.option(
    "--renew-peaks",
    is_flag=True,
    help="Replace peaks and bandwidth by today's, also where those of the profile are higher.",
)
def machine(
    name: str | None,
    accelerator: str | None,
    results: Path,
    yes: bool,
    frameworks: tuple[str, ...],
    no_measure: bool,
    renew_yardsticks: bool,
    renew_peaks: bool,
) -> None:
    """Describe this machine and measure its peaks, in about a minute.

    \b
        deepbench machine --yes
        deepbench machine --name epyc-9004-2core

    Two files are written. asv's entry (~/.asv-machine.json) holds the machine's name, operating
    system, architecture, processor, number of processors, memory in GiB and accelerator. These
    distinguish the lines of the graphs, so nothing that an update changes is among them. From
    then on all commands and asv run mean this entry, also where the file has other machines.

    The profile (RESULTS/NAME/machine.profile, JSON) holds exact memory, kernel and driver, and
    these measured figures, each with the way it was measured:

    \b
      FLOP/s      the peak at each precision: 2·n^3 over the time of a square
                  product, the best of many runs and of all installed frameworks
      bytes/s     the memory bandwidth: a = b + 3c on arrays four times the
                  last caches, 24 bytes an element as STREAM counts, the best run
      yardsticks  nominal seconds of the fixed workloads that kernels are timed
                  next to; an earlier profile's are kept, because the points on
                  the timeline are multiples of them
      states      the latency between two cores, which differs where the host
                  moves virtual cores, and the yardsticks in each such state

    Peaks and bandwidth are measured twice. A note says where the two differ, or where other
    processes used the processors. A higher figure of an earlier profile stays.
    """
    from deepbench_ops.asv_adapter import machine_entry
    from deepbench_ops.machine import machine_facts, machine_profile
    from deepbench_ops.machine.nominal_measurement import all_read
    from deepbench_ops.measure import fingerprint, threads
    from deepbench_ops.storage import locks

    count = threads.fix()
    identity = machine_facts.identity(
        machine_entry.check_name(name or machine_entry.default_name()), accelerator
    )
    # Before anything is written: neither a broken profile nor another machine's is replaced.
    old = machine_profile.read(results, identity["machine"])
    machine_profile.refuse_another(old, fingerprint.silicon())
    if not no_measure:
        measure_alone()
    filed = machine_entry.of_results(results, identity["machine"])
    earlier = filed or machine_entry.entries().get(identity["machine"], {})
    show_identity(identity, machine_entry.changes(earlier, identity))
    confirm(yes)
    for line in machine_entry.choose(identity):
        click.echo(line)
    machine_entry.take_over(results, identity["machine"])
    if no_measure:
        return
    say_settings()
    show_step("cost of a setting of OpenBLAS for numpy")
    from deepbench_ops.measure import blas_cost

    costs = blas_cost.lines()  # first: frameworks do not like the forks
    # The frameworks are only imported now, after their thread counts were settled.
    from deepbench_ops.machine import state_profile
    from deepbench_ops.machine.profile_measurement import Renewed, measure_profile

    renewed = Renewed(peaks=renew_peaks, yardsticks=renew_yardsticks)
    before = state_profile.latencies(count)
    at = state_profile.level_now(old, before)
    found = measure_profile(
        identity["machine"], count, old, renewed, show_step, note, frameworks or NAMES, at
    )
    fresh = all_read(old, found, count, renew_yardsticks, at)
    show_step("states of the machine")
    found = state_profile.with_state(found, count, before, fresh, note, renew_yardsticks)
    show_profile(found)
    with locks.results(results, doing="deepbench machine"):
        if machine_profile.read(results, found.machine) != old:
            path = machine_profile.path_of(results, found.machine)
            raise DeepbenchError(f"{path} was written by another command meanwhile: run it again")
        click.echo(f"written: {machine_profile.write(results, found)}")
    for line in [*state_profile.summary(found.latencies, before), *costs]:
        click.echo(terminal_tables.prose(line))


def show_identity(identity: dict[str, str], changed: dict[str, tuple[str, str]]) -> None:
    """Print the entry, and a warning for each value that an earlier entry had otherwise."""
    for key, value in identity.items():
        click.echo(f"{key:12}{value}")
    for key, (old, new) in changed.items():
        click.echo(f"note: {key} was {old!r} and becomes {new!r}: graphs start new lines", err=True)


def confirm(yes: bool) -> None:
    """Ask whether to go on; DeepbenchError where there is no terminal, or the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise DeepbenchError("no terminal to ask on: --yes writes this machine's entry unasked")
    if not click.confirm("Write this?", default=True):
        raise DeepbenchError("nothing written")


def show_step(step: str) -> None:
    """Print the step that is being measured to standard error."""
    click.echo(f"measuring: {step} ...", err=True)


def note(doubt: str) -> None:
    """Print a reason to doubt a figure."""
    click.echo(f"note: {doubt}", err=True)


def show_profile(found: Profile) -> None:
    """Print every figure with how it was got."""
    for name, fact in found.facts.items():
        click.echo(f"{name}: {fact}")
    groups = {
        **{f"{device} peak": peaks for device, peaks in found.peaks.items()},
        "bandwidth": found.bandwidth,
        **{f"yardstick, {count} threads": each for count, each in found.yardsticks.items()},
        **{
            f"yardstick, {count} threads, {level.nanoseconds:.0f} ns between cores": each
            for level in found.levels
            for count, each in level.yardsticks.items()
        },
    }
    for title, figures in groups.items():
        for name, figure in figures.items():
            click.echo(terminal_tables.prose(f"{title} {name}: {figure_text(figure)}", "  "))


def figure_text(figure: Figure) -> str:
    """A figure for a reader: "93.2 G FLOP/s (measured: ...)"."""
    if figure.value is None:
        return figure.how
    if figure.unit == "s":
        return f"{figure.value * 1e3:.4g} ms ({figure.how})"
    unit = figure.unit.replace("bytes", "B")
    return f"{scaled(figure.value)}{unit} ({figure.how})"
