#!/usr/bin/env python3
"""Take a picture of a published page for the README, with headless Chromium and no network.

    python scripts/screenshot.py html docs/images/start.png --height 1100
    python scripts/screenshot.py html docs/images/roofline.png --at .answers \\
        --page 'machine.html#machine=epyc-9004-2core&framework=torch'

Needs the Python package playwright and a chromium on the path (Debian: apt install
chromium-headless-shell).
With the package pillow the picture has few colours, and a third of the bytes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from contextlib import suppress
from pathlib import Path

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

COLOURS = 255


def chromium() -> str | None:
    """The path of an installed Chromium or Chrome; None if there is none.

    The headless shell comes first: the same engine without a window opens a page in less than half
    of the time.
    """
    names = (
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    )
    return next((path for path in map(shutil.which, names) if path), None)


def take(folder: Path, address: str, picture: Path, height: int, at: str) -> None:
    """Write a picture, 1280 pixels wide, of a page or of a part of it.

    folder: published pages. address: of the page in the folder. height: pixels. at: CSS selector of
    the part, "" for the whole page.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": height})
        page.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
        page.goto(f"{folder.resolve().as_uri()}/{address}")
        page.wait_for_load_state("networkidle")
        if at:
            page.locator(at).scroll_into_view_if_needed()
        page.wait_for_timeout(1000)
        (page.locator(at) if at else page).screenshot(path=picture)
        browser.close()
    with suppress(ImportError):
        shrink(picture)


def shrink(picture: Path) -> None:
    """Write a picture again with so few colours that it is small. Raises ImportError."""
    from PIL import Image

    with Image.open(picture) as found:
        few = found.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("html_dir", type=Path, help="the folder that asv publish wrote")
    parser.add_argument("picture", type=Path, help="the PNG file to write")
    parser.add_argument("--page", default="index.html", help="its address within html_dir")
    parser.add_argument("--at", default="", help="a CSS selector, for a part of the page")
    parser.add_argument("--height", type=int, default=760, help="in pixels (the width is 1280)")
    options = parser.parse_args()
    if not (options.html_dir / "index.html").is_file():
        parser.error(f"{options.html_dir} holds no pages: run asv publish first")
    if chromium() is None:
        parser.error(
            "no chromium was found on the path: install one (Debian: chromium-headless-shell)"
        )
    take(options.html_dir, options.page, options.picture, options.height, options.at)
    return 0


if __name__ == "__main__":
    sys.exit(main())
