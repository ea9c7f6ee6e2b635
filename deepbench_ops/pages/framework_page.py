"""frameworks.html: on each machine the frameworks side by side, kernel by kernel."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deepbench_ops.analysis.frameworks import Contest, contests, wins
from deepbench_ops.analysis.history import Line
from deepbench_ops.analysis.points import Point
from deepbench_ops.pages.frame import TABLES, cell, framed, head, scrolling
from deepbench_ops.pages.site_data import FOLDER, key, put
from deepbench_ops.storage import atomic

PAGE = "frameworks.html"
SCRIPTS = (*TABLES, "site/frameworks.js")


def write(html_dir: Path, project: str, lines: Iterable[Line]) -> None:
    """Write html_dir/frameworks.html, and beside it what its sections hold, from the lines of all
    machines."""
    points = [point for line in lines for point in line.points]
    found = contested(points)
    for machine, some in found.items():
        put(html_dir / FOLDER / "contests" / key(machine), told(some))
    atomic.write_text(html_dir / PAGE, page(project, found))


def contested(points: Sequence[Point]) -> dict[str, list[Contest]]:
    """By machine the kernels that several frameworks have, in the order of their sections."""
    machines = sorted({point.machine for point in points})
    found = {
        machine: contests(point for point in points if point.machine == machine)
        for machine in machines
    }
    return {machine: sorted(some, key=_section) for machine, some in found.items() if some}


def page(project: str, found: Mapping[str, Sequence[Contest]]) -> str:
    """The whole of frameworks.html: sections are filled when they are opened."""
    parts = []
    for machine, some in found.items():
        parts.append(f"<h2>{html.escape(machine)}</h2>")
        parts += _machine(machine, some)
    shown = _FIND + "\n".join(parts) if parts else _NOTHING
    return framed(project, "Frameworks side by side", _CONTENT + shown, PAGE, SCRIPTS)


def told(found: Sequence[Contest]) -> list[dict[str, Any]]:
    """A machine's kernels as the page reads them: each with the newest time of its frameworks,
    fastest first."""
    return [
        {
            "kernel": {
                "benchmark": contest.kernel.benchmark,
                "problem": {"id": contest.kernel.problem_id},
                "precision": contest.kernel.precision,
                "ranks": contest.kernel.ranks,
                **contest.kernel.unusual,
            },
            "section": list(_section(contest)),
            "name": contest.kernel.name,
            "application": contest.kernel.problem.application,
            "sets": list(contest.sets),
            "times": [_time(point) for point in contest.points],
            "ahead": _short(contest.ahead),
            "fastest": contest.fastest,
        }
        for contest in found
    ]


def _time(point: Point) -> list[Any]:
    """Framework, release, version, day, seconds, and the interval or why there is none."""
    release = point.release
    known = [release.framework, release.name, release.version, release.date.isoformat()]
    interval = map(_short, point.interval) if point.interval else [point.without_interval]
    return [*known, _short(point.seconds), *interval]


def _section(contest: Contest) -> tuple[str, str, str]:
    return contest.kernel.family, contest.kernel.operation, contest.kernel.precision


def _machine(machine: str, found: Sequence[Contest]) -> list[str]:
    """A summary, and a section for each family, operation and precision."""
    parts = [_summary(machine, found)]
    counted = Counter(map(_section, found))
    for (family, operation, precision), count in counted.items():
        where = {
            "machine": machine,
            "key": key(machine),
            "family": family,
            "operation": operation,
            "precision": precision,
        }
        named = "".join(f' data-{name}="{html.escape(text)}"' for name, text in where.items())
        summary = html.escape(f"{family} {operation} {precision}: ")
        kernels = f"{count} kernel" if count == 1 else f"{count} kernels"
        parts.append(
            f"<details{named}><summary>{summary}<span>{kernels}</span></summary></details>"
        )
    return parts


def _summary(machine: str, found: Sequence[Contest]) -> str:
    counted = wins(found)
    names = sorted({point.release.framework for contest in found for point in contest.points})
    heads = [
        head("family"),
        *(head(html.escape(name), True, "kernels") for name in (*names, "nobody")),
    ]
    rows = [
        "<tr>"
        + cell(html.escape(family), name=True)
        + "".join(cell(str(by.get(name, 0)), by.get(name, 0)) for name in (*names, ""))
        + "</tr>"
        for family, by in counted.items()
    ]
    return (
        "<p>On how many kernels each is the fastest, counted in the tables below, whose rows tell"
        " how they are measured:</p>"
    ) + scrolling(heads, rows, f"Who is the fastest on {machine}", {"machine": machine})


def _short(value: float) -> float:
    return float(f"{value:.5g}")


_NOTHING = "<p>No machine has results of two frameworks.</p>"
_FIND = """    <form class="controls"><label>Find kernels, by words
      <input type="search" id="find"></label></form>
    <p id="found" role="status"></p>
"""
_CONTENT = """    <ul>
      <li>The same kernels, checked and measured in the same way; of each framework the newest
        release that measured a kernel.</li>
      <li><em>fastest</em> is who is ahead of the second by three standard deviations of what
        lies between processes, and by a percent at least; else it is nobody.</li>
      <li>Small below a time: the interval of 99 % of it, from the samples of its processes,
        or why it has none.</li>
    </ul>
"""
