"""The list of committed results."""

import make_results_inventory


def test_the_page_lists_what_is_committed():
    """results/README.md is up to date: scripts/make_results_inventory.py writes it."""
    page = make_results_inventory.PAGE.read_text(encoding="utf-8")
    assert make_results_inventory.page() == page
