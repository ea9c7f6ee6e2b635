"""releases.html: how to read the pages, and one row per release.

asv links every point to `show_commit_url` + hash. If commits are releases, that address is a row of
this page, which works without internet and links to the release's project page.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from deepbench_ops.pages.page_frame import ASV_NAVIGATION, NAVIGATION, render_page
from deepbench_ops.releases.release_table import PUBLISHED
from deepbench_ops.storage import atomic_write

PAGE = "releases.html"
PLAIN_TAG = re.compile(r"[\w.+!-]+")
PUBLISHED_RESULTS = "https://github.com/baidu-research/DeepBench/tree/master/results"


@dataclass(frozen=True)
class ListedRelease:
    """A release: hash, tag such as `numpy-1.26.4`, day, and the machines that measured it."""

    hash: str
    tag: str
    date: datetime.date
    machines: tuple[str, ...]

    @property
    def framework(self) -> str:
        """The framework of the release."""
        return self.tag.rpartition("-")[0]

    @property
    def version(self) -> str:
        """The version of the release."""
        return self.tag.rpartition("-")[2]

    @property
    def name(self) -> str:
        """Framework and version as the page shows them: `numpy 1.26.4`."""
        return f"{self.framework} {self.version}".strip()

    @property
    def project_page(self) -> str | None:
        """The release's page in the Python package index; None if the tag is no release."""
        if not self.framework or PLAIN_TAG.fullmatch(self.tag) is None:
            return None
        if self.framework == PUBLISHED:
            return PUBLISHED_RESULTS
        return f"https://pypi.org/project/{quote(self.framework)}/{quote(self.version)}/"


def listed_releases(repo: Any, graphs: Any, revisions: dict[str, int]) -> list[ListedRelease]:
    """Every tagged release, newest first within its framework.

    The arguments are those that asv passes to its publishers.
    """
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
        releases.append(ListedRelease(commit, tag, when.date(), tuple(sorted(measured))))
    releases.sort(key=lambda release: release.date, reverse=True)
    return sorted(releases, key=lambda release: release.framework)


def page(project: str, releases: Iterable[ListedRelease], own_pages: bool) -> str:
    """HTML of releases.html.

    own_pages: whether commits are releases, so that the site has all pages of this project.
    """
    navigation = NAVIGATION if own_pages else ASV_NAVIGATION
    return render_page(PAGE, project, navigation, releases=list(releases), own_pages=own_pages)


def write(html_dir: Path, project: str, releases: Iterable[ListedRelease], own_pages: bool) -> None:
    """Write html_dir/releases.html."""
    atomic_write.write_text(html_dir / PAGE, page(project, releases, own_pages))
