"""Charts in a real browser: labels of axes, reading by keys, states."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from browsing import series

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

WIDTHS = (400, 1280, 2560)
SIDES = "compare.html#side=lab-1@numpy&side=lab-1@torch&family=gemm"
ONE = "timeline.html#machine=lab-1&family=gemm&framework=torch"
LABELS = """([place, letter]) => Array.from(
    document.querySelectorAll(`${place} .axes text.${letter}`), label => label.textContent)"""
POINTS = """points => {
    const place = document.querySelector('#chart');
    const series = points.length ? [{label: 'one', points: points}] : [];
    deepbench.plot(place, {name: 'x', title: 'x', sides: '', described: 'x', series: series,
        x: {type: 'linear', label: String}, y: {type: 'log', title: 'y', label: String}});
    return Array.from(place.querySelectorAll('.plot [d]'), path => path.getAttribute('d')).join('');
}"""


def opened_page(page: Any, site: str, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")


@pytest.fixture(scope="module")
def timeline(browser: Any, site: str) -> Iterator[Any]:
    """A page with a chart, for tests that only call its functions."""
    page = browser.new_page()
    opened_page(page, site, ONE)
    yield page
    page.close()


def labels(page: Any, place: str, letter: str) -> list[str]:
    """The labels of a drawn axis."""
    series(page, place)
    found: list[str] = page.evaluate(LABELS, [place, letter])
    return found


@pytest.mark.parametrize(
    ("address", "place", "axes"),
    [
        (f"{ONE}&y=rate&scale=log", "#chart", "xy"),
        (f"{ONE}&y=seconds&scale=log", "#chart", "xy"),
        (f"{ONE}&y=relative&scale=linear", "#chart", "xy"),
        (SIDES, "#scatter", "xy"),
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
        (f"{ONE}&y=relative", "#chart", "y", ("0", "\u00d7")),
        ("models.html", "#scaling-chart", "y", (" %",)),
    ],
)
def test_labels_have_units(
    page: Any, site: str, address: str, place: str, letter: str, units: tuple[str, ...]
) -> None:
    """With the prefixes of SI; ratios are in words."""
    opened_page(page, site, address)
    assert all(text.endswith(units) for text in labels(page, place, letter))


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        ("2024-01-10", "2024-02-10", 2),
        ("2023-05-01", "2024-06-01", 3),
        ("2016-09-01", "2026-02-01", 5),
        ("2012-01-01", "2026-02-01", 3),
    ],
)
def test_days_have_several_labels(timeline: Any, low: str, high: str, shown: int) -> None:
    """Of whole years or months, also where all points lie within a month."""
    script = """([low, high]) => deepbench.axis_between({type: 'date'}, [low, high], 'x', 0, 700)
        .ticks.map(tick => tick.text)"""
    found = timeline.evaluate(script, [low, high])
    assert shown <= len(found) == len(set(found)) <= 7


@pytest.mark.parametrize(
    "points",
    [
        [],
        [{"x": 1, "y": 1, "kind": "filled", "said": ["a"]}],
        [{"x": 1, "y": 5, "low": 4, "high": 6, "kind": "hollow", "said": ["a"]}],
        [{"x": n, "y": 1 + n % 7, "kind": "filled", "said": ["a"]} for n in range(2000)],
        [{"x": 1, "y": None, "kind": "filled", "said": ["a"]}],
        [{"x": 1, "y": 1e-300, "kind": "filled", "said": ["a"]}] * 2,
    ],
    ids=["none", "one", "one with an interval", "many", "without a value", "twice the same"],
)
def test_a_chart_has_no_place_without_a_number(timeline: Any, points: list[Any]) -> None:
    """Nothing is drawn at NaN or infinity, whatever the points."""
    drawn = timeline.evaluate(POINTS, points)
    assert "NaN" not in drawn and "Infinity" not in drawn


def test_a_chart_is_read_by_keys(page: Any, site: str) -> None:
    """Left and right lead along a line, up and down to another one, Escape ends."""
    opened_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    page.focus("#chart .plot")
    page.keyboard.press("ArrowRight")
    tip = page.locator("#chart .tip")
    assert "lab-1, numpy\nnumpy-2.2.6, 2025-05-17\n1.5 ms" in tip.inner_text()
    page.keyboard.press("ArrowLeft")
    assert "numpy-2.1.3" in tip.inner_text()
    page.keyboard.press("ArrowDown")
    assert "torch-2.5.1" in tip.inner_text()
    page.keyboard.press("Home")
    assert "torch-2.3.1" in tip.inner_text()
    assert "status" == tip.get_attribute("role")
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_a_point_is_read_with_the_pointer(page: Any, site: str) -> None:
    """The nearest point says its time, and its line stands out; away from points none does."""
    opened_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    point = page.locator("#chart .series [data-x='2024-02-05']").bounding_box()
    page.mouse.move(point["x"] + 6, point["y"] + 6)
    assert "numpy-1.26.4" in page.inner_text("#chart .tip")
    assert ["numpy"] == page.locator("#chart .here:not(.end)").evaluate_all(
        "lines => lines.map(line => line.dataset.label)"
    )
    page.mouse.move(2, 2)
    assert page.locator("#chart .tip").is_hidden()
