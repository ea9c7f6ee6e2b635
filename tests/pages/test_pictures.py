"""Saved pictures of all pages, in a real browser."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from browsing import heat_of_releases, picture_text, saved_picture

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

SIDES = "compare.html#side=lab-1@numpy&side=lab-1@torch&family=gemm"
THREE = f"{SIDES}&side=lab-1@numpy-1.26.4"
ONE = "timeline.html#machine=lab-1&family=gemm&framework=torch"
PICTURES = [
    (ONE, "#chart", ["matrix products 1760 x 128 x 1760", "lab-1, torch"]),
    (
        SIDES,
        "#scatter",
        ["Times of both sides, matrix products at float32", "lab-1@torch compared with lab-1"],
    ),
    (SIDES, "#heat", ["Problems and releases", "numpy on lab-1", "1.5\u00d7"]),
    (SIDES, "#forest", ["Times of torch over those of numpy", "4.8\u00d7 faster"]),
    (SIDES, "#curve", ["Times of torch over those of numpy", "matrix products at float32"]),
    (THREE, "#sides-heat", ["All sides compared with numpy", "torch; numpy-1.26.4"]),
    ("models.html", "#chart", ["Whole models", "Stream Computing", "/s published"]),
    ("models.html", "#latency-chart", ["Latency", "lab-1, torch-2.5.1", "20 ms"]),
    ("models.html", "#scaling-chart", ["Efficiency", "wide_deep"]),
    (
        "release.html#release=numpy-2.0.2",
        "#strips",
        ["Changes with numpy-2.0.2 on lab-1", "matrix products"],
    ),
    (
        "machine.html#machine=lab-1&framework=numpy",
        "section:has(> #roofline)",
        ["Roofline of lab-1", "numpy, float32"],
    ),
    ("machine.html#machine=lab-1", "section:has(> #families)", ["Share of the roof of lab-1"]),
    (
        "operations.html#family=gemm",
        "#intensities",
        ["Problems by FLOP per byte: matrix products, forward"],
    ),
]


def opened(page: Any, site: str, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")


@pytest.mark.parametrize(("address", "place", "parts"), PICTURES, ids=lambda each: str(each)[:40])
def test_a_picture_says_what_it_shows(
    page: Any, site: str, address: str, place: str, parts: list[str]
) -> None:
    """Title, sides, day and address stand in it; it is SVG without HTML, links or classes."""
    opened(page, site, address)
    day = page.get_attribute("body", "data-day")
    if place == "#heat":
        heat_of_releases(page)
    file = saved_picture(page, place)
    shown = picture_text(file)
    page_name = address.partition("#")[0]
    for part in [*parts, f"Results published {day}", page_name]:
        assert part in shown, part
    assert file.suggested_filename.endswith(".svg")


@pytest.mark.parametrize(
    ("address", "place"), [(ONE, "#chart"), (SIDES, "#forest"), (SIDES, "#curve")]
)
def test_a_png_has_the_size_of_its_picture(page: Any, site: str, address: str, place: str) -> None:
    """Two pixels for each of the page's, with the heading above; not blank."""
    opened(page, site, address)
    svg = ElementTree.parse(saved_picture(page, place).path()).getroot()
    opened(page, site, address)
    content = Path(saved_picture(page, place, "PNG").path()).read_bytes()
    assert content.startswith(b"\x89PNG")
    size = [int.from_bytes(content[at : at + 4]) for at in (16, 20)]
    assert size == [int(2 * float(svg.attrib[side])) for side in ("width", "height")]
    assert len(content) > 5000


def test_a_picture_that_cannot_be_made_says_so(page: Any, site: str) -> None:
    """On the button and to screen readers."""
    opened(page, site, ONE)
    page.evaluate("() => { XMLSerializer.prototype.serializeToString = () => { throw 'no'; }; }")
    page.click("#chart button:text-is('Download SVG')")
    page.wait_for_selector("#chart button:text-is('Not saved')")
    page.wait_for_function("() => document.getElementById('status').textContent === 'Not saved'")
    assert "Not saved" == page.inner_text("#chart button:text-is('Not saved')")


def test_a_picture_is_drawn_by_a_script_that_is_loaded_for_it(browser: Any, site: str) -> None:
    """Once; a click after it could not be loaded tries again."""
    asked: list[str] = []

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        route.abort() if len(asked) == 1 else route.continue_()

    context = browser.new_context()
    page = context.new_page()
    page.route("**/picture_drawing.js", answer)
    opened(page, site, ONE)
    assert not asked
    page.click("#chart button:text-is('Download SVG')")
    page.wait_for_selector("#chart button:text-is('Not saved')")
    for _ in range(2):
        page.wait_for_selector("#chart button:text-is('Download SVG')")
        saved_picture(page, "#chart")
    assert 2 == len(asked)
    context.close()


def test_a_saved_table_says_so(page: Any, site: str) -> None:
    """The button of CSV shows its outcome for a while."""
    opened(page, site, ONE)
    with page.expect_download() as saved:
        page.click("#table button:text-is('Download CSV')")
    assert saved.value.suggested_filename.endswith(".csv")
    page.wait_for_selector("#table button:text-is('Saved')")
    page.wait_for_selector("#table button:text-is('Download CSV')", timeout=4000)


def test_a_picture_in_the_dark_theme_is_dark(page: Any, site: str) -> None:
    """The colours are those of the page when it is saved."""
    opened(page, site, ONE)
    light = Path(saved_picture(page, "#chart").path()).read_text("utf-8")
    opened(page, site, ONE)
    page.click("#theme")
    dark = Path(saved_picture(page, "#chart").path()).read_text("utf-8")
    assert "rgb(255, 255, 255)" in light and "rgb(20, 24, 29)" in dark
