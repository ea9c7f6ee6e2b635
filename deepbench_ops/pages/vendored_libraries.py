"""Copies of libraries that are part of the site, so that pages load only files of the site."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ASSETS = Path(__file__).parent / "assets"
"""Scripts and styles of all pages, and the libraries in `vendor/`."""


def copies() -> dict[str, str]:
    """Path of each library in html/, by the integrity sum in asv's page."""
    return {
        entry["replaces"]: f"{folder}/{PurePosixPath(entry['source']).name}"
        for folder, entry in _files()
        if "replaces" in entry
    }


def copy_libraries(html_dir: Path) -> None:
    """Copy the libraries and their licences to html_dir/vendor."""
    target = html_dir / "vendor"
    shutil.copytree(ASSETS / "vendor", target, copy_function=shutil.copyfile)
    shutil.copyfile(ASSETS / "THIRD_PARTY.md", target / "THIRD_PARTY.md")


def _files() -> Iterator[tuple[str, dict[str, str]]]:
    """Folder in html/ and manifest entry of each file."""
    manifest = json.loads((ASSETS / "manifest.json").read_text("utf-8"))
    for package in manifest["packages"]:
        for entry in package["files"]:
            yield f"vendor/{package['name']}-{package['version']}", entry
