"""Numbers and names are written alike by the scripts of the pages and by Python."""

from typing import Any

import pytest

from deepbench_ops.problems import FAMILIES, load
from deepbench_ops.problems.problem_lists import full_title, heading

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


def test_the_name_of_a_kernel_says_its_family_once(page: Any) -> None:
    """By the same rule in both languages, for all problems."""
    problems = [problem for family in FAMILIES for problem in load(family)]
    pairs = [[heading(problem.family), problem.title] for problem in problems]
    found = page.evaluate("pairs => pairs.map(pair => deepbench.full_title(...pair))", pairs)
    assert [full_title(problem) for problem in problems] == found
