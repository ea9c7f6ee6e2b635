"""The page of all problems, in a real browser."""

import json
from pathlib import Path
from typing import Any

import pytest
from browsing import column
from published_site import unpacked

from deepbench_ops.pages.data_encoding import script_of
from deepbench_ops.problems import find, load

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

KERNEL = "m1760_n128_k1760_NN"


def opened(page: Any, site: str, fragment: str = "") -> None:
    page.goto(f"{site}operations.html#{fragment}")
    page.wait_for_selector("body[data-ready]")


def test_a_problem_has_its_work_and_traffic(page: Any, site: str) -> None:
    """FLOPs, bytes and FLOP per byte are those of the problem; its name leads to its timeline."""
    opened(page, site, "family=gemm&precision=float32")
    page.fill("#problems input", KERNEL)
    (row,) = page.locator("#problems tbody tr").all()
    cells = row.locator("td").all_inner_texts()
    problem = find("gemm", KERNEL)
    assert "793 MFLOP" == cells[0]
    assert "15.1 MB" == cells[1]
    assert f"{problem.intensity('float32'):.3g}" == cells[2]
    page.click("#problems tbody th a:text-is('1760 x 128 x 1760')")
    page.wait_for_url(f"**timeline.html#**problem={KERNEL}**")


def test_a_machine_says_what_bounds_a_problem(page: Any, site: str) -> None:
    """Its ridge point is marked; a problem with fewer FLOP per byte is bound by memory."""
    opened(page, site, "family=gemm&precision=float32&machine=lab-1")
    said = page.text_content("#intensities .chosen text")
    name, figure = said.split(", ")
    assert "lab-1" == name
    ridge = float(figure.removesuffix(" FLOP per byte"))
    intensities = [float(text) for text in column(page, "#problems", "FLOP per byte")]
    bounds = column(page, "#problems", "bound by, on lab-1")
    for intensity, bound in zip(intensities, bounds, strict=True):
        if abs(intensity - ridge) > 0.01 * ridge:
            assert ("memory" if intensity < ridge else "arithmetic") == bound


def test_the_ridge_is_of_the_device_with_most_lines(page: Any, site: str, html: Path) -> None:
    """Both figures are of it, and it is named where the profile has several devices."""
    data = json.loads(unpacked((html / "data/catalogue.js").read_text("utf-8")))
    lab = next(each for each in data["machines"] if each["name"] == "lab-1")
    assert ["cpu"] == lab["devices"]
    lab["devices"] = ["cuda", "cpu"]
    for name, value in ("float32", 6e12), ("memory", 1e12):
        lab["peaks"].append({"device": "cuda", "of": name, "value": value, "unit": "", "how": ""})
    changed = script_of(json.dumps(data))
    page.route("**/data/catalogue.js", lambda route: route.fulfill(body=changed))
    opened(page, site, "family=gemm&precision=float32&machine=lab-1")
    said = page.text_content("#intensities .chosen text")
    assert "lab-1 (cuda), 6 FLOP per byte" == said
    assert column(page, "#problems", "bound by, on lab-1 (cuda)")


def test_the_ridge_is_that_of_the_products(page: Any, site: str) -> None:
    """Linear attention computes in float32, also of 16-bit operands."""
    ridges = []
    for precision in ("float32", "bfloat16"):
        opened(page, site, f"family=linear_attention&precision={precision}&machine=lab-1")
        ridges.append(page.text_content("#intensities .chosen text"))
    assert ridges[0] == ridges[1]


def test_each_family_has_its_operations_and_problems(page: Any, site: str) -> None:
    """Choosing a family changes the choices; the address holds them."""
    opened(page, site)
    page.select_option("#family", "conv")
    assert "family=conv" in page.url
    assert f"{len(load('conv'))} rows" in page.inner_text("#problems")
    page.select_option("#operation", "backward_data")
    opened(page, site, page.url.partition("#")[2])
    assert ("conv", "backward_data") == (
        page.input_value("#family"),
        page.input_value("#operation"),
    )


def test_order_and_filter_are_in_the_address(page: Any, site: str) -> None:
    """A search for a problem that was not measured leads here."""
    opened(page, site, f"family=gemm&find={KERNEL}&sort=-FLOPs")
    assert 1 == page.locator("#problems tbody tr").count()
    assert "descending" == page.get_attribute("#problems [aria-sort]", "aria-sort")
    page.fill("#problems input", "")
    page.wait_for_function("() => !location.hash.includes('find=')")
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('#problems tbody tr').length === 1")


def test_all_families_are_one_list(page: Any, site: str) -> None:
    """Each row names its family and is measured with its command."""
    opened(page, site, "family=all&operation=forward&precision=float32")
    page.click("#problems > .table > button")
    assert {"matrix products", "convolutions"} < {*column(page, "#problems", "family")}
    page.fill("#problems input", KERNEL)
    page.click("#problems .open")
    assert f"deepbench time {KERNEL} --family gemm" in page.inner_text("#problems tr.detail")


def test_every_ridge_has_a_label(page: Any, site: str) -> None:
    """No label covers another, at any width."""
    opened(page, site)
    script = """width => {
        const names = Array.from({length: 12}, (_, at) => ({name: 'machine-' + at, at: 8 + at}));
        const found = deepbench.histogram([0.1, 5, 1000], names, width);
        document.getElementById('intensities').replaceChildren(found);
        return Array.from(found.querySelectorAll('.ridge text'), text => {
            const box = text.getBBox();
            return [box.x, box.y, box.x + box.width, box.y + box.height];
        });
    }"""
    for width in (360, 720):
        boxes = page.evaluate(script, width)
        assert 12 == len(boxes)
        for at, one in enumerate(boxes):
            assert 0 <= one[0] and one[2] <= width
            for other in boxes[:at]:
                apart = one[2] <= other[0] or other[2] <= one[0]
                assert apart or abs(one[1] - other[1]) > 10


def test_the_list_is_saved_as_json(page: Any, site: str) -> None:
    """Every row with its source."""
    opened(page, site, "family=rnn")
    with page.expect_download() as found:
        page.click("button:text-is('Download JSON')")
    saved = json.loads(Path(found.value.path()).read_text("utf-8"))
    assert len(load("rnn")) == len(saved)
    assert all(row["flops"] > 0 and row["bytes"] > 0 and row["source"] for row in saved)
