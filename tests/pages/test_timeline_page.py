"""The timeline in a real browser: chips, looks of lines and points, the address."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from browsing import column, open_chip, rows, series
from published_site import unpacked

from deepbench_ops.pages.data_encoding import script_of
from deepbench_ops.pages.data_files import machine_key

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

KERNEL = "m1760_n128_k1760_NN"
ONE = "timeline.html#machine=lab-1&family=gemm"


def opened(page: Any, site: str, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")


def with_lines(page: Any, html: Path, change: Any) -> None:
    """Serve the gemm lines of lab-1 as `change` leaves them."""
    file = html / "data" / "lines" / machine_key("lab-1") / "gemm.js"
    data = json.loads(unpacked(file.read_text("utf-8")))
    change(data)
    page.route("**/data/lines/**", lambda route: route.fulfill(body=script_of(json.dumps(data))))


def with_machines(page: Any, html: Path, count: int) -> str:
    """Serve a catalogue with copies of lab-1. Returns the address that ticks all of them."""
    data = json.loads(unpacked((html / "data/catalogue.js").read_text("utf-8")))
    one = next(machine for machine in data["machines"] if machine["name"] == "lab-1")
    names = [f"copy-{number}" for number in range(count)]
    data["machines"] = [copy.deepcopy(one) | {"name": name} for name in names]
    changed = script_of(json.dumps(data))
    page.route("**/data/catalogue.js", lambda route: route.fulfill(body=changed))
    return "timeline.html#family=gemm&framework=numpy" + "".join(f"&machine={n}" for n in names)


@pytest.mark.parametrize("width", [1280, 2560])
def test_the_chart_is_in_the_first_screen(page: Any, site: str, width: int) -> None:
    """Below one line of chips, and at least half of the screen high."""
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, site, ONE)
    chips = [each.bounding_box() for each in page.locator(".chip-line > *:visible").all()]
    assert len({round(chip["y"] + chip["height"] / 2, -1) for chip in chips}) == 1
    chart = page.locator("#chart .plot").bounding_box()
    assert chart["y"] < 220 and chart["height"] > 450 and chart["y"] + chart["height"] < 900


def test_on_a_phone_the_chart_is_in_the_first_screen(page: Any, site: str) -> None:
    """Its upper edge is in the upper two thirds, and each row of the table is a card."""
    page.set_viewport_size({"width": 400, "height": 800})
    opened(page, site, ONE)
    assert page.locator("#chart .plot").bounding_box()["y"] < 540
    card = page.locator("#table tbody tr >> nth=1")
    factor = card.locator(".factor").bounding_box()
    assert all(
        factor["y"] <= cell.bounding_box()["y"] for cell in card.locator("td:visible, th").all()
    )


def test_lines_end_in_their_labels(page: Any, site: str) -> None:
    """Only differences are in a label; labels of one chart do not cover each other."""
    opened(page, site, ONE)
    labels = page.locator("#chart .end text")
    assert ["numpy", "torch"] == labels.all_text_contents()
    upper, lower = sorted(label.bounding_box()["y"] for label in labels.all())
    assert lower - upper >= 12


def test_hue_is_for_the_machine_and_dash_for_the_framework(
    page: Any, site: str, html: Path
) -> None:
    """On one machine the hue tells the frameworks apart as well."""
    opened(page, site, ONE)
    one = series(page, "#chart")
    assert 2 == len({line["look"] for line in one}) == len({line["dash"] for line in one})
    both = with_machines(page, html, 2).replace("&framework=numpy", "")
    opened(page, site, both)
    by_label = {line["label"]: (line["look"], line["dash"]) for line in series(page, "#chart")}
    hues = {label: look for label, (look, _) in by_label.items()}
    dashes = {label: dash for label, (_, dash) in by_label.items()}
    assert hues["copy-0, numpy"] == hues["copy-0, torch"] != hues["copy-1, numpy"]
    assert dashes["copy-0, numpy"] == dashes["copy-1, numpy"] != dashes["copy-0, torch"]


def test_a_framework_has_the_same_colour_with_and_without_others(page: Any, site: str) -> None:
    """On one machine, where the hue tells frameworks apart."""
    opened(page, site, ONE)
    hues = {line["label"]: line["look"] for line in series(page, "#chart")}
    opened(page, site, f"{ONE}&framework=torch")
    (alone,) = series(page, "#chart")
    assert hues["torch"] == alone["look"] != hues["numpy"]


@pytest.mark.parametrize("count", [7, 8, 12])
def test_no_colour_repeats(page: Any, site: str, html: Path, count: int) -> None:
    """From the eighth line on lines are grey, and a sentence says so."""
    opened(page, site, with_machines(page, html, count))
    hues = [line["look"].replace("series", "").strip() for line in series(page, "#chart")]
    assert [f"c{at}" for at in range(7)] == hues[:7]
    assert [""] * (count - 7) == hues[7:]
    said = page.inner_text("#chart .alike")
    assert (count > 7) == ("Only 7 colours and dashes look different" in said)
    if count == 8:
        assert "1 further line is grey" in said


def test_points_say_how_they_were_measured(page: Any, site: str, html: Path) -> None:
    """Shared rounds are filled, times of their own hollow, unsteady ones crossed; the key has those
    that occur."""

    def change(data: Any) -> None:
        for line in data["lines"]:
            count = len(line["seconds"])
            line["ensemble"] = [None] * (count - 1) + [["numpy-2.2.6", 12]]
            line["unsteady"] = ["yardstick off"] + [""] * (count - 1)

    with_lines(page, html, change)
    opened(page, site, f"{ONE}&framework=numpy")
    (line,) = series(page, "#chart")
    assert "path crossed" == line["shapes"][0]
    assert {"circle hollow"} == set(line["shapes"][1:-1])
    assert "circle" == line["shapes"][-1]
    key = page.inner_text("#key")
    for text in ("together with other releases", "on its own", "unsteady", "change, slower"):
        assert text in key
    assert "published" not in key


def test_an_unsteady_time_is_no_base(page: Any, site: str, html: Path) -> None:
    """Neither of the relative times nor of the ratios of neighbours, which are left empty."""

    def change(data: Any) -> None:
        for line in data["lines"]:
            line["seconds"][0] *= 4
            line["unsteady"] = ["yardstick off"] + [""] * (len(line["seconds"]) - 1)

    with_lines(page, html, change)
    opened(page, site, f"{ONE}&framework=numpy&y=relative")
    assert ["", ""] == column(page, "#table", "vs previous release")[:2]
    line = {"seconds": [4, 1, 2], "unsteady": ["yardstick off", "", ""]}
    assert 2 == page.evaluate("line => deepbench.timeline.UP.relative.of(line, 2)", line)


def test_another_implementation_is_a_tick(page: Any, site: str, html: Path) -> None:
    """Where the notes of two releases name different library code; the point says which."""

    def change(data: Any) -> None:
        data["notes"] = [{"implementation": "openblas Haswell"}, {"implementation": "openblas Zen"}]
        for line in data["lines"]:
            line["notes"] = [0] * (len(line["seconds"]) - 1) + [1]

    with_lines(page, html, change)
    opened(page, site, f"{ONE}&framework=numpy")
    assert 1 == page.locator("#chart .series path.crossed").count()
    page.focus("#chart .plot")
    page.keyboard.press("ArrowRight")
    said = page.inner_text("#chart .tip")
    assert "implementation: openblas Zen (before: openblas Haswell)" in said
    assert "another implementation ran" in page.inner_text("#key")


def test_texts_of_changes_do_not_cover_each_other(page: Any, site: str, html: Path) -> None:
    """Of many changes at one release the largest ones have their factor."""

    def change(data: Any) -> None:
        line = next(line for line in data["lines"] if line["framework"] == "numpy")
        data["lines"] = [
            copy.deepcopy(line) | {"cache": f"cold-{number}", "changes": [[*each]]}
            for number in range(9)
            for each in [[line["changes"][0][0], 1.5 + number / 10, 1.4, 2.6]]
        ]

    with_lines(page, html, change)
    opened(page, site, ONE)
    assert 9 == page.locator("#chart .mark").count()
    texts = page.locator("#chart .mark text")
    assert "2.3\u00d7 slower" == texts.first.text_content()
    boxes = [text.bounding_box() for text in texts.all()]
    assert len(boxes) < 9
    for at, one in enumerate(boxes):
        for other in boxes[:at]:
            assert abs(one["y"] - other["y"]) > 8 or one["x"] > other["x"] + other["width"]


def test_the_address_holds_order_filter_and_years(page: Any, site: str) -> None:
    """A reader of the address sees the same rows and the same points."""
    opened(page, site, f"{ONE}&framework=numpy")
    page.click("#table thead button:text-is('time')")
    page.fill("#table input[type=search]", "2.")
    open_chip(page, "#since")
    page.select_option("#since", "2024")
    shown, address = rows(page, "#table"), page.url
    opened(page, site, address.removeprefix(site))
    assert shown == rows(page, "#table")
    assert {"2024", "2025"} == {day[:4] for day in column(page, "#table", "released")}
    assert "2024" == page.input_value("#since")
    (line,) = series(page, "#chart")
    assert min(line["x"]) >= "2024"
    assert "sort=-time" in address and "since=2024" in address and "find=2." in address


def test_a_chip_says_what_is_ticked(page: Any, site: str) -> None:
    """A name, or how many; Escape closes it and returns to it."""
    opened(page, site, ONE)
    summaries = page.locator(".chip > summary")
    assert ["lab-1", "all 2 frameworks", "View"] == summaries.all_inner_texts()
    summaries.nth(1).click()
    page.uncheck("#frameworks input[value=torch]")
    assert "numpy" == summaries.nth(1).inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".chip[open]").count() == 0
    assert "numpy" == page.evaluate("document.activeElement.textContent")


def test_a_missing_file_is_reported_and_the_choices_stay(page: Any, site: str, html: Path) -> None:
    """The sentence names it; another machine can be chosen."""
    opened(page, site, ONE)
    page.evaluate(
        """() => {
            const load = deepbench.load;
            deepbench.load = url => url.startsWith('data/lines')
                ? Promise.reject(new Error('the data file ' + url + '.js is missing')) : load(url);
        }"""
    )
    open_chip(page, "#machines")
    page.check("#machines input:not(:checked)")
    page.wait_for_selector("#summary:has-text('is missing')")
    assert page.locator("#chart").is_hidden()
    assert page.locator("#family").is_enabled()
