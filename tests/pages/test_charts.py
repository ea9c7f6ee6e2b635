"""Charts in a real browser: labels of axes, lines that look different, pictures to take along."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from browsing import traces
from published_site import unpacked

from deepbench_ops.pages.data_encoding import script_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

WIDTHS = (400, 1280, 2560)
SIDES = "compare.html#side=lab-1@numpy&side=lab-1@torch&family=gemm"
ONE = "timeline.html#machine=lab-1&family=gemm&framework=torch"
LABELS = """([place, letter]) => Array.from(
    document.querySelectorAll(`${place} .${letter}tick text`), label => label.textContent)"""


def opened_page(page: Any, site: str, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")


def labels(page: Any, place: str, letter: str) -> list[str]:
    """The labels of a drawn axis."""
    traces(page, place)
    page.wait_for_function("place => document.querySelector(place + ' .xy')", arg=place)
    found: list[str] = page.evaluate(LABELS, [place, letter])
    return found


@pytest.mark.parametrize(
    ("address", "place", "axes"),
    [
        (f"{ONE}&y=rate&scale=log", "#chart", "xy"),
        (f"{ONE}&y=seconds&scale=log", "#chart", "xy"),
        (f"{ONE}&y=relative&scale=linear", "#chart", "xy"),
        (SIDES, "#scatter", "xy"),
        ("models.html", "#latency-chart", "x"),
        ("models.html", "#scaling-chart", "xy"),
    ],
)
def test_every_axis_has_several_labels(
    page: Any, site: str, address: str, place: str, axes: str
) -> None:
    """Two or more, all different, on logarithmic axes and narrow ones too, at any width."""
    opened_page(page, site, address)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        for letter in axes:
            found = labels(page, place, letter)
            assert len(found) >= 2, (width, letter, found)
            assert len(found) == len(set(found))


def test_labels_of_any_range_are_few_and_round(page: Any, site: str) -> None:
    """Three to nine labels inside a logarithmic axis that spans 10 % to nine decades."""
    opened_page(page, site, ONE)
    for low, factor in itertools.product(
        (3.1e-6, 0.97, 2.2e11), (1.1, 1.3, 2, 5, 9.9, 30, 1e3, 1e9)
    ):
        found = page.evaluate("([a, b]) => deepbench.log_ticks(a, b, 9)", [low, low * factor])
        assert 3 <= len(found) <= 9, (low, factor, found)
        assert low <= min(found) and max(found) <= low * factor
        assert all(float(f"{value:.4g}") == pytest.approx(value) for value in found)


@pytest.mark.parametrize(
    ("address", "place", "letter", "units"),
    [
        (f"{ONE}&y=seconds", "#chart", "y", ("0", " ms", " \u00b5s")),
        (f"{ONE}&y=rate", "#chart", "y", ("0", "FLOP/s")),
        ("models.html", "#latency-chart", "x", (" ms",)),
        ("models.html", "#scaling-chart", "y", (" %",)),
    ],
)
def test_labels_have_units(
    page: Any, site: str, address: str, place: str, letter: str, units: tuple[str, ...]
) -> None:
    """With the prefixes of SI; ratios are in words."""
    opened_page(page, site, address)
    assert all(text.endswith(units) for text in labels(page, place, letter))


def test_a_zoomed_axis_has_new_labels(page: Any, site: str) -> None:
    """Zooming into a hundredth of an axis gives it other labels."""
    opened_page(page, site, f"{ONE}&scale=log")
    before = labels(page, "#chart", "y")
    page.evaluate(
        """() => {
            const plot = document.querySelector('#chart .plot');
            const [low, high] = plot._fullLayout.yaxis.range;
            return Plotly.relayout(plot, {'yaxis.range': [low, low + (high - low) / 100]});
        }"""
    )
    page.wait_for_function(
        f"before => String(({LABELS})(['#chart', 'y'])) !== before", arg=",".join(before)
    )
    assert len(labels(page, "#chart", "y")) >= 2


def test_no_two_lines_look_the_same(page: Any, site: str) -> None:
    """Neither by colour and dash nor by colour and symbol, up to 49 lines."""
    opened_page(page, site, ONE)
    looks = page.evaluate("Array.from({length: 49}, (_, place) => deepbench.looks(place))")
    assert 49 == len({(one["colour"], one["dash"]) for one in looks})
    assert 49 == len({(one["colour"], one["symbol"]) for one in looks})
    assert not any("open" in one["symbol"] for one in looks)  # that is for unsteady points


@pytest.mark.parametrize(
    ("address", "place", "lines"),
    [
        (SIDES, "#scatter", ["Times of both sides", "lab-1@torch", "lab-1@numpy"]),
        (SIDES, "#heat", ["Problems and releases", "numpy on lab-1"]),
        (ONE, "#chart", ["gemm, m1760_n128_k1760_NN", "lab-1, torch"]),
        ("models.html", "#latency-chart", ["Latency", "lab-1, torch-2.5.1"]),
        ("models.html", "#scaling-chart", ["Efficiency", "wide_deep"]),
    ],
)
def test_a_picture_has_a_heading(
    page: Any, site: str, html: Path, address: str, place: str, lines: list[str]
) -> None:
    """The heading holds title, compared sides and the day of the results."""
    day = json.loads(unpacked((html / "data/catalogue.js").read_text("utf-8")))["day"]
    opened_page(page, site, address)
    traces(page, place)
    with page.expect_download() as found:
        page.click(f"{place} button:text-is('Download SVG')")
    text = " ".join(Path(found.value.path()).read_text("utf-8").split())
    for part in [*lines, f"Results published {day}"]:
        assert part in text


def test_a_png_is_higher_by_its_heading(page: Any, site: str) -> None:
    """The heading does not make the chart smaller."""
    opened_page(page, site, ONE)
    traces(page, "#chart")
    with page.expect_download() as found:
        page.click("#chart button:text-is('Download PNG')")
    height = int.from_bytes(Path(found.value.path()).read_bytes()[20:24])
    assert height > 2 * page.evaluate("document.querySelector('#chart .plot').clientHeight") + 100


def test_a_precision_that_differs_from_the_published_one_is_marked(
    page: Any, site: str, html: Path
) -> None:
    """The chart has a series with hollow marks, the table the precision next to the figure."""
    data = json.loads(unpacked((html / "data/models.js").read_text("utf-8")))
    rows = data["tables"]["stcp920"]
    assert {"float16", "int8"} == {row["precision"] for row in rows}
    data["machines"] = ["lab-1"]
    for row in rows:
        alike = row["precision"] == "int8"
        row["here"] = {
            "lab-1": {
                "release": "torch-2.5.1",
                "benchmark": "model.InferenceServer.kernel_forward",
                "problem": "resnet50_b16",
                "precision": "int8" if alike else "float32",
                "unusual": {},
                "per_second": 13.9,
                "differs": [] if alike else ["float32"],
                "why_not": [],
            }
        }
    changed = script_of(json.dumps(data))
    page.route("**/data/models.js", lambda route: route.fulfill(body=changed))
    opened_page(page, site, "models.html#table=stcp920")
    drawn = {trace["name"]: trace for trace in traces(page, "#chart")}
    assert {"as published", "lab-1", "lab-1, at float32 instead"} == set(drawn)
    solid, hollow = drawn["lab-1"], drawn["lab-1, at float32 instead"]
    assert hollow["marker"]["symbol"] == solid["marker"]["symbol"] + "-open"
    for label, int8, other in zip(solid["y"], solid["x"], hollow["x"], strict=True):
        assert (int8 is not None) == label.endswith("int8") == (other is None)
    shown = page.locator("#rows tbody").inner_text()
    assert shown.count("13.9/s at float32") == sum(row["precision"] == "float16" for row in rows)
