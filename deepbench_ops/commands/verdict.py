"""`deepbench verdict`: what became slower or faster, release by release, and whether it repeats."""

import json
import math
import sys
import xml.etree.ElementTree as xml
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tabulate import tabulate

from deepbench_ops.commands.options import results_folder, say, say_settings
from deepbench_ops.errors import DeepbenchError

if TYPE_CHECKING:
    from deepbench_ops.analysis.causes import Cause
    from deepbench_ops.analysis.history import Line
    from deepbench_ops.paired.confirm import Confirmed
    from deepbench_ops.releases.table import Release

COLUMNS = (
    "release",
    "after",
    "verdict",
    "what",
    "kernels",
    "ratio",
    "from .. to",
    "noise",
    "also on",
)
NOTHING, REGRESSION, UNKNOWN = 0, 1, 2

Between = tuple[str, str, str]
"""A machine, and the names of two releases."""
News = Mapping[Between, Mapping[str, tuple[str, str]]]
"""What is otherwise under the second release than under the first, besides the release itself."""


@click.command()
@click.option("--machine", metavar="NAME", help="Only this machine (default: every measured one).")
@click.option(
    "--since", metavar="RELEASE", help="Only what changed after this one, such as numpy-2.0.2."
)
@click.option(
    "--release", metavar="RELEASE", help="Only what changed with this one, such as torch-2.13.0."
)
@click.option("--each", is_flag=True, help="Tell every kernel by itself.")
@click.option(
    "--confirm",
    is_flag=True,
    help="Measure the slower and faster kernels again on this machine, old and new in pairs, and"
    " keep what repeats.",
)
@click.option(
    "--rounds",
    metavar="N",
    type=click.IntRange(min=3),
    default=10,
    show_default=True,
    help="Pairs of processes that --confirm starts for each kernel.",
)
@results_folder
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "json", "junit"]),
    default="table",
    show_default=True,
    help="How it is printed.",
)
def verdict(
    machine: str | None,
    since: str | None,
    release: str | None,
    each: bool,
    confirm: bool,
    rounds: int,
    results: Path,
    form: str,
) -> None:
    """List what became slower or faster on each machine, newest release first.

    A line is one cause: most kernels of a framework, most or several of a family at a precision,
    or one kernel. What else was new with a release stands below: BLAS and its code path, oneDNN,
    companions. Published figures are not judged: a workbook holds one time of each kernel.

    The exit status is 0 where nothing became slower, 1 where --confirm found that something did,
    and 2 where that cannot be said: no line of releases is long enough, or nobody has confirmed
    what looks slower.
    """
    from deepbench_ops.analysis.causes import causes
    from deepbench_ops.analysis.settings import notes

    earliest = date.min if since is None else _release(since).date
    only = None if release is None else _release(release)
    lines = _lines(results, machine)
    say(notes(point for line in lines for point in line.points), form)
    found = [
        cause
        for cause in causes(lines, each)
        if cause.after.date > earliest and only in (None, cause.after)
    ]
    confirmed = _confirm(found, machine, rounds) if confirm else None
    if confirmed is not None:
        found = [cause for cause in found if confirmed.repeats(cause)]
    news = _news(results, found)
    if form == "junit":
        click.echo(_junit(lines, found))
    elif form == "json":
        click.echo(_json(lines, found, confirmed, news))
    else:
        style = "github" if form == "markdown" else "simple"
        click.echo(_text(lines, found, confirmed, news, style))
    sys.exit(_status(lines, found, confirmed))


def _lines(results: Path, machine: str | None) -> "list[Line]":
    from deepbench_ops.analysis import history, points
    from deepbench_ops.releases import table

    order = table.measurable()
    releases = {release.hash: release for release in order}
    chosen = points.machines(results) if machine is None else [machine]
    if not chosen:
        raise DeepbenchError(f"{results}: no machine has results there")
    return [
        line
        for name in chosen
        for line in history.lines(points.load(results, name, releases, rounds=True), order)
    ]


def _release(name: str) -> "Release":
    from deepbench_ops.releases import table

    return table.find(name, table.load())


def _news(results: Path, found: "Sequence[Cause]") -> News:
    from deepbench_ops.analysis.stacks import changed, stacks
    from deepbench_ops.releases import table

    told = {}
    for machine in dict.fromkeys(cause.machine for cause in found):
        facts = {one.release: one.facts for one in stacks(results, machine, table.measurable())}
        for cause in found:
            if cause.machine == machine and {cause.before, cause.after} <= facts.keys():
                told[_between(cause)] = changed(facts[cause.before], facts[cause.after])
    return told


def _between(cause: "Cause") -> Between:
    return cause.machine, cause.before.name, cause.after.name


def _confirm(found: "Sequence[Cause]", machine: str | None, rounds: int) -> "Confirmed":
    from deepbench_ops.machine import entry
    from deepbench_ops.paired.confirm import confirm

    here = entry.default_name()
    if machine not in (None, here):
        raise DeepbenchError(f"{machine} is not this machine, which is {here}: confirm there")
    say_settings()
    suspects = [cause for cause in found if cause.machine == here]
    return confirm(suspects, rounds, lambda line: click.echo(line, err=True))


