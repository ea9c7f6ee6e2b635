"""Our own pages: their HTML in one frame, their scripts, and the data that they read."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from string import Template

from deepbench_ops.pages.asv_index import ASSETS, copy_of
from deepbench_ops.pages.frame import TABLES, framed
from deepbench_ops.storage import atomic

SITE = ASSETS / "site"
SHARED = (*TABLES, "site/lines.js", "site/axes.js", "site/pictures.js", "site/chart.js")
"""Scripts of every page that reads data, in the order in which they build on each other."""

TITLES: Mapping[str, str] = {
    "index": "Deep-learning operations over time",
    "machine": "Machine",
    "timeline": "Timeline",
    "compare": "Compare",
    "models": "Whole models",
    "release": "Release",
}

CHARTS = "plotly-cartesian.min.js"

_AHEAD = Template('      <link id="charts" rel="prefetch" as="script" href="$file">\n')
"""A prefetch, since browsers warn of a preload where no chart is in view yet."""


def carry(html_dir: Path) -> None:
    """Put the scripts and styles of our own pages where they look for them."""
    folder = html_dir / "site"
    folder.mkdir(parents=True, exist_ok=True)
    for path in SITE.iterdir():
        if path.suffix != ".html":
            shutil.copyfile(path, folder / path.name)


def write(html_dir: Path, project: str) -> None:
    """Write the pages that read data."""
    for name, title in TITLES.items():
        content = _AHEAD.substitute(file=copy_of(CHARTS)) + (SITE / f"{name}.html").read_text(
            "utf-8"
        )
        page = framed(project, title, content, f"{name}.html", [*SHARED, f"site/{name}.js"])
        atomic.write_text(html_dir / f"{name}.html", page)
