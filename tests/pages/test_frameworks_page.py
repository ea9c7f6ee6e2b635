"""The matrix of frameworks and the kernels of its cells, in a real browser."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import picture_text, saved_picture
from published_site import HOSTILE, unpacked

from deepbench_ops.pages.data_encoding import script_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

READY = "body[data-ready]"
SHIFTS = """window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach(
    entry => { window.shift += entry.value; })).observe({type: 'layout-shift', buffered: true});"""
PLACES = [0, 1]


def cell(ratio: float, clear: bool, against: str, together: int = 0) -> dict[str, Any]:
    return {"ratio": ratio, "clear": clear, "against": against, "together": together}


ROWS = [
    {
        "family": "gemm",
        "precision": "float32",
        "clear": True,
        "common": PLACES,
        "cells": {"torch": cell(1, False, "numpy"), "numpy": cell(4.84, True, "torch", 1)},
    },
    {
        "family": "conv",
        "precision": "float32",
        "clear": False,
        "common": PLACES,
        "cells": {"numpy": cell(1, False, "torch"), "torch": cell(1.05, False, "numpy")},
    },
    {
        "family": "gemm",
        "precision": "int8",
        "clear": True,
        "common": PLACES,
        "cells": {HOSTILE: cell(1, False, "torch"), "torch": cell(64.8, True, HOSTILE)},
    },
]


@pytest.fixture
def shown(page: Any, site: str, html: Path) -> Callable[..., Any]:
    """Opens the page with these rows for lab-1."""

    def opened(rows: list[dict[str, Any]], address: str = "") -> Any:
        found = json.loads(unpacked((html / "data/frameworks.js").read_text("utf-8")))
        for one in found:
            if one["machine"] == "lab-1":
                one["rows"] = rows
                one["versions"] = {"numpy": ["2.2.6"], "torch": ["2.5.1"], HOSTILE: ["1"]}
        body = script_of(json.dumps(found))
        page.route("**/data/frameworks.js", lambda route: route.fulfill(body=body))
        page.add_init_script(SHIFTS)
        page.goto("about:blank")
        page.goto(f"{site}frameworks.html#where=lab-1{address}")
        page.wait_for_selector(READY)
        return page

    return opened


def test_a_matrix_has_factors_the_fastest_and_what_is_within_the_noise(shown: Any) -> None:
    """Green, grey or slow, each with the number of its kernels."""
    page = shown(ROWS)
    rows = page.locator(".matrix tbody tr")
    assert ["matrix products", "convolutions"] == rows.locator("th").all_inner_texts()
    texts = rows.nth(0).locator("button b").all_inner_texts()
    assert ["4.8\u00d7", "\u2605 fastest"] == texts
    kinds = [b.get_attribute("class") for b in page.locator(".matrix button").all()]
    assert ["slow", "fast", "same", "same"] == kinds
    assert ["2 kernels"] * 4 == page.locator(".matrix button small:visible").all_inner_texts()
    assert "1 of 4 ratios come from rounds that measured both" in page.inner_text("#matrix")


def test_a_cell_opens_its_kernels_with_dots_and_whiskers(shown: Any) -> None:
    """With a readable name, the id and the factor; the address holds the cell, and Back closes."""
    page = shown(ROWS)
    page.focus("#cell-gemm-numpy")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cell .dots")
    (first, second) = page.locator(".dots tbody tr").all()
    assert "1760 x 128 x 1760" in first.inner_text() + second.inner_text()
    assert "m1760_n128_k1760_NN" in first.inner_text() + second.inner_text()
    assert ["4.8\u00d7 slower"] * 2 == page.locator(".dots .factor strong").all_inner_texts()
    assert 2 == page.locator(".dots tr.slower .whisker").count()
    assert "1.5 ms and 310 \u00b5s" in page.inner_text(".dots")
    assert "cell=gemm+numpy" in page.url
    assert "cell-gemm-numpy" == page.evaluate("document.activeElement.id")
    page.go_back()
    page.wait_for_selector("#cell", state="hidden")


def test_the_address_opens_precision_and_cell(shown: Any) -> None:
    """A hostile name stays text."""
    page = shown(ROWS, "&at=int8")
    assert ["\u2605 fastest", "65\u00d7"] == sorted(
        page.locator(".matrix b").all_inner_texts(), reverse=True
    )
    assert HOSTILE in page.inner_text(".matrix thead")
    page = shown(ROWS, "&at=float32&cell=gemm+torch")
    assert "4.8\u00d7 faster" in page.inner_text("#cell")


def test_each_device_has_a_row_of_its_own(shown: Any) -> None:
    """A cell of the GPU opens the kernels of the GPU."""
    cells = {"numpy": cell(1, False, "torch"), "torch": cell(2.5, True, "numpy")}
    page = shown([*ROWS[:1], ROWS[0] | {"device": "cuda", "cells": cells}])
    headings = page.locator(".matrix tbody th").all_inner_texts()
    assert ["matrix products", "matrix products on cuda"] == headings
    page.click("#cell-gemm-torch-cuda")
    page.wait_for_selector("#cell .dots")
    assert page.inner_text("#picked").endswith(": matrix products on cuda, float32")
    assert ["2.5\u00d7"] == page.locator(".matrix [aria-pressed=true] b").all_inner_texts()
    assert "cell=gemm+torch+cuda" in page.url


def test_a_choice_of_precision_is_one_step(shown: Any) -> None:
    """The focus stays on the menu."""
    page = shown(ROWS)
    page.focus("#at")
    page.select_option("#at", "int8")
    page.wait_for_function("() => document.querySelector('.matrix').innerText.includes('65')")
    assert "at" == page.evaluate("document.activeElement.id")
    page.go_back()
    page.wait_for_function("() => document.getElementById('at').value === 'float32'")


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_the_matrix_fits_and_does_not_shift(shown: Any, width: int) -> None:
    """The layout shift stays below 0.1, and on a phone cells name their framework."""
    page = shown(ROWS, "&cell=gemm+numpy")
    page.set_viewport_size({"width": width, "height": 900})
    page.reload()
    page.wait_for_selector(READY)
    page.wait_for_timeout(300)
    assert page.evaluate("shift") < 0.1
    assert width >= page.evaluate("document.documentElement.scrollWidth")
    assert (width == 400) == page.locator(".matrix .which >> nth=0").is_visible()


def test_open_cells_are_accessible(shown: Any) -> None:
    """In both themes, contrast of the coloured cells included."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = shown(ROWS, "&cell=gemm+numpy")
    for _ in ("light", "dark"):
        found = axe.run(page, options={"preload": False}).response["violations"]
        assert [] == [
            (fault["id"], fault["nodes"][0]["html"][:200])
            for fault in found
            if fault["impact"] in ("serious", "critical")
        ]
        page.click("#theme")