def _status(
    lines: "Sequence[Line]", found: "Sequence[Cause]", confirmed: "Confirmed | None"
) -> int:
    if not any(line.judgeable for line in lines):
        return UNKNOWN
    slower = [cause for cause in found if cause.slower]
    if confirmed is None:
        return UNKNOWN if slower else NOTHING
    if any(confirmed.of(cause) for cause in slower):
        return REGRESSION
    return UNKNOWN if slower else NOTHING


def _text(
    lines: "Sequence[Line]",
    found: "Sequence[Cause]",
    confirmed: "Confirmed | None",
    news: News,
    style: str,
) -> str:
    from deepbench_ops.analysis import stacks

    judged = [line for line in lines if line.judgeable]
    told = [f"{len(judged)} of {len(lines)} lines are long enough to be judged."]
    for name in dict.fromkeys(line.points[0].machine for line in judged):
        mine = [cause for cause in found if cause.machine == name]
        rows = [_row(cause, confirmed) for cause in mine]
        told += ["", f"{name}:" if rows else f"{name}: nothing changed"]
        if rows:
            columns = [*COLUMNS, *(["in pairs"] if confirmed is not None else [])]
            told += ["", tabulate(rows, columns, tablefmt=style, disable_numparse=True), ""]
        for between in dict.fromkeys(map(_between, mine)):
            if news.get(between):
                _, before, after = between
                told.append(f"- new under {after} beside {before}: {stacks.told(news[between])}")
    return "\n".join(told)


def _row(cause: "Cause", confirmed: "Confirmed | None") -> list[str]:
    ratios = sorted(shift.change.ratio for shift in cause.shifts)
    row = [
        cause.after.name,
        cause.before.name,
        "slower" if cause.slower else "faster",
        cause.name,
        f"{len(cause.shifts)} of {cause.watched}" if cause.scope != "kernel" else "1",
        f"{cause.ratio:.3g}",
        f"{ratios[0]:.3g} .. {ratios[-1]:.3g}" if len(ratios) > 1 else _interval(cause),
        "" if math.isnan(cause.noise) else f"{cause.noise:.1%}",
        ", ".join(cause.elsewhere),
    ]
    return [*row, "; ".join(confirmed.told(cause))] if confirmed is not None else row


def _interval(cause: "Cause") -> str:
    change = cause.shifts[0].change
    return f"{change.low:.3g} .. {change.high:.3g} (99 %)"


def _json(
    lines: "Sequence[Line]",
    found: "Sequence[Cause]",
    confirmed: "Confirmed | None",
    news: News,
) -> str:
    return json.dumps(
        {
            "lines": len(lines),
            "judged": sum(line.judgeable for line in lines),
            "changes": [_as_json(cause, confirmed, news) for cause in found],
        },
        indent=1,
    )


def _as_json(cause: "Cause", confirmed: "Confirmed | None", news: News) -> dict[str, Any]:
    return {
        "machine": cause.machine,
        "before": cause.before.name,
        "after": cause.after.name,
        "verdict": "slower" if cause.slower else "faster",
        "scope": cause.scope,
        "what": cause.name,
        "watched": cause.watched,
        "ratio": cause.ratio,
        "elsewhere": list(cause.elsewhere),
        "new": {name: list(pair) for name, pair in news.get(_between(cause), {}).items()},
        "kernels": [
            {
                "family": shift.after.family,
                "set": shift.after.set,
                "operation": shift.after.operation,
                "problem": shift.after.problem_id,
                "precision": shift.after.precision,
                "ranks": shift.after.ranks,
                "ratio": shift.change.ratio,
                "low": shift.change.low,
                "high": shift.change.high,
                "confidence": shift.change.confidence,
                "noise": None if math.isnan(shift.noise) else shift.noise,
            }
            for shift in cause.shifts
        ],
        **({} if confirmed is None else {"in_pairs": confirmed.told(cause)}),
    }


def _junit(lines: "Sequence[Line]", found: "Sequence[Cause]") -> str:
    """A suite for each machine: a case for each line judged, failed where it became slower."""
    root = xml.Element("testsuites")
    judged = [line for line in lines if line.judgeable]
    for name in dict.fromkeys(line.points[0].machine for line in judged):
        slower = {
            shift.after.kernel: (cause, shift)
            for cause in reversed(found)
            if cause.machine == name and cause.slower
            for shift in cause.shifts
        }
        mine = [line.points[-1] for line in judged if line.points[0].machine == name]
        suite = xml.SubElement(root, "testsuite", name=name, tests=str(len(mine)))
        failures = 0
        for point in mine:
            case = xml.SubElement(
                suite,
                "testcase",
                classname=f"{point.family}.{point.set}.{point.operation}",
                name=f"{point.name}, {point.precision}",
            )
            if point.kernel in slower:
                failures += 1
                cause, shift = slower[point.kernel]
                message = (
                    f"{shift.change.ratio:.3g} times as slow since {cause.after.name}"
                    f" ({shift.change.low:.3g} .. {shift.change.high:.3g})"
                )
                xml.SubElement(case, "failure", message=message)
        suite.set("failures", str(failures))
    xml.indent(root)
    return xml.tostring(root, encoding="unicode")
