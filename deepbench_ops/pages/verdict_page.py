"""verdicts.html: what became slower or faster, machine by machine, with interval and noise.

It takes the place of asv's list of regressions, which stays beside it as a second opinion.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template
from urllib.parse import quote, urlencode

from deepbench_ops.analysis.causes import Cause
from deepbench_ops.analysis.history import Line, Shift
from deepbench_ops.pages.addresses import timeline
from deepbench_ops.pages.frame import TABLES, cell, framed, head, scrolling
from deepbench_ops.releases.table import Release
from deepbench_ops.storage import atomic

PAGE = "verdicts.html"
UNITS = {"ratio": "after / before", "noise": "share"}
COLUMNS = ("release", "released", "after", "verdict", "ratio", "what", "noise", "also on")


def write(
    html_dir: Path,
    project: str,
    lines: Sequence[Line],
    changed: Sequence[Cause],
    torn: Iterable[str],
) -> None:
    """Write html_dir/verdicts.html from the lines of all machines and what changed on them."""
    atomic.write_text(html_dir / PAGE, page(project, lines, changed, torn))


def page(
    project: str, lines: Sequence[Line], changed: Sequence[Cause], torn: Iterable[str] = ()
) -> str:
    """The whole of verdicts.html."""
    judged = [line for line in lines if line.judgeable]
    parts = [f'<p class="torn">{html.escape(text)}</p>' for text in torn]
    for machine in dict.fromkeys(line.points[0].machine for line in judged):
        mine = [cause for cause in changed if cause.machine == machine]
        parts.append(f"<h2>{html.escape(machine)}</h2>")
        parts.append(_table(machine, mine) if mine else "<p>Nothing changed.</p>")
    content = _CONTENT.substitute(judged=len(judged), lines=len(lines), machines="\n".join(parts))
    return framed(project, "What became slower or faster", content, PAGE, TABLES)


def _table(machine: str, found: Sequence[Cause]) -> str:
    heads = [head(name, name in UNITS, UNITS.get(name, "")) for name in COLUMNS]
    rows = [_row(cause) for cause in found]
    return scrolling(heads, rows, f"What changed on {machine}", {"machine": machine})


def _row(cause: Cause) -> str:
    kind = "slower" if cause.slower else "faster"
    ratios = sorted(shift.change.ratio for shift in cause.shifts)
    reach = f"{len(cause.shifts)} of {cause.watched} kernels" if cause.scope != "kernel" else ""
    between = f"{ratios[0]:.3g} to {ratios[-1]:.3g}" if len(ratios) > 1 else ""
    cells = [
        cell(
            f'<a href="release.html#release={quote(cause.after.name)}">{_name(cause.after)}</a>',
            name=True,
        ),
        cell(cause.after.date.isoformat()),
        cell(_name(cause.before)),
        cell(f'<strong class="{kind}">{kind}</strong>'),
        cell(f"{cause.ratio:.3g}<br><small>{between}</small>", cause.ratio),
        cell(_what(cause, reach), _told(cause, reach)),
        cell("", "") if math.isnan(cause.noise) else cell(f"{cause.noise:.1%}", cause.noise),
        cell(html.escape(", ".join(cause.elsewhere))),
    ]
    machine, release = html.escape(cause.machine), html.escape(cause.after.name)
    return f'<tr data-machine="{machine}" data-release="{release}">{"".join(cells)}</tr>'


def _what(cause: Cause, reach: str) -> str:
    kernels = "".join(f"<li>{_kernel(shift)}</li>" for shift in _widest_first(cause.shifts))
    if cause.scope == "kernel":
        return _kernel(cause.shifts[0])
    summary = f"{html.escape(cause.name)}: {reach}"
    return f"<details><summary>{summary}</summary><ul>{kernels}</ul></details>"


def _told(cause: Cause, reach: str) -> str:
    """What changed, as it is taken along: each kernel with its ratio and interval."""
    kernels = [f"{_of(shift)}: {_ratio(shift)}" for shift in _widest_first(cause.shifts)]
    return "; ".join([": ".join(filter(None, [cause.name, reach])), *kernels])


def _of(shift: Shift) -> str:
    point = shift.after
    where = f"{point.family} {point.set.replace('_', ' ')} {point.operation}"
    return f"{where} {point.name} {point.precision}"


def _ratio(shift: Shift) -> str:
    change = shift.change
    return f"{change.ratio:.3g}, {change.low:.3g} to {change.high:.3g}"


def _widest_first(shifts: Sequence[Shift]) -> list[Shift]:
    return sorted(shifts, key=lambda shift: -abs(math.log(shift.change.ratio)))


def _kernel(shift: Shift) -> str:
    """A kernel with its ratio and interval, linked to its timeline, where changes are marked."""
    point = shift.after
    query = urlencode(timeline(point))
    text = f"{point.name}, {point.precision}"
    where = f"{point.family} {point.set.replace('_', ' ')} {point.operation}"
    return (
        f'<a href="timeline.html#{html.escape(query)}">{html.escape(text)}</a> '
        f"<small>{html.escape(where)}: {_ratio(shift)}</small>"
    )


def _name(release: Release) -> str:
    return html.escape(f"{release.framework} {release.version}")


_CONTENT = Template("""    <p><a href="benchmarks.html#/regressions">asv's own detector, as a second
      opinion</a></p>
    <ul>
      <li>$judged of $lines lines that are measured at two releases or more are long enough to be
        judged: a line is one kernel over the releases of a framework, and eleven processes must
        have measured it.</li>
      <li><em>ratio</em> is seconds after / before, 2 being twice as slow; behind a kernel stand its
        own ratio and the interval of 99 % of it.</li>
      <li><em>noise</em> is how far processes of one release lie apart on that line, as standard
        deviation (from the median, which single disturbed ones do not move): less than this says
        nothing about a single process.</li>
      <li>What changed together is told once. <em>also on</em> names other machines on which half of
        these kernels or more changed in the same way.</li>
      <li>Behind &#8943; stands the command that measures old against new side by side, on the
        machine itself, and keeps what repeats.</li>
    </ul>
$machines
""")
