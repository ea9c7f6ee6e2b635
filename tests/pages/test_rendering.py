"""Templates of the pages: escaping, missing values, and no HTML outside them."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from deepbench_ops.pages import rendering
from deepbench_ops.pages.rendering import render

PAGES = Path(rendering.__file__).parent
READS_ASVS_PAGE = "asv_index_offline.py"


def test_values_are_escaped() -> None:
    """A value with markup becomes text."""
    assert "<strong>&lt;b&gt;</strong>" in render("asv_footer.html", project="<b>")


def test_a_missing_value_is_an_error() -> None:
    """A template without one of its values stops instead of leaving a gap."""
    with pytest.raises(UndefinedError, match="project"):
        render("asv_footer.html")


def test_python_holds_no_html() -> None:
    """Elements are written in templates only; asv's page is searched for its own."""
    tag = re.compile(r"</?(?:a|p|td|th|tr|table|ul|li|div|span|details)\b[^>\n]*>")
    found = {
        path.name
        for path in PAGES.glob("*.py")
        if path.name != READS_ASVS_PAGE and tag.search(path.read_text("utf-8"))
    }
    assert set() == found
