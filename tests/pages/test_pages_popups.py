"""Menus and explanations that open over a page."""

from typing import Any

import pytest

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

POPUPS = [
    ("timeline.html#machine=lab-1&family=gemm", ".chip-line details"),
    ("index.html", "details.about"),
    ("machine.html#machine=lab-1", "details.about"),
]
BOX = """node => {
    const box = node.lastElementChild.getBoundingClientRect();
    return [box.left, document.documentElement.clientWidth - box.right];
}"""
"""Pixels between the open content and the edges of the window."""


def opened(page: Any, site: str, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("about:blank")
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")


@pytest.mark.parametrize("width", [400, 800, 1280])
@pytest.mark.parametrize(("address", "popups"), POPUPS, ids=["timeline", "index", "machine"])
def test_they_stay_inside_the_window(
    page: Any, site: str, address: str, popups: str, width: int
) -> None:
    """Wherever their summary is."""
    opened(page, site, address, width)
    seen = 0
    for popup in page.locator(popups).all():
        if popup.locator("summary").is_visible():
            popup.locator("summary").click()
            page.wait_for_timeout(50)  # the event comes after the opening
            left, right = popup.evaluate(BOX)
            assert left >= 0 and right >= 0, popup.inner_text()
            popup.evaluate("node => { node.open = false; }")
            seen += 1
    assert seen


def test_escape_and_a_click_elsewhere_close_them(page: Any, site: str) -> None:
    """Escape returns to the summary; a click on another one opens that alone."""
    opened(page, site, "index.html", 1280)
    first, second = page.locator("details.about summary:visible").all()[:2]
    first.click()
    second.click()
    assert 1 == page.locator("details.about[open]").count()
    page.keyboard.press("Escape")
    assert 0 == page.locator("details.about[open]").count()
    assert second.evaluate("node => node === document.activeElement")
    first.click()
    page.click("h1")
    assert 0 == page.locator("details.about[open]").count()
