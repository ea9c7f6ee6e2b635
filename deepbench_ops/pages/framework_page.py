"""frameworks.html: on each machine the frameworks side by side, kernel by kernel."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from deepbench_ops.analysis.frameworks import Contest, contests, wins
from deepbench_ops.analysis.history import Line
from deepbench_ops.analysis.points import Point
from deepbench_ops.pages.frame import TABLES, cell, framed, head, scrolling

PAGE = "frameworks.html"


def write(html_dir: Path, project: str, lines: Iterable[Line]) -> None:
    """Write html_dir/frameworks.html from the lines of all machines."""
    points = [point for line in lines for point in line.points]
    (html_dir / PAGE).write_text(page(project, points), "utf-8")


def page(project: str, points: Sequence[Point]) -> str:
    """The whole of frameworks.html."""
    parts = []
    for machine in sorted({point.machine for point in points}):
        found = contests(point for point in points if point.machine == machine)
        if found:
            parts.append(f"<h2>{html.escape(machine)}</h2>")
            parts += _machine(found)
    told = "\n".join(parts) or "<p>No machine has results of two frameworks.</p>"
    return framed(project, "Frameworks side by side", _CONTENT + told, PAGE, TABLES)


def _machine(found: Sequence[Contest]) -> list[str]:
    """A summary, and a table for each family, operation and precision, opened on request."""
    names = sorted({point.release.framework for contest in found for point in contest.points})

    def group(contest: Contest) -> tuple[str, str, str]:
        return contest.kernel.family, contest.kernel.operation, contest.kernel.precision

    parts = [_summary(found, names)]
    for kind, some in groupby(sorted(found, key=group), group):
        contested = list(some)
        summary = f"{' '.join(kind)}: {len(contested)} kernels"
        table = _table(contested, names)
        parts.append(f"<details><summary>{html.escape(summary)}</summary>{table}</details>")
    return parts


def _summary(found: Sequence[Contest], names: Sequence[str]) -> str:
    counted = wins(found)
    heads = [head("family"), *(head(html.escape(name), number=True) for name in (*names, "nobody"))]
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
    ) + scrolling(heads, rows, "Who is the fastest")


def _table(found: Sequence[Contest], names: Sequence[str]) -> str:
    shown = [name for name in names if any(name in _by(contest) for contest in found)]
    releases = {name: _releases(found, name) for name in shown}
    heads = [
        head("problem"),
        *(
            head(
                f"{html.escape(name)}<br><small>{html.escape(releases[name])}</small>", number=True
            )
            for name in shown
        ),
        head("second / first", number=True),
        head("fastest"),
    ]
    rows = [_row(contest, shown) for contest in found]
    return scrolling(heads, rows, "Frameworks side by side")


def _row(contest: Contest, names: Sequence[str]) -> str:
    by, kernel = _by(contest), contest.kernel
    where = f"{html.escape(kernel.name)} <small>{kernel.set.replace('_', ' ')}</small>"
    cells = [
        cell(where, name=True),
        *(_time(by.get(name), name == contest.fastest) for name in names),
        cell(f"{contest.ahead:.3g}", contest.ahead),
        cell(html.escape(contest.fastest or "nobody")),
    ]
    measured = {
        "benchmark": kernel.benchmark,
        "problem": {"id": kernel.problem_id},
        "precision": kernel.precision,
        "ranks": kernel.ranks,
        **kernel.unusual,
    }
    releases = [point.release.name for point in contest.points]
    told = "".join(
        f' data-{what}="{html.escape(json.dumps(value))}"'
        for what, value in (("kernel", measured), ("releases", releases))
    )
    return f"<tr{told}>{''.join(cells)}</tr>"


def _time(point: Point | None, fastest: bool) -> str:
    if point is None:
        return cell("", "")
    text = f"{point.seconds * 1e3:.4g} ms"
    text = f"<strong>{text}</strong>" if fastest else text
    if point.interval:
        low, high = point.interval
        told = f"{low * 1e3:.3g} to {high * 1e3:.3g}"
    else:
        told = point.without_interval
    return cell(f"{text}<br><small>{told}</small>", point.seconds)


def _by(contest: Contest) -> dict[str, Point]:
    return {point.release.framework: point for point in contest.points}


def _releases(found: Sequence[Contest], name: str) -> str:
    """The versions that the times of a framework are of, oldest first."""
    releases = {_by(contest)[name].release for contest in found if name in _by(contest)}
    return ", ".join(r.version for r in sorted(releases, key=lambda release: release.date))


_CONTENT = """    <ul>
      <li>The same kernels, checked and measured in the same way; of each framework the newest
        release that measured a kernel.</li>
      <li><em>fastest</em> is who is ahead of the second by three standard deviations of what
        lies between processes, and by a percent at least; else it is nobody.</li>
      <li>Small below a time: the interval of 99 % of it, from the samples of its processes,
        or why it has none.</li>
    </ul>
"""