def test_a_machine_without_enough_shared_kernels_says_so(shown: Any) -> None:
    """The tables of kernels stay."""
    page = shown([])
    assert "No family on lab-1 has enough kernels" in page.inner_text("#matrix")
    assert page.locator("details[data-machine=lab-1]").is_visible()


def test_an_unknown_machine_in_the_address_is_reported(page: Any, site: str) -> None:
    """Another one is shown."""
    page.goto(f"{site}frameworks.html#where=nowhere")
    page.wait_for_selector(READY)
    assert "nowhere" in page.inner_text("#found")


def test_an_unknown_precision_or_cell_in_the_address_is_reported(shown: Any) -> None:
    """Like an unknown machine; known ones are not."""
    page = shown(ROWS, "&at=bfloat16&cell=gemm+mindspore")
    said = page.inner_text("#found")
    assert "precision \u201cbfloat16\u201d" in said and "cell \u201cgemm mindspore\u201d" in said
    assert "" == shown(ROWS, "&at=float32&cell=gemm+torch").inner_text("#found")


def test_a_damaged_data_file_is_reported(browser: Any, site: str) -> None:
    """The rest of the page works."""
    context = browser.new_context()
    page = context.new_page()
    page.route("**/data/frameworks.js", lambda route: route.abort())
    page.goto(f"{site}frameworks.html")
    page.wait_for_selector("#matrix [role=alert]")
    assert "publish the pages again" in page.inner_text("#matrix")
    page.click("details[data-machine=lab-1] summary")
    page.wait_for_selector("details[data-machine=lab-1] table")
    context.close()


def test_damaged_kernels_are_reported_once(browser: Any, site: str) -> None:
    """However often their section is opened."""
    context = browser.new_context()
    page = context.new_page()
    page.route("**/data/contests/*.js", lambda route: route.abort())
    page.goto(f"{site}frameworks.html")
    page.wait_for_selector(READY)
    section = "details[data-machine=lab-1] >> nth=0"
    for _ in range(3):
        page.click(f"{section} >> summary")
        page.wait_for_timeout(100)
    assert 1 == page.locator(f"{section} >> [role=alert]").count()
    context.close()


@pytest.mark.parametrize(
    ("place", "address", "parts"),
    [
        ("#matrix", "", ["Time over that of the fastest framework, float32", "on lab-1"]),
        ("#cell", "&cell=gemm numpy", ["numpy compared with torch: matrix products", "lab-1"]),
    ],
)
def test_a_picture_of_frameworks_is_saved(
    shown: Any, place: str, address: str, parts: list[str]
) -> None:
    """With its title, its sides, the day and the address."""
    text = picture_text(saved_picture(shown(ROWS, address), place))
    for part in [*parts, "Results published ", "frameworks.html"]:
        assert part in text, part


def test_the_table_of_a_section_has_its_order_in_the_address(page: Any, site: str) -> None:
    """With readable names and FLOP per byte; the address opens it again."""
    page.goto(f"{site}frameworks.html")
    page.wait_for_selector(READY)
    section = "details[data-machine=lab-1] >> nth=0"
    page.click(f"{section} >> summary")
    page.wait_for_selector("details[open] tbody tr")
    assert "matrix products" in page.inner_text("details[open] summary")
    assert "1760 x 128 x 1760" in page.inner_text("details[open] tbody")
    assert "FLOP per byte" in page.inner_text("details[open] thead")
    page.click("details[open] thead button:text-is('set')")
    page.wait_for_function("() => location.hash.includes('table-sort=set')")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("details[open] [aria-sort=ascending]")
