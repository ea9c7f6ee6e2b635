"""The published site in a real browser, from a disk and from a server, without internet."""

import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import published_site
import pytest
from screenshot import ARGUMENTS, chromium

WITHOUT_INTERNET = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost"
WATCH = """window.busy = [];
new PerformanceObserver(list => list.getEntries().forEach(task =>
    busy.push([task.startTime, task.duration]))).observe({type: 'longtask', buffered: true});"""
WORK = """() => {
    const begin = performance.now();
    let sum = 0;
    for (let at = 0; at < 3e7; at += 1) { sum += Math.sqrt(at); }
    return performance.now() - begin + (sum < 0);
}"""
"""Milliseconds of a fixed loop, 60 on a quiet machine: it says how slow a busy one is."""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published_site.publish(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if chromium() is None:
        pytest.skip("no chromium on the path (Debian: chromium-headless-shell)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=[*ARGUMENTS, WITHOUT_INTERNET]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session", params=["file", "http"])
def site(request: pytest.FixtureRequest, html: Path) -> Iterator[str]:
    """The site's address up to and with the last slash."""
    if request.param == "file":
        yield html.as_uri() + "/"
        return
    handler = functools.partial(QuietHandler, directory=str(html))
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """Opens a page of a folder's site, and waits until it is drawn; anything amiss in it fails the
    test."""
    contexts, faults = [], []

    def open_one(html: Path, address: str) -> Any:
        context = browser.new_context()
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"script: {error}"))
        page.on(
            "console", lambda m: faults.append(f"console: {m.text}") if m.type == "error" else None
        )
        name, _, chosen = address.partition("#")
        page.goto(f"{html.as_uri()}/{name}.html#{chosen}")
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [] == faults


def open_page(page: Any, site: str, address: str) -> None:
    """Open a page of a site, and wait until it is drawn; loaded again where only the part of the
    address after # differs."""
    page.goto("about:blank")
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")


def rows(page: Any, place: str) -> list[list[str]]:
    """The cells of a table's body, less the buttons."""
    script = """place => Array.from(document.querySelectorAll(place + ' tbody tr'), row =>
        Array.from(row.cells, cell => cell.innerText.replace('\\u22ef', '').trim()))"""
    found: list[list[str]] = page.evaluate(script, place)
    return found


def column_of(page: Any, place: str, title: str) -> int:
    titles = [text.strip() for text in page.locator(f"{place} thead th").all_inner_texts()]
    return titles.index(title)


def column(page: Any, place: str, title: str) -> list[str]:
    at = column_of(page, place, title)
    return [row[at] for row in rows(page, place)]


def series(page: Any, place: str) -> list[dict[str, Any]]:
    """The content of a chart: the label of each series, and x, y and shape of its points."""
    page.wait_for_selector(f"{place} .plot .axes")
    script = """place => Array.from(
        document.querySelectorAll(place + ' .series:not(.end)'), line => {
            const points = Array.from(line.querySelectorAll('[data-x]'));
            return {
                label: line.dataset.label,
                look: line.getAttribute('class'),
                bands: line.querySelectorAll('.band, .bar').length,
                dash: line.querySelector('.path')?.getAttribute('stroke-dasharray'),
                x: points.map(point => point.dataset.x),
                y: points.map(point => Number(point.dataset.y)),
                shapes: points.map(
                    point => point.tagName + point.getAttribute('class').replace('point', '')),
            };
        })"""
    found: list[dict[str, Any]] = page.evaluate(script, place)
    return found


def heat_of_releases(page: Any) -> list[list[str]]:
    """The rows of the table of problems and releases, which is filled when it comes into view."""
    page.locator("#releases").scroll_into_view_if_needed()
    page.wait_for_selector("#heat td")
    return rows(page, "#heat")


def saved_picture(page: Any, place: str, form: str = "SVG") -> Any:
    """The download of the picture at a place, whose buttons may lie behind a mark."""
    mark = page.locator(f"{place} .save > summary")
    if mark.count():
        mark.click()
    with page.expect_download() as found:
        page.click(f"{place} button:text-is('Download {form}')")
    page.wait_for_selector(f"{place} button:text-is('Saved')")
    return found.value


def picture_text(file: Any) -> str:
    """The texts of a downloaded picture, which is SVG without HTML, scripts and styles."""
    content = Path(file.path()).read_text("utf-8")
    parts = list(ElementTree.fromstring(content).iter())
    names = {part.tag.removeprefix("{http://www.w3.org/2000/svg}") for part in parts}
    assert names <= {"svg", "title", "g", "rect", "line", "path", "circle", "text"}
    assert not re.search(r'class="|var\(|color\(|NaN', content)
    return " ".join(" ".join(part.text or "" for part in parts).split())


def open_chip(page: Any, place: str) -> None:
    """Open the chip that holds a choice."""
    page.evaluate(
        "place => { document.querySelector(place).closest('details').open = true; }", place
    )


@pytest.fixture
def page(browser: Any, site: str) -> Iterator[Any]:
    """A page that fails its test by an error, a missing file or a call to the outside."""
    context = browser.new_context(viewport={"width": 1280, "height": 760})
    page = context.new_page()
    page.set_default_timeout(10_000)
    faults: list[str] = []

    def asked(request: Any) -> None:
        if not request.url.startswith((site, "data:", "blob:")):
            faults.append(f"request to the outside: {request.url}")

    def failed(request: Any) -> None:
        # Leaving a page aborts what it still loads.
        if request.failure != "net::ERR_ABORTED":
            faults.append(f"{request.failure}: {request.url}")

    context.on("request", asked)
    page.on("console", lambda m: faults.append(f"console: {m.text}") if m.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(f"script: {error}"))
    page.on("requestfailed", failed)
    page.on(
        "response",
        lambda r: faults.append(f"{r.status}: {r.url}") if r.status >= 400 else None,
    )
    yield page
    pwned = page.evaluate("window.pwned")
    context.close()
    assert faults == []
    assert pwned is None
