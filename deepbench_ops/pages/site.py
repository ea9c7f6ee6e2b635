"""Our own pages: their HTML in one frame, their scripts, and the data that they read."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from deepbench_ops.pages.frame import framed
from deepbench_ops.pages.page_index import ASSETS, copy_of

SITE = ASSETS / "site"
SHARED = ("site", "table", "lines", "chart")
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


def write(html_dir: Path, project: str) -> None:
    """Write the pages that read data, and what they load but the data itself."""
    folder = html_dir / "site"
    folder.mkdir(parents=True, exist_ok=True)
    for path in SITE.iterdir():
        if path.suffix != ".html":
            shutil.copyfile(path, folder / path.name)
    for name, title in TITLES.items():
        own = (f"site/{script}.js" for script in (*SHARED, name))
        scripts = [copy_of(CHARTS), "data.js", *own]
        content = (SITE / f"{name}.html").read_text("utf-8")
        page = framed(project, title, content, f"{name}.html", scripts)
        (html_dir / f"{name}.html").write_text(page, "utf-8")
