"""Numbers are written alike by the scripts of the pages and by Python."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Any, site: str) -> Any:
    with browser.new_context(bypass_csp=True) as context:
        page = context.new_page()
        page.goto(f"{site}index.html")
        page.wait_for_selector("body[data-ready]")
        yield page


def test_thousands_are_grouped(page: Any) -> None:
    counts = [0, 7, 999, 1000, 12345, 999999, 1000000, 1234567890, -4321]
    found = page.evaluate("counts => counts.map(deepbench.grouped)", counts)
    assert [f"{count:,}" for count in counts] == found
