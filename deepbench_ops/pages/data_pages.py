"""The pages that read data files, and the scripts and styles of all pages of this project."""

from __future__ import annotations

import shutil
from pathlib import Path

from deepbench_ops.pages.page_frame import render_page
from deepbench_ops.pages.vendored_libraries import ASSETS
from deepbench_ops.storage import atomic_write

SCRIPTS = ASSETS / "site"
NAMES = ("index", "machine", "operations", "timeline", "compare", "models", "release", "nodes")
"""Names of the pages, and of their templates and scripts."""


def copy_scripts(html_dir: Path) -> None:
    """Copy the scripts and styles of this project's pages to html_dir/site."""
    folder = html_dir / "site"
    folder.mkdir(parents=True, exist_ok=True)
    for path in SCRIPTS.iterdir():
        shutil.copyfile(path, folder / path.name)


def write(html_dir: Path, project: str, site_url: str = "") -> None:
    """Write the pages that read data files."""
    for name in NAMES:
        page = render_page(f"{name}.html", project, site_url=site_url)
        atomic_write.write_text(html_dir / f"{name}.html", page)
