"""frameworks.html: on each machine the frameworks side by side, kernel by kernel."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from deepbench_ops.analysis.frameworks import Contest, contests, wins
from deepbench_ops.analysis.history import Line
from deepbench_ops.analysis.points import Point
from deepbench_ops.pages.frame import TABLES, framed, scrolling

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
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("family", *names, "nobody"))
    rows = "".join(
        f"<tr><td>{html.escape(family)}</td>"
        + "".join(f"<td>{by.get(name, 0)}</td>" for name in (*names, ""))
        + "</tr>"
        for family, by in counted.items()
    )
    return "<p>On how many kernels each is the fastest:</p>" + scrolling(
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>", "Who is the fastest"
    )


def _table(found: Sequence[Contest], names: Sequence[str]) -> str:
    shown = [name for name in names if any(name in _by(contest) for contest in found)]
    releases = {name: _releases(found, name) for name in shown}
    head = "".join(
        f"<th>{html.escape(name)}<br><small>{html.escape(releases[name])}</small></th>"
        for name in shown
    )
    rows = "".join(_row(contest, shown) for contest in found)
    return scrolling(
        f"<thead><tr><th>problem</th>{head}<th>second / first</th></tr></thead>"
        f"<tbody>{rows}</tbody>",
        "Frameworks side by side",
    )


def _row(contest: Contest, names: Sequence[str]) -> str:
    by, kernel = _by(contest), contest.kernel
    ranks = f", {kernel.ranks} ranks" if kernel.ranks else ""
    where = f"{html.escape(kernel.problem_id)}{ranks} <small>{kernel.set.replace('_', ' ')}</small>"
    cells = [_cell(by.get(name), name == contest.fastest) for name in names]
    return "".join(["<tr><td>", where, "</td>", *cells, f"<td>{contest.ahead:.3g}</td></tr>"])


def _cell(point: Point | None, fastest: bool) -> str:
    if point is None:
        return "<td></td>"
    text = f"{point.seconds * 1e3:.4g} ms"
    text = f"<strong>{text}, fastest</strong>" if fastest else text
    if point.interval:
        low, high = point.interval
        text += f"<br><small>{low * 1e3:.3g} to {high * 1e3:.3g}</small>"
    return f"<td>{text}</td>"


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
      <li>Small below a time: the interval of 99 % of it, from the samples of its processes.</li>
    </ul>
"""
