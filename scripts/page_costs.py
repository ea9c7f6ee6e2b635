#!/usr/bin/env python3
"""Bytes, seconds, layout shift and memory that each page of a published site costs its reader.

    python scripts/page_costs.py html

Each page is opened in headless Chromium from the disk, at three widths, and from a local server
that sends 200 kB/s to a processor slowed down four times. Bytes are those of all files, as they
lie on the disk, that a page reads until it is drawn. A page is usable when its tables and choices
are there. Seconds are the least of several openings. The shift is the sum of Chromium's layout
shifts that no click or key has caused. Memory is the largest resident size of the process that
draws the page, most of it Chromium's own code; only Linux says it.

Needs the Python package playwright and a chromium on the path (Debian: apt install
chromium-headless-shell).
"""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from screenshot import ARGUMENTS, chromium

WIDTHS = (400, 1280, 2560)
HEIGHT = 900
"""Pixels."""

BYTES_PER_SECOND = 200_000
SLOWDOWN = 4
"""Of the slow reader: bytes per second of the line, and the time of the processor as a multiple."""

MOST_BYTES, MOST_SHIFT = 300_000, 0.1
SOON, SOON_ON_A_SLOW_LINE = 1.0, 2.0
"""Limits of every page; the last two are the seconds until it is usable."""

OPENINGS = 3
FOREIGN = ("benchmarks.html",)
"""Pages that are asv's own."""

SHIFTS = """window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach(entry => {
    if (!entry.hadRecentInput) { window.shift += entry.value; }
})).observe({type: 'layout-shift', buffered: true});"""
SETTLED = 300
"""Milliseconds after a page is drawn in which it may still shift."""


@dataclass(frozen=True)
class Cost:
    """Cost of one opening; `said` are the messages on the console, `memory` is in bytes."""

    bytes: int
    usable: float
    shift: float
    memory: int
    said: tuple[str, ...]


def names(html: Path) -> list[str]:
    """Names of the pages in a folder."""
    return sorted(path.name for path in html.glob("*.html"))


def cost(
    browser: Any, html: Path, address: str, width: int = 1280, server: str | None = None
) -> Cost:
    """Open the page at an address in the folder.

    server: address of the server that sends it over a slow line to a slow processor; None to read
    the disk.
    """
    with closing(browser.new_context(viewport={"width": width, "height": HEIGHT})) as context:
        page = context.new_page()
        page.set_default_timeout(120_000)
        asked: set[str] = set()
        said: list[str] = []
        page.on("request", lambda request: asked.add(request.url.partition("#")[0]))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.add_init_script(SHIFTS)
        site = server or html.resolve().as_uri() + "/"
        if server:
            slow_down(context, page)
        page.goto(site + address)
        page.wait_for_selector("body[data-ready]", state="attached")
        page.wait_for_timeout(SETTLED)
        usable = float(page.get_attribute("body", "data-usable")) / 1000
        shift = float(page.evaluate("window.shift"))
        memory = memory_of_drawing(browser)
    files = [html / url.removeprefix(site) for url in asked if url.startswith(site)]
    size = sum(path.stat().st_size for path in files if path.is_file())
    return Cost(size, usable, shift, memory, tuple(said))


def memory_of_drawing(browser: Any) -> int:
    """Return the largest resident size so far, in bytes, of the largest process that draws pages; 0
    where the system does not tell it."""
    client = browser.new_browser_cdp_session()
    processes = client.send("SystemInfo.getProcessInfo")["processInfo"]
    client.detach()
    drawing = [each["id"] for each in processes if each["type"] == "renderer"]
    return max((_largest_size(process) for process in drawing), default=0)


def _largest_size(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(kilobytes) * 1024


def slow_down(context: Any, page: Any) -> None:
    """Give a page a slow line and a slow processor."""
    client = context.new_cdp_session(page)
    client.send("Network.enable")
    client.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": 0,
            "downloadThroughput": BYTES_PER_SECOND,
            "uploadThroughput": BYTES_PER_SECOND,
        },
    )
    client.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Write no line for a request."""


@contextmanager
def served(html: Path) -> Iterator[str]:
    """Address, with a slash at its end, of a server of a folder, which does not compress."""
    handler = functools.partial(_Quiet, directory=str(html))
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}/"
        server.shutdown()


def least_usable(browser: Any, html: Path, address: str, server: str | None = None) -> float:
    """Seconds until a page is usable, in the fastest of several openings."""
    return min(cost(browser, html, address, server=server).usable for _ in range(OPENINGS))


def row(browser: Any, html: Path, server: str, name: str) -> tuple[Any, ...]:
    """Costs of a page, as a row of the printed table."""
    found = [cost(browser, html, name, width) for width in WIDTHS]
    size = max(each.bytes for each in found)
    soon, slow = (least_usable(browser, html, name, of) for of in (None, server))
    shift = max(each.shift for each in found)
    over = [
        what
        for what, is_over in (
            ("bytes", size > MOST_BYTES),
            ("seconds", soon > SOON),
            ("slow line", slow > SOON_ON_A_SLOW_LINE and name not in FOREIGN),
            ("shift", shift > MOST_SHIFT),
            ("console", any(each.said for each in found)),
        )
        if is_over
    ]
    memory = max(each.memory for each in found)
    return (
        name,
        f"{size / 1000:.0f}",
        f"{soon:.2f}",
        f"{slow:.2f}",
        f"{shift:.3f}",
        f"{memory / 1e6:.0f}",
        ", ".join(over),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("html_dir", type=Path, help="the folder that asv publish wrote")
    options = parser.parse_args()
    if not (options.html_dir / "index.html").is_file():
        parser.error(f"{options.html_dir} holds no pages: run asv publish first")
    if chromium() is None:
        parser.error(
            "no chromium was found on the path: install one (Debian: chromium-headless-shell)"
        )
    from playwright.sync_api import sync_playwright
    from tabulate import tabulate

    with sync_playwright() as playwright, served(options.html_dir) as server:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        rows = [row(browser, options.html_dir, server, name) for name in names(options.html_dir)]
        browser.close()
    heads = ("page", "kB", "usable s", "slow line s", "shift", "MB", "over the limit")
    print(tabulate(rows, heads, disable_numparse=True))
    return int(any(each[-1] for each in rows))


if __name__ == "__main__":
    sys.exit(main())
