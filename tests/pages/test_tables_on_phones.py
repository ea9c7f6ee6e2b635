"""Long tables on a phone: the first cards with a button for all, among all rows."""

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

PHONE = {"width": 400, "height": 800}
TABLE = """([columns, rows]) => deepbench.table(document.getElementById('content'), {
    name: 't', title: 't', cards: true, rows: Array.from({length: rows}, (_, at) => at),
    columns: Array.from({length: columns}, (_, place) => ({title: 'column' + place, number: true,
        value: row => row,
        cell: row => deepbench.el('a', {href: '#' + row}, 'row ' + row)}))})"""
ROWS = "#content tbody tr"
BUTTON = "#content button:text-is('Show all 150 rows')"


@pytest.fixture
def table(page: Any, site: str) -> Any:
    """Opens a page with a table of so many columns and rows, on a phone."""

    def opened(columns: int, rows: int = 150) -> Any:
        page.set_viewport_size(PHONE)
        page.goto(f"{site}nodes.html")
        page.wait_for_selector("body[data-ready]")
        page.evaluate(TABLE, [columns, rows])
        return page

    return opened


@pytest.mark.parametrize(("columns", "cards"), [(3, 20), (10, 10), (30, 5)])
def test_a_phone_shows_the_first_cards(table: Any, columns: int, cards: int) -> None:
    """Twenty at most, fewer of long ones; a sentence above says so, and wide windows have more."""
    page = table(columns)
    assert cards == page.locator(ROWS).count()
    assert f"150 rows, the first {cards} shown" in page.inner_text("#content .tools")
    assert page.locator(BUTTON).bounding_box()["width"] > 300
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function(f"() => document.querySelectorAll('{ROWS}').length === 100")


@pytest.mark.parametrize(("rows", "cards"), [(20, 20), (30, 30), (31, 20)])
def test_a_few_more_cards_are_shown_at_once(table: Any, rows: int, cards: int) -> None:
    """A button for half as many again, or fewer, is not worth a press."""
    page = table(3, rows)
    assert cards == page.locator(ROWS).count()
    assert (cards < rows) == page.locator("#content button.all").is_visible()


def test_the_button_is_used_by_keyboard(table: Any) -> None:
    """It comes after the last card, and the focus goes on to the first card that it adds."""
    page = table(3)
    page.locator(f"{ROWS}:last-child a").last.focus()
    page.keyboard.press("Tab")
    assert "Show all 150 rows" == page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    assert 150 == page.locator(ROWS).count()
    assert page.locator(BUTTON).is_hidden()
    assert "row 20" == page.evaluate("document.activeElement.textContent")


def test_order_and_filter_are_those_of_all_rows(table: Any) -> None:
    """Rows that are not shown take part."""
    page = table(3)
    page.click("#content thead button >> nth=0")
    assert page.inner_text(f"{ROWS} >> nth=0").count("row 149") == 3
    page.fill("#content input[type=search]", "11")
    assert 11 == page.locator(ROWS).count()
    page.fill("#content input[type=search]", "")
    assert 20 == page.locator(ROWS).count()


def test_tables_of_a_page_share_its_length(page: Any, site: str, html: Path) -> None:
    """Of nine tables of changes each begins with five cards."""
    text = (html / "verdicts.html").read_text("utf-8")
    row = re.compile(r"(<tbody>\s*)(<tr.*?</tr>)", re.DOTALL)
    long = row.sub(lambda found: found[1] + 12 * found[2], text)
    table = re.compile(r"<div class=\"scroll\".*?</table>\s*</div>", re.DOTALL)
    many = table.sub(lambda found: 9 * found[0], long, count=1)
    html_of = {"body": many, "content_type": "text/html"}
    page.route("**/verdicts.html*", lambda route: route.fulfill(**html_of))
    page.set_viewport_size(PHONE)
    page.goto(f"{site}verdicts.html")
    page.wait_for_selector("main .table")
    assert 5 == page.locator("main .table").first.locator("tbody tr").count()


def test_an_address_of_a_row_shows_all_rows(page: Any, site: str, html: Path) -> None:
    """Links of asv's pages lead to a release in the list, wherever it stands."""
    text = (html / "releases.html").read_text("utf-8")
    first = re.compile(r"(<tbody>\s*)<tr id=\"\w+\">(.*?</tr>)", re.DOTALL)
    many = first.sub(
        lambda found: found[1] + "".join(f'<tr id="row{at}">{found[2]}' for at in range(50)), text
    )
    html_of = {"body": many, "content_type": "text/html"}
    page.route("**/releases.html*", lambda route: route.fulfill(**html_of))
    page.set_viewport_size(PHONE)
    page.goto(f"{site}releases.html")
    assert 20 == page.locator("main tbody tr").count()
    page.goto("about:blank")
    page.goto(f"{site}releases.html#row30")
    assert 50 < page.locator("main tbody tr").count()
