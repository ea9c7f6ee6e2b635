"""asv's index.html, rewritten so that nothing is fetched from elsewhere.

asv names its ten libraries by address and integrity sum. The manifest of the copies lists the
same ten sums; any difference means that asv changed its page, and publishing stops rather than
leave a page that is blank without internet.
"""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.pages import frame
from deepbench_ops.pages.frame import BENCHMARKS, POLICY_TAG, START
from deepbench_ops.storage import atomic

ASSETS = Path(frame.__file__).parent / "assets"

_TAG = re.compile(r"<(?:script|link)\b[^>]*>", re.IGNORECASE)
_ADDRESS = re.compile(r'\b(?:src|href)="((?:https?:)?//[^"]*)"')
_INTEGRITY = re.compile(r'\bintegrity="([^"]*)"')
_REMOTE_ONLY = re.compile(r'\s+(?:integrity|crossorigin|referrerpolicy|onerror)="[^"]*"')
_INLINE = re.compile(r"[ \t]*<script\b[^>]*>[^<]*js_load_failure[^<]*</script>\s*")
"""asv's script for libraries that could not be fetched, the only one in the page itself."""


class PagesError(DeepbenchError):
    """asv's page is not as this version of asv writes it, so the pages cannot be completed."""


def copies() -> dict[str, str]:
    """Integrity sum of each library that asv's page names -> its copy, relative to html/."""
    return {
        entry["replaces"]: f"{folder}/{PurePosixPath(entry['source']).name}"
        for folder, entry in _brought_along()
        if "replaces" in entry
    }


def copy_of(file: str) -> str:
    """The copy of a library's file that pages of our own load, relative to html/."""
    return next(f"{folder}/{file}" for folder, entry in _brought_along() if entry["source"] == file)


def _brought_along() -> Iterator[tuple[str, dict[str, str]]]:
    manifest = json.loads((ASSETS / "manifest.json").read_text("utf-8"))
    for package in manifest["packages"]:
        for entry in package["files"]:
            yield f"vendor/{package['name']}-{package['version']}", entry


def localised(page: str) -> str:
    """`page` with every library taken from html/vendor.

    Raises PagesError where the page names others than the libraries brought along, or lacks one.
    """
    page, found = _INLINE.subn("", page)
    if found != 1:
        raise PagesError(
            f"asv's index.html has {found} scripts for libraries that fail to load, not one: "
            "deepbench_ops/pages does not know this asv's page"
        )
    missing = copies()

    def local(match: re.Match[str]) -> str:
        tag = match.group(0)
        address = _ADDRESS.search(tag)
        if address is None:
            return tag
        integrity = _INTEGRITY.search(tag)
        copy = missing.pop(integrity.group(1), None) if integrity else None
        if copy is None:
            raise PagesError(
                f"asv's index.html loads {address.group(1)}, of which no copy is brought along: "
                "bring deepbench_ops/pages/assets/manifest.json up to date with this asv"
            )
        return _REMOTE_ONLY.sub("", tag).replace(address.group(1), copy)

    rewritten = _TAG.sub(local, page)
    if missing:
        raise PagesError(
            f"asv's index.html no longer loads what {min(missing.values())} stands for: "
            "bring deepbench_ops/pages/assets/manifest.json up to date with this asv"
        )
    return rewritten


def extended(page: str, project: str, named: bool) -> str:
    """`page` with our policy, script, style and footer.

    `named` tells the script that tags are releases, whose names replace hashes.
    """
    head = (
        '    <meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '    <script src="site/theme.js"></script>\n'
        '    <link href="deepbench.css" rel="stylesheet" type="text/css"/>\n'
        '    <script src="data.js"></script>\n'
        f'    <script src="deepbench.js" data-releases="{"yes" if named else "no"}"></script>\n'
        '    <script src="asv_list.js"></script>\n'
    )
    footer = (
        '    <footer id="deepbench-footer">'
        '<button type="button" id="theme" hidden>Dark</button> <strong>'
        f"{html.escape(project)}</strong>: lower is faster, one point is one release, "
        'hover over it for its time. <a href="releases.html">How to read these pages, and the '
        "releases</a></footer>\n"
    )
    for place, with_addition in (
        ("<head>", f"<head>\n    {POLICY_TAG}"),
        ("</head>", f"{head}</head>"),
        ("</body>", f"{footer}</body>"),
    ):
        if page.count(place) != 1:
            raise PagesError(
                f"asv's index.html holds {place} {page.count(place)} times, not once: "
                "deepbench_ops/pages does not know this asv's page"
            )
        page = page.replace(place, with_addition)
    return with_own_pages(page) if named else page


def with_own_pages(page: str) -> str:
    """`page` with ways to our own pages, asv's regressions beside them as a second opinion.

    Raises PagesError where asv's navigation is not known.
    """
    entry = '<li id="nav-li-regressions"><a href="#/regressions">Regressions</a></li>'
    if page.count(entry) != 1:
        raise PagesError(
            "asv's index.html has no entry for regressions in its navigation: "
            "deepbench_ops/pages does not know this asv's page"
        )
    ours = (
        '<li id="nav-li-start"><a href="index.html">Start</a></li>\n\t'
        '<li id="nav-li-verdicts"><a href="verdicts.html">Verdicts</a></li>\n\t'
        '<li id="nav-li-frameworks"><a href="frameworks.html">Frameworks</a></li>'
    )
    return page.replace(entry, f"{ours}\n\t{entry.replace('Regressions', 'asv regressions')}")


def write(html_dir: Path, project: str, named: bool) -> None:
    """Rewrite asv's page, and put the libraries and our own files beside it.

    Where commits are releases, index.html is left to the first of our own pages, and asv's is
    benchmarks.html.
    """
    index = html_dir / START
    page = extended(localised(index.read_text("utf-8")), project, named)
    (html_dir / "error.html").unlink(missing_ok=True)  # for libraries that could not be fetched
    shutil.copytree(ASSETS / "vendor", html_dir / "vendor", copy_function=shutil.copyfile)
    shutil.copyfile(ASSETS / "THIRD_PARTY.md", html_dir / "vendor" / "THIRD_PARTY.md")
    for name in ("data.js", "deepbench.js", "asv_list.js", "deepbench.css"):
        shutil.copyfile(ASSETS / name, html_dir / name)
    atomic.write_text(html_dir / (BENCHMARKS if named else START), page)
