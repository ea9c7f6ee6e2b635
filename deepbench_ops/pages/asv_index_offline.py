"""asv's index.html, rewritten so that it loads nothing from other servers.

asv names its ten libraries by address and integrity sum. The manifest of the copies lists the same
ten sums. A difference means that asv has changed its page. Publishing then stops, because the page
would be blank without internet.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.pages import vendored_libraries
from deepbench_ops.pages.page_frame import BENCHMARKS, START
from deepbench_ops.pages.rendering import render
from deepbench_ops.storage import atomic_write

_TAG = re.compile(r"<(?:script|link)\b[^>]*>", re.IGNORECASE)
_ADDRESS = re.compile(r'\b(?:src|href)="((?:https?:)?//[^"]*)"')
_INTEGRITY = re.compile(r'\bintegrity="([^"]*)"')
_REMOTE_ONLY = re.compile(r'\s+(?:integrity|crossorigin|referrerpolicy|onerror)="[^"]*"')
_INLINE = re.compile(r"[ \t]*<script\b[^>]*>[^<]*js_load_failure[^<]*</script>\s*")
"""asv's script for libraries that fail to load, the only script inside the page."""
_SCRIPT = re.compile(r'[ \t]*<script\b[^>]*\bsrc="([^"]*)"[^>]*>\s*</script>\n?')
ON_DEMAND = ("graphdisplay", "regressions", "summarylist")
"""asv's pages whose scripts are loaded when they are opened; its grid is the first page."""
LIBRARIES_ON_DEMAND = ("bootstrap", "flot", "stupidtable", "md5")
"""Parts of the addresses of libraries that only these pages need."""


class PagesError(DeepbenchError):
    """asv's page has an unknown form, so the pages cannot be completed."""


def localised(page: str) -> str:
    """Return `page` with every library loaded from html/vendor.

    Raises PagesError if the page names a library without a copy, or does not name one with a copy.
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


def without_parts(page: str) -> tuple[str, dict[str, list[str]]]:
    """Return `page` without the scripts that are loaded on demand, and these by the page's name.

    Raises PagesError if a page has no script.
    """
    scripts = _SCRIPT.findall(page)
    libraries = [name for name in scripts if any(part in name for part in LIBRARIES_ON_DEMAND)]
    parts = {name: [*libraries, f"{name}.js"] for name in ON_DEMAND}
    missing = [name for name in parts if f"{name}.js" not in scripts]
    if missing:
        raise PagesError(
            f"asv's index.html loads no {missing[0]}.js: "
            "deepbench_ops/pages does not know this asv's page"
        )
    parts["summarylist"].append("asv_list.js")
    later = {name for names in parts.values() for name in names}
    return _SCRIPT.sub(lambda match: "" if match.group(1) in later else match.group(0), page), parts


def extended(page: str, project: str, releases: bool, parts: Mapping[str, Sequence[str]]) -> str:
    """Return `page` with the content security policy, script, style and footer of this project.

    releases: whether commits are releases; if so, their names replace hashes.
    parts: the scripts of each of asv's pages that is loaded on demand.
    """
    head = render("asv_head.html", releases=releases, parts=json.dumps(parts))
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
    """Return `page` with links to this project's pages in asv's navigation.

    Raises PagesError if the navigation has an unknown form.
    """
    entry = '<li id="nav-li-regressions"><a href="#/regressions">Regressions</a></li>'
    if page.count(entry) != 1:
        raise PagesError(
            "asv's index.html has no entry for regressions in its navigation: "
            "deepbench_ops/pages does not know this asv's page"
        )
    return page.replace(entry, render("asv_navigation.html").strip())


def write(html_dir: Path, project: str, releases: bool) -> None:
    """Rewrite asv's page, and copy the libraries and this project's files next to it.

    If commits are releases, index.html is this project's start page and benchmarks.html asv's page.
    """
    index = html_dir / START
    page, parts = without_parts(localised(index.read_text("utf-8")))
    page = extended(page, project, releases, parts)
    (html_dir / "error.html").unlink(missing_ok=True)  # asv's page for libraries that fail to load
    vendored_libraries.copy_libraries(html_dir)
    for name in ("data_loading.js", "asv_pages.js", "asv_list.js", "asv_pages.css"):
        shutil.copyfile(vendored_libraries.ASSETS / name, html_dir / name)
    atomic_write.write_text(html_dir / (BENCHMARKS if releases else START), page)
