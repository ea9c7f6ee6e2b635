"""asv's index.html, rewritten so that it loads nothing from elsewhere.

asv names its ten libraries by address and integrity sum. The manifest of our copies lists the same
ten sums. A difference means that asv changed its page: publishing then stops, since the page would
be blank without internet.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.pages import vendored_libraries
from deepbench_ops.pages.page_frame import BENCHMARKS, START
from deepbench_ops.pages.rendering import render
from deepbench_ops.storage import atomic

_TAG = re.compile(r"<(?:script|link)\b[^>]*>", re.IGNORECASE)
_ADDRESS = re.compile(r'\b(?:src|href)="((?:https?:)?//[^"]*)"')
_INTEGRITY = re.compile(r'\bintegrity="([^"]*)"')
_REMOTE_ONLY = re.compile(r'\s+(?:integrity|crossorigin|referrerpolicy|onerror)="[^"]*"')
_INLINE = re.compile(r"[ \t]*<script\b[^>]*>[^<]*js_load_failure[^<]*</script>\s*")
"""asv's script for libraries that fail to load, the only script inside the page."""


class PagesError(DeepbenchError):
    """asv's page is not as this version of asv writes it, so the pages cannot be completed."""


def localised(page: str) -> str:
    """`page` with every library loaded from html/vendor.

    Raises PagesError where the page names a library that has no copy, or lacks one that has.
    """
    page, found = _INLINE.subn("", page)
    if found != 1:
        raise PagesError(
            f"asv's index.html has {found} scripts for libraries that fail to load, not one: "
            "deepbench_ops/pages does not know this asv's page"
        )
    missing = vendored_libraries.copies()

    def local(match: re.Match[str]) -> str:
        tag = match.group(0)
        address = _ADDRESS.search(tag)
        if address is None:
            return tag
        integrity = _INTEGRITY.search(tag)
        copy = missing.pop(integrity.group(1), None) if integrity else None
        if copy is None:
            raise PagesError(
                f"asv's index.html loads {address.group(1)}, which has no copy: "
                "bring deepbench_ops/pages/assets/manifest.json up to date with this asv"
            )
        return _REMOTE_ONLY.sub("", tag).replace(address.group(1), copy)

    rewritten = _TAG.sub(local, page)
    if missing:
        raise PagesError(
            f"asv's index.html no longer loads the library of {min(missing.values())}: "
            "bring deepbench_ops/pages/assets/manifest.json up to date with this asv"
        )
    return rewritten


def extended(page: str, project: str, releases: bool) -> str:
    """`page` with our policy, script, style and footer.

    releases: whether commits are releases, whose names then replace hashes.
    """
    head = render("asv_head.html", releases=releases)
    footer = render("asv_footer.html", project=project)
    for place, with_addition in (
        ("<html>", '<html lang="en">'),
        ("<head>", f"<head>\n    {render('policy.html').strip()}"),
        ("</head>", f"{head}</head>"),
        ("</body>", f"{footer}</body>"),
    ):
        if page.count(place) != 1:
            raise PagesError(
                f"asv's index.html holds {place} {page.count(place)} times, not once: "
                "deepbench_ops/pages does not know this asv's page"
            )
        page = page.replace(place, with_addition)
    return with_own_pages(page) if releases else page


def with_own_pages(page: str) -> str:
    """`page` with links to our own pages in asv's navigation.

    Raises PagesError for an unknown navigation.
    """
    entry = '<li id="nav-li-regressions"><a href="#/regressions">Regressions</a></li>'
    if page.count(entry) != 1:
        raise PagesError(
            "asv's index.html has no entry for regressions in its navigation: "
            "deepbench_ops/pages does not know this asv's page"
        )
    return page.replace(entry, render("asv_navigation.html").strip())


def write(html_dir: Path, project: str, releases: bool) -> None:
    """Rewrite asv's page, and copy the libraries and our own files next to it.

    Where commits are releases, index.html is our start page, and asv's page is benchmarks.html.
    """
    index = html_dir / START
    page = extended(localised(index.read_text("utf-8")), project, releases)
    (html_dir / "error.html").unlink(missing_ok=True)  # asv's page for libraries that fail to load
    vendored_libraries.copy_libraries(html_dir)
    for name in ("data.js", "deepbench.js", "asv_list.js", "deepbench.css"):
        shutil.copyfile(vendored_libraries.ASSETS / name, html_dir / name)
    atomic.write_text(html_dir / (BENCHMARKS if releases else START), page)
