"""`deepbench verdict`: changes of speed, release by release, and their confirmation."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from packaging.version import Version

from deepbench_ops.commands import terminal_tables
from deepbench_ops.commands.options import (
    SELECTED,
    keeping,
    machine_with_results,
    measure_alone,
    most_rounds,
    percentage,
    printed_as,
    results_folder,
    say,
    say_settings,
)
from deepbench_ops.commands.output_format import show
from deepbench_ops.commands.verdict_documents import (
    News,
    all_as_data,
    as_junit,
    between_releases,
)
from deepbench_ops.commands.verdict_steps import print_steps, steps_beyond
from deepbench_ops.errors import DeepbenchError, NoAnswer
from deepbench_ops.run_conditions import CONDITIONS, demand_usual
from deepbench_ops.statistics.ratio_texts import interval_text, ratio_texts

if TYPE_CHECKING:
    from deepbench_ops.analysis.change_causes import Cause
    from deepbench_ops.analysis.change_confirmation import Confirmed
    from deepbench_ops.analysis.kernel_lines import Line, Shift
    from deepbench_ops.analysis.verdict import Verdict
    from deepbench_ops.releases.release_table import Release

COLUMNS = (
    terminal_tables.Column("release", wrap=12),
    terminal_tables.Column("previous release", wrap=12),
    terminal_tables.Column("verdict"),
    terminal_tables.Column("what", wrap=16),
    terminal_tables.Column("kernels"),
    terminal_tables.Column("ratio", right=True),
    terminal_tables.Column("from .. to", drop=1),
    terminal_tables.Column("noise", right=True, drop=2),
    terminal_tables.Column("measured in", drop=4, wrap=12),
    terminal_tables.Column("also on", drop=3, wrap=12),
)
MEASURED_AGAIN = terminal_tables.Column("measured again", wrap=16)
NOTHING, REGRESSION, UNDECIDED = 0, 1, 3
STAYED_OPEN = "stayed open: give more --rounds, or measure on a quieter machine"


@click.command()
@click.option("--machine", metavar="NAME", help="The machine.  [default: this one]")
@click.option("--all-machines", is_flag=True, help="Every machine that has results.")
@click.option(
    "--since", metavar="RELEASE", help="Only changes after this one, such as numpy-2.0.2."
)
@click.option(
    "--release", metavar="RELEASE", help="Only changes with this one, such as torch-2.13.0."
)
@click.option("--each", is_flag=True, help="A line for every kernel, not for every cause.")
@click.option(
    "--steps",
    metavar="PERCENT",
    callback=percentage,
    help="Only list kernels that changed by more than this from a release to the next, by shared"
    " rounds, with the library code before and after.",
)
@click.option(
    "--confirm",
    is_flag=True,
    help="Measure the slower and faster kernels again on this machine, both releases at once, and"
    " keep the changes that repeat.",
)
@most_rounds(10, "The most rounds, each of new processes, that --confirm measures for a kernel.")
@results_folder
@printed_as("table", "markdown", "json", "junit")
def verdict(
    machine: str | None,
    all_machines: bool,
    since: str | None,
    release: str | None,
    each: bool,
    steps: float | None,
    confirm: bool,
    rounds: int,
    results: Path,
    form: str,
) -> None:
    """List kernels that became slower or faster on this machine, newest first.

    \b
        deepbench verdict
        deepbench verdict --machine epyc-7003-2core --since numpy-1.26.4
        deepbench verdict --release torch-2.13.0 --confirm
        deepbench verdict --steps 3%

    Results of a line (one kernel over the releases of a framework) are searched for changes that
    are larger than its noise. Two releases that `deepbench history` measured in shared rounds are
    compared by these instead. Changes between the same two releases are put together into causes:
    most kernels of a framework, several of a family at a precision, or one kernel. Below the
    causes are other software that was new with the release, such as BLAS or oneDNN, and all kernels
    that another library code computes than before, whether or not their time changed.
    Published figures are left out, since there is one time of each kernel.

    The exit status is 0 if nothing became slower, 1 if --confirm found that something did, and 3
    if that is open: no line has twelve processes and no two releases share three rounds, the
    change is not confirmed, or --confirm could not tell. With --steps it is
    0, or 3 if no two releases share rounds.
    """
    from deepbench_ops.analysis import implementation_changes
    from deepbench_ops.analysis.change_causes import causes
    from deepbench_ops.analysis.settings_and_state_agreement import notes
    from deepbench_ops.analysis.unsteady_list import remarks
    from deepbench_ops.exchange.submissions import entry_conflicts
    from deepbench_ops.releases import release_table, table_location

    order = table_location.measurable(results)
    earliest = None if since is None else release_table.find(since, order)
    only = None if release is None else release_table.find(release, order)
    if machine is not None and all_machines:
        raise DeepbenchError("give either --machine or --all-machines")
    if steps is not None and (confirm or each):
        raise DeepbenchError("--steps lists steps alone: leave out --confirm and --each")
    if confirm:
        demand_usual(CONDITIONS, "--confirm measures under the usual conditions alone; unset it")
    chosen = _machines(results, machine, all_machines, order)
    lines = _lines(results, chosen, order)
    say(entry_conflicts.remarks(results / name for name in chosen), form)
    _demand_releases(lines, earliest, only)
    if steps is not None:
        found_steps = [
            step
            for step in steps_beyond(lines, steps)
            if _is_after(earliest, step.after.release) and only in (None, step.after.release)
        ]
        return print_steps(found_steps, form)
    every = [point for line in lines for point in line.points]
    switched = [
        switch
        for switch in implementation_changes.switches(implementation_changes.of_lines(lines))
        if _is_after(earliest, switch.after) and only in (None, switch.after)
    ]
    say([*notes(every), *remarks(every), *implementation_changes.remarks(switched)], form)
    found = [
        cause
        for cause in causes(lines, each)
        if _is_after(earliest, cause.after) and only in (None, cause.after)
    ]
    confirmed = _confirm(found, machine, rounds) if confirm else None
    suspects = found
    if confirmed is not None:
        found = [cause for cause in found if confirmed.repeats(cause)]
    news = _news(results, found, order)
    judged = any(line.judgeable for line in lines)

    def text() -> str:
        changes = _text(lines, found, confirmed, news, form == "markdown")
        return changes if confirmed is None else f"{changes}\n{_not_repeated(suspects, confirmed)}"

    if judged or form in ("json", "junit"):
        show(
            form,
            text,
            lambda: all_as_data(lines, found, confirmed, news, suspects, switched),
            junit=lambda: as_junit(lines, found),
        )
    if not judged:
        raise NoAnswer(_too_short(lines, all_machines, order))
    sys.exit(_status(lines, suspects, confirmed))


def _machines(
    results: Path, machine: str | None, all_machines: bool, order: "Sequence[Release]"
) -> list[str]:
    from deepbench_ops.analysis import point_reading
    from deepbench_ops.asv_adapter import machine_entry

    if not all_machines:
        return [machine_with_results(results, machine, _history(order))]
    found = point_reading.machines(results)
    if not found:
        raise NoAnswer(f"{results}: no machine has results there")
    here = machine_entry.default_name()
    return sorted(found, key=lambda name: name != here)  # this machine first


def _history(order: "Sequence[Release]") -> str:
    """Return how many releases a verdict needs, and the command that measures so many."""
    from deepbench_ops.analysis.kernel_lines import FEWEST_RELEASES
    from deepbench_ops.backends import NAMES

    names = [one.name for one in order if one.framework == NAMES[0]]
    before, newest = names[-FEWEST_RELEASES - 1 :][0], names[-1]
    return f"the {FEWEST_RELEASES} releases that a verdict needs with {SELECTED} {before}..{newest}"


def _too_short(lines: "Sequence[Line]", all_machines: bool, order: "Sequence[Release]") -> str:
    most = max((len({point.release for point in line.points}) for line in lines), default=0)
    others = "" if all_machines else " (--all-machines shows those of others)"
    return (
        f"no kernel has enough releases for a verdict, the most is {most}{others}: measure"
        f" {_history(order)}, or two or more in the same rounds with deepbench history"
    )


def _demand_releases(
    lines: "Sequence[Line]", earliest: "Release | None", only: "Release | None"
) -> None:
    """Raise NoAnswer where no line that is judged has the releases asked for."""
    judged = {point.release for line in lines if line.judgeable for point in line.points}
    if not judged:
        return
    if only is not None and only not in judged:
        raise NoAnswer(f"{only.name}: no kernel with enough releases for a verdict has it")
    if earliest is not None and not any(_is_after(earliest, one) for one in judged):
        raise NoAnswer(f"no release after {earliest.name} is measured: nothing to compare")


def _is_after(earliest: "Release | None", release: "Release") -> bool:
    """Whether a release is newer than that of --since, if any: of its own framework by version, as
    on lines, of others by day."""
    if earliest is None:
        return True
    if earliest.framework != release.framework:
        return release.date > earliest.date
    return Version(release.version) > Version(earliest.version)


def _lines(results: Path, chosen: Sequence[str], order: "Sequence[Release]") -> "list[Line]":
    from deepbench_ops.analysis import (
        detection_processes,
        kernel_lines,
        lines_with_rounds,
        machine_points,
        shared_rounds,
    )

    releases = {release.hash: release for release in order}

    def of_machine(name: str) -> "list[Line]":
        own = machine_points.load(results, name, releases, rounds=True, only={"commit": releases})
        mine = kernel_lines.lines(own, order)
        shared = shared_rounds.load(results, name)
        return lines_with_rounds.joined(lines_with_rounds.distinct(mine), shared)

    return detection_processes.detect(map(of_machine, chosen))


def _news(results: Path, found: "Sequence[Cause]", order: "Sequence[Release]") -> News:
    from deepbench_ops.analysis.software_versions import changed, stacks

    news = {}
    for machine in dict.fromkeys(cause.machine for cause in found):
        facts = {one.release: one.facts for one in stacks(results, machine, order)}
        for cause in found:
            if cause.machine == machine and {cause.before, cause.after} <= facts.keys():
                news[between_releases(cause)] = changed(facts[cause.before], facts[cause.after])
    return news


def _confirm(found: "Sequence[Cause]", machine: str | None, rounds: int) -> "Confirmed":
    from deepbench_ops.analysis.change_confirmation import confirm
    from deepbench_ops.asv_adapter import machine_entry

    here = machine_entry.default_name()
    if machine not in (None, here):
        raise DeepbenchError(f"{machine} is not this machine, which is {here}: confirm there")
    measure_alone()
    say_settings()
    suspects = [cause for cause in found if cause.machine == here]
    with keeping(lambda: "finished rounds are kept for a day, the same command goes on from them"):
        return confirm(suspects, rounds, lambda line: click.echo(line, err=True))


def _status(
    lines: "Sequence[Line]", suspects: "Sequence[Cause]", confirmed: "Confirmed | None"
) -> int:
    if not any(line.judgeable for line in lines):
        return UNDECIDED
    slower = [cause for cause in suspects if cause.slower]
    if confirmed is None:
        return UNDECIDED if slower else NOTHING
    repeated = [cause for cause in slower if confirmed.repeats(cause)]
    if any(confirmed.of(cause) for cause in repeated):
        return REGRESSION
    return UNDECIDED if repeated or any(map(confirmed.is_open, slower)) else NOTHING


def _text(
    lines: "Sequence[Line]",
    found: "Sequence[Cause]",
    confirmed: "Confirmed | None",
    news: News,
    markdown: bool,
) -> str:
    from deepbench_ops.analysis import software_versions

    judged = [line for line in lines if line.judgeable]
    text = [f"{len(judged)} of {len(lines)} lines of releases are long enough for a verdict."]
    none = "nothing changed" if confirmed is None else "no change is confirmed"
    for name in dict.fromkeys(line.points[0].machine for line in judged):
        mine = [cause for cause in found if cause.machine == name]
        rows = [_row(cause, confirmed) for cause in mine]
        text += ["", f"{name}:" if rows else f"{name}: {none}"]
        if rows:
            columns = [*COLUMNS, *([MEASURED_AGAIN] if confirmed is not None else [])]
            text += ["", terminal_tables.table(columns, rows, markdown), ""]
        for between in dict.fromkeys(map(between_releases, mine)):
            if news.get(between):
                _, before, after = between
                software = software_versions.as_text(news[between])
                line = f"- new under {after} since {before}: {software}"
                text.append(line if markdown else terminal_tables.prose(line, "  "))
    return "\n".join(text)


def _row(cause: "Cause", confirmed: "Confirmed | None") -> list[str]:
    ratios = sorted(shift.change.ratio for shift in cause.shifts)
    row = [
        cause.after.name,
        cause.before.name,
        cause.kind,
        cause.name,
        f"{len(cause.shifts)} of {cause.watched}" if cause.scope != "kernel" else "1",
        *ratio_texts(cause.ratio),
        _reach(cause, ratios),
        "" if math.isnan(cause.noise) else f"{cause.noise:.1%}",
        cause.origin,
        ", ".join(cause.elsewhere),
    ]
    return [*row, "; ".join(confirmed.summaries(cause))] if confirmed is not None else row


def _reach(cause: "Cause", ratios: Sequence[float]) -> str:
    """Return the interval of one kernel, or the range of several and the interval of their mean."""
    if len(ratios) == 1 and cause.interval is not None:
        return f"{interval_text(*cause.interval)} (99 %)"
    found = interval_text(ratios[0], ratios[-1])
    if cause.pooled is None:
        return found
    some = f" of {cause.pooled.kernels} kernels:" if cause.interval is None else ""
    mean = cause.pooled.verdict
    return f"{found}; mean{some} {interval_text(mean.low, mean.high)} (99 %)"


def _not_repeated(suspects: "Sequence[Cause]", confirmed: "Confirmed") -> str:
    """Return how many of the causes that were measured again did not repeat or stayed open, and
    which."""
    again = [cause for cause in suspects if confirmed.of(cause)]
    if not again:
        return "\nnothing was measured again"
    still_open = [cause for cause in again if confirmed.is_open(cause)]
    gone = [cause for cause in again if not confirmed.repeats(cause) and cause not in still_open]
    text = [f"\n{len(gone)} of {len(again)} did not repeat" + (":" if gone else "")]
    text += [_again(cause, confirmed) for cause in gone]
    if still_open:
        text += [f"\n{len(still_open)} of {len(again)} {STAYED_OPEN}:"]
        text += [_again(cause, confirmed) for cause in still_open]
    repeated = [cause for cause in again if confirmed.repeats(cause)]
    unlike = [each for cause in repeated for each in confirmed.unlike(cause)]
    if unlike:
        text += ["\nkernels of the changes above that did not repeat:"]
        text += [_unlike(shift, verdict) for shift, verdict in unlike]
    return "\n".join(text)


def _unlike(shift: "Shift", verdict: "Verdict") -> str:
    """Return an item of a list: a kernel's change, and its verdict when measured again."""
    from deepbench_ops.analysis.change_confirmation import as_text

    (ratio,) = ratio_texts(shift.change.ratio)
    change = f"{shift.after.description} {shift.kind} {ratio}"
    releases = f"{shift.after.release.name} after {shift.before.release.name}"
    return terminal_tables.prose(
        f"- {change} with {releases}; measured again: {as_text(verdict)}", "  "
    )


def _again(cause: "Cause", confirmed: "Confirmed") -> str:
    """Return an item of a list: a cause, and the verdicts on its kernels measured again."""
    again = "; ".join(confirmed.summaries(cause))
    return terminal_tables.prose(f"- {_what(cause)}; measured again: {again}", "  ")


def _what(cause: "Cause") -> str:
    releases = f"{cause.after.name} after {cause.before.name}"
    (ratio,) = ratio_texts(cause.ratio)
    return f"{cause.name} {cause.kind} {ratio} with {releases}"
