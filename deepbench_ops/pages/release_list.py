"""releases.html: how to read the pages, and one row per release.

asv links every point to `show_commit_url` + name. With releases instead of commits that is a row
here, which works without internet and names the release's project page.
"""

from __future__ import annotations

import datetime
import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from deepbench_ops.pages.frame import ASV_ALONE, TABLES, WAYS, cell, framed, head, scrolling
from deepbench_ops.releases import table as release_table
from deepbench_ops.releases.table import PUBLISHED
from deepbench_ops.storage import atomic

PAGE = "releases.html"

# asv's scripts write release names into HTML as they stand, in tooltips.
_PLAIN = re.compile(r"[\w.+!-]+")


@dataclass(frozen=True)
class Release:
    """One release: its hash, its tag `numpy-1.26.4`, its day, the machines it was measured on."""

    hash: str
    tag: str
    date: datetime.date
    machines: tuple[str, ...]

    @property
    def framework(self) -> str:
        return self.tag.rpartition("-")[0]

    @property
    def version(self) -> str:
        return self.tag.rpartition("-")[2]

    @property
    def name(self) -> str:
        """As the pages show it: `numpy 1.26.4`."""
        return f"{self.framework} {self.version}".strip()

    @property
    def project_page(self) -> str | None:
        """The release's page in the Python package index; None where the tag is no release."""
        if not self.framework or _PLAIN.fullmatch(self.tag) is None:
            return None
        if self.framework == PUBLISHED:
            return "https://github.com/baidu-research/DeepBench/tree/master/results"
        return f"https://pypi.org/project/{quote(self.framework)}/{quote(self.version)}/"


def named(conf: Any) -> bool:
    """Whether this configuration's commits are releases of frameworks."""
    return bool(conf.dvcs == "releases")


def point_links_here(conf: Any) -> None:
    """Let asv's links lead to the release list, unless asv.conf.json says otherwise."""
    if named(conf) and conf.show_commit_url == "#":
        conf.show_commit_url = f"{PAGE}#"


def add_published(conf: Any, releases: Iterable[release_table.Release]) -> None:
    """Make published figures a branch of the pages; as one of `branches` asv would measure it."""
    if any(release.framework == PUBLISHED for release in releases):
        conf.branches = [*conf.branches, PUBLISHED]


def collect(repo: Any, graphs: Any, revisions: dict[str, int]) -> list[Release]:
    """Every tagged release, newest first within its framework, as asv's publishers see them."""
    machines: dict[int, set[str]] = {}
    for _, graph in graphs:
        if "summary" in graph.params:
            continue
        for revision, values in graph.data_points.items():
            if values:
                machines.setdefault(revision, set()).add(str(graph.params.get("machine", "")))
    releases = []
    for tag, commit in repo.get_tags().items():
        when = datetime.datetime.fromtimestamp(repo.get_date_from_name(commit) / 1000, datetime.UTC)
        measured = machines.get(revisions.get(commit, -1), set())
        releases.append(Release(commit, tag, when.date(), tuple(sorted(measured))))
    releases.sort(key=lambda r: r.date, reverse=True)
    return sorted(releases, key=lambda r: r.framework)


def row(release: Release, judged: bool = False) -> str:
    """The table row of one release, which links by hash and by name reach; `judged` says that
    there is a page of what changed with it."""
    name = html.escape(release.name)
    if release.project_page:
        name = f'<a href="{html.escape(release.project_page)}" rel="noreferrer">{name}</a>'
    machines = html.escape(", ".join(release.machines)) or "not measured"
    if judged and release.machines:
        name += f' <a href="release.html#release={quote(release.tag)}">what changed</a>'
    # A name holds a blank, which an id may not.
    anchor = f'<a name="{html.escape(release.name)}"></a>{name}'
    cells = [
        cell(anchor, release.name, name=True),
        cell(release.date.isoformat()),
        cell(machines),
    ]
    return f'<tr id="{html.escape(release.hash)}">{"".join(cells)}</tr>'


def page(project: str, releases: Iterable[Release], judged: bool) -> str:
    """The whole of releases.html; `judged` says that there is a page of verdicts."""
    heads = [head(name) for name in ("release", "released", "measured on")]
    table = scrolling(heads, [row(release, judged) for release in releases], "Releases")
    content = _CONTENT.substitute(ours=_OURS if judged else "", table=table)
    ways = WAYS if judged else ASV_ALONE
    return framed(project, "How to read these pages", content, PAGE, TABLES, ways)


def write(html_dir: Path, project: str, releases: Iterable[Release], judged: bool) -> None:
    """Write html_dir/releases.html."""
    atomic.write_text(html_dir / PAGE, page(project, releases, judged))


_CONTENT = Template("""    <ul>
$ours
      <li>A benchmark is a kernel family, the list its problems come from, and the pass measured:
        <code>gemm.Training.kernel_forward</code>. Its lines are the problems and precisions
        chosen on the left.</li>
      <li>A point is one release of a framework. The x-axis is the order of releases; the
        <em>branch</em> is the framework. Where asv's pages say commit, a release is meant.</li>
      <li>Values are seconds for one operation, so lower is faster. A gap means that this release
        cannot do the operation, or that it was not measured.</li>
      <li>Hover over a point for its time and release; drag sideways to zoom; click a point to
        come to its row below.</li>
      <li>The small graphs of the benchmark grid show the geometric mean over all problems of the
        first framework that has results.</li>
    </ul>
    <h2 id="releases">Releases</h2>
$table
""")

_OURS = """\
      <li>A measured time has its interval of 99 %, from its samples, where there are four of them
        or more and neither end of it is twice as far as the time; else stands why there is none:
        <em>too few samples</em>, or <em>samples too far apart</em>. Its noise is how far processes
        of one release lie apart, known where a release has several: a difference smaller than
        that says nothing. A published time is one figure, with neither.</li>
      <li><a href="verdicts.html">Verdicts</a> tells what became slower or faster, with interval
        and noise; what asv's own detector finds is listed beside it.</li>
      <li>Each table can be taken along as Markdown or CSV, each chart as PNG or SVG; the
        address of a page holds what it shows. Behind &#8943; stands the command that measures a
        number anew.</li>
      <li><a href="benchmarks.html">Benchmarks</a> are asv's pages, for which the rest of this
        list is.</li>"""
