"""Pages on paper: A4 upright, 794 pixels wide, with all that a page holds and without controls."""

import copy
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from published_site import unpacked

from deepbench_ops.pages.data_encoding import script_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

PAPER = {"width": 794, "height": 1123}
NAMES = (
    *("compare", "frameworks", "index", "machine", "models", "nodes", "operations"),
    *("release", "releases", "timeline", "verdicts"),
)
CUT = """() => Array.from(document.querySelectorAll('main table, main svg, main p, main svg text'))
    .filter(part => part.checkVisibility() && part.getBoundingClientRect().right > innerWidth)
    .map(part => part.outerHTML.slice(0, 100))"""
CONTROLS = "header, footer, form, input, select, .tools, .more, .all, .open, .about"
TABLE = """([rows, columns, text]) => deepbench.table(document.getElementById('content'), {
    name: 't', title: 't', cards: true, rows: Array.from({length: rows}, (_, at) => at),
    columns: Array.from({length: columns}, (_, place) => ({title: 'column' + place,
        value: row => text + row}))})"""


def opened(page: Any, site: str, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")


def printed(page: Any) -> None:
    """Show the page as it is printed, drawn for the paper."""
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print")
    page.wait_for_selector("link[href$='print.css'][media=all]", state="attached")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wider_than_the_paper(page: Any, site: str, name: str) -> None:
    """Tables, pictures, their labels and paragraphs; no control is left on it."""
    opened(page, site, f"{name}.html")
    printed(page)
    assert [] == page.evaluate(CUT)
    assert PAPER["width"] >= page.evaluate("document.documentElement.scrollWidth")
    shown = page.eval_on_selector_all(
        CONTROLS, "parts => parts.filter(part => part.checkVisibility()).map(part => part.id)"
    )
    assert [] == shown


def test_labels_of_lines_are_complete(page: Any, site: str, html: Path) -> None:
    """A label that a screen cuts is broken into lines inside the picture."""
    data = json.loads(unpacked((html / "data/catalogue.js").read_text("utf-8")))
    one = next(machine for machine in data["machines"] if machine["name"] == "lab-1")
    names = [f"{number} of the machines in the second rack of the lab" for number in range(3)]
    data["machines"] = [copy.deepcopy(one) | {"name": name} for name in names]
    changed = script_of(json.dumps(data))
    page.route("**/data/catalogue.js", lambda route: route.fulfill(body=changed))
    asked = "".join(f"&machine={name}" for name in names)
    opened(page, site, f"timeline.html#family=gemm&framework=numpy{asked}")
    page.set_viewport_size(PAPER)
    page.wait_for_selector("#chart .end text:has-text('\u2026')")
    printed(page)
    lines = page.locator("#chart .end text")
    assert " ".join(names) == " ".join(lines.all_text_contents())
    assert [] == page.evaluate(CUT)
    tops = sorted(line.bounding_box()["y"] for line in lines.all())
    assert all(two - one > 10 for one, two in pairwise(tops))


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_a_chart_is_drawn_for_the_paper_and_then_for_the_screen_again(
    page: Any, site: str, width: int
) -> None:
    """Its letters have the same size on paper, however wide the window is."""
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, site, "timeline.html#machine=lab-1&family=gemm")
    page.wait_for_selector("#chart .plot .axes")
    before = page.locator("#chart svg").bounding_box()["width"]
    page.evaluate(
        """() => addEventListener('beforeprint', () => {
            window.drawn = document.querySelector('#chart svg').viewBox.baseVal.width;
        })"""
    )
    page.pdf(format="A4")
    assert min(width, 680) - 30 <= page.evaluate("window.drawn") <= 680
    page.wait_for_selector("link[href$='print.css'][media=print]", state="attached")
    assert before == page.locator("#chart svg").bounding_box()["width"]


@pytest.mark.parametrize("width", [400, 1280])
def test_paper_has_all_rows_of_a_table(page: Any, site: str, width: int) -> None:
    """The screen has its first rows again afterwards."""
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, site, "nodes.html")
    page.evaluate(TABLE, [150, 5, "row "])
    page.wait_for_timeout(300)
    before = page.locator("#content tbody tr").count()
    assert before < 150
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert 150 == page.locator("#content tbody tr").count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert before == page.locator("#content tbody tr").count()


@pytest.mark.parametrize(("columns", "smaller", "listed"), [(5, 0, 0), (13, 1, 0), (40, 0, 1)])
def test_a_wide_table_is_smaller_and_the_widest_is_a_list(
    page: Any, site: str, columns: int, smaller: int, listed: int
) -> None:
    """All columns are on the paper; a cell of a list has the name of its column."""
    opened(page, site, "nodes.html")
    page.evaluate(TABLE, [3, columns, "0.123456789"])
    printed(page)
    assert smaller == page.locator("#content table[style*=zoom]").count()
    assert listed == page.locator("#content .listed").count()
    assert [] == page.evaluate(CUT)
    cells = page.locator("#content tbody tr:first-child > *")
    assert columns == cells.count()
    boxes = [cell.bounding_box() for cell in cells.all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= PAPER["width"] for box in boxes)
    if listed:
        script = "cell => getComputedStyle(cell, '::before').content"
        assert '"column39: "' == cells.last.evaluate(script)
