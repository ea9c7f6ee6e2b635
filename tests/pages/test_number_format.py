"""Numbers are written alike by the scripts of the pages and by Python."""

from typing import Any

import pytest

from deepbench_ops.pages import verdict_page
from deepbench_ops.statistics.ratio_texts import ratio_texts

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


RATIOS = [1.0, 1.0043, 0.9957, 1.00004, 1.0000001, 1.012, 4.3217, 0.25, 123.4]


def test_a_small_change_is_named(page: Any) -> None:
    found = page.evaluate("ratios => ratios.map(ratio => deepbench.factor(ratio))", RATIOS)
    assert [verdict_page.factor(ratio) for ratio in RATIOS] == found
    assert "1.004\u00d7 slower" == found[1]
    assert "no difference" == found[0]


def test_an_interval_has_two_ends(page: Any) -> None:
    ends = [(1.003, 1.005), (0.995, 0.997), (0.999, 1.001), (1.0, 1.004), (1.2, 4.3), (1.0, 1.0)]
    found = page.evaluate("ends => ends.map(each => deepbench.ratio_interval(...each))", ends)
    assert [verdict_page.span(*each) for each in ends] == found
    texts = page.evaluate("ends => ends.map(deepbench.ratio_texts)", ends)
    assert [ratio_texts(*each) for each in ends] == texts
