"""The page of a machine in a real browser: roofline, families, a second machine, kernels."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import published_site
import pytest
from browsing import column
from published_site import BANDWIDTH, HOSTILE, PEAK, unpacked

from deepbench_ops.pages.data_encoding import script_of
from deepbench_ops.pages.data_files import machine_key
from deepbench_ops.problems import find
from deepbench_ops.problems.problem_lists import TYPES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

KERNEL, SECOND = "m1760_n128_k1760_NN", "m7680_n64_k2560_NN"
NUMPY = "machine=lab-1&framework=numpy&precision=float32"
LARGEST = 300_000
"""Bytes of all files that the first screen reads."""
SHIFTS = """window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach(entry => {
    if (!entry.hadRecentInput) { window.shift += entry.value; }
})).observe({type: 'layout-shift', buffered: true});"""


def opened(page: Any, site: str, fragment: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{site}machine.html#{fragment}")
    page.wait_for_selector("body[data-ready]")


@pytest.fixture
def changed(page: Any, html: Path) -> Callable[..., None]:
    """Lets the page read a data file as a function has changed it."""

    def change(file: str, edit: Callable[[Any], None]) -> None:
        data = json.loads(unpacked((html / file).read_text("utf-8")))
        edit(data)
        body = script_of(json.dumps(data))
        page.route(f"**/{file}", lambda route: route.fulfill(body=body))

    return change


def of_lab(catalogue: Any) -> Any:
    return next(each for each in catalogue["machines"] if each["name"] == "lab-1")


# The first screen


def test_the_answers_are_in_the_first_screen(page: Any, site: str) -> None:
    """Title with peak and bandwidth, roofline, share of the roof and the past, at 1280 x 900."""
    page.set_viewport_size({"width": 1280, "height": 900})
    opened(page, site, NUMPY)
    title = page.inner_text("h1")
    assert title.startswith("lab-1") and "10 TFLOP/s at float32, 1 TB/s" in title
    for place in ("#roofline svg", "#families table"):
        box = page.locator(place).bounding_box()
        assert box["y"] + box["height"] <= 900, place


def test_colours_and_symbols_go_by_the_families_of_the_catalogue(
    page: Any, site: str, changed: Any
) -> None:
    """Not by those that are shown: the eighth family has the first colour and another symbol."""
    symbols = []
    for place in (0, 7):
        changed("data/catalogue.js", partial(move_gemm, place))
        opened(page, site, NUMPY)
        symbols += page.locator(".symbol path").evaluate_all(SYMBOL)
        page.unroute("**/data/catalogue.js")
    assert symbols[0][0] == symbols[1][0] and symbols[0][1] != symbols[1][1]


SYMBOL = "all => all.map(one => [getComputedStyle(one).fill, one.getAttribute('d')])"


def move_gemm(place: int, catalogue: Any) -> None:
    catalogue["families"].remove("gemm")
    catalogue["families"].insert(place, "gemm")


def test_the_page_is_light_and_stays_in_place(browser: Any, site: str, html: Path) -> None:
    """The first screen reads at most 300 kB from the disk, and no element moves."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(SHIFTS)
    names = set()
    page.on("request", lambda request: names.add(request.url.removeprefix(site).split("#")[0]))
    opened(page, site)
    page.wait_for_timeout(300)
    shift = page.evaluate("window.shift")
    context.close()
    files = [html / name for name in names if (html / name).is_file()]
    assert LARGEST >= sum(file.stat().st_size for file in files)
    assert 0.05 > shift


def test_every_kernel_is_a_point_under_its_roof(page: Any, site: str) -> None:
    """The pointer finds a point and its figures; a click opens its timeline."""
    opened(page, site, NUMPY)
    assert 2 == page.locator("#roofline .kernel").count()
    assert ["10 TFLOP/s", "1 TB/s"] == page.locator("#roofline .figure").all_text_contents()
    page.locator("#roofline .kernel").first.hover(force=True)
    note = page.inner_text("#roofline .note")
    assert note.startswith("matrix products ")
    assert "of the roof" in note and "FLOP per byte" in note and "numpy-2.2.6" in note
    page.locator("#roofline .kernel").first.click(force=True)
    page.wait_for_url("**/timeline.html#**")


def test_points_are_read_with_the_arrow_keys(page: Any, site: str) -> None:
    """From one kernel of a family to the next; Escape ends, Enter opens the timeline."""
    opened(page, site, NUMPY)
    page.focus("#roofline")
    said = []
    for key in ("ArrowRight", "Home", "ArrowRight"):
        page.keyboard.press(key)
        said.append(page.inner_text("#roofline .note"))
    assert said[0] == said[2] != said[1]
    assert all("FLOP per byte" in text for text in said)
    assert 1 == page.locator("#roofline .cursor").count()
    page.keyboard.press("Escape")
    assert page.locator("#roofline .note").is_hidden()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_url("**/timeline.html#**")


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_both_axes_have_several_labels(page: Any, site: str, width: int) -> None:
    """Round ones with SI units, two or more at any width."""
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, site, NUMPY)
    for letter in "xy":
        found = page.locator(f"#roofline text.{letter}").all_text_contents()
        assert len(found) >= 2
        assert len(found) == len(set(found))
    assert all(text.endswith("FLOP/s") for text in found)


def test_the_picture_follows_the_width(page: Any, site: str) -> None:
    """It is drawn again, so that its texts keep their size."""
    opened(page, site, NUMPY)
    for width in (700, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            "() => document.querySelector('#roofline svg').clientWidth === "
            "document.getElementById('roofline').clientWidth"
        )
        assert page.evaluate("() => document.querySelector('#roofline svg').clientWidth") <= width


def test_a_family_has_its_share_of_the_roof(page: Any, site: str) -> None:
    """The median over its kernels; a press shows its kernels only, and is in the address."""
    opened(page, site, NUMPY)
    shares = []
    for id, seconds in (KERNEL, 1.5e-3), (SECOND, 3.0e-3):
        problem = find("gemm", id)
        roof = min(PEAK, BANDWIDTH * problem.intensity("float32"))
        shares.append(problem.flops / seconds / roof)
    shown = page.inner_text("#families td.number strong")
    assert float(shown.removesuffix(" %")) == pytest.approx(100 * sum(shares) / 2, rel=0.01)
    page.click("#family-gemm")
    assert "family=gemm" in page.url
    assert "Kernels: matrix products" == page.inner_text("#kernels-title")
    assert "family-gemm" == page.evaluate("document.activeElement.id")
    page.go_back()
    page.wait_for_selector("#kernels-title:text-is('Kernels')")


def test_an_unsteady_time_has_no_part_in_a_familys_share(
    page: Any, site: str, changed: Any
) -> None:
    """The newest steady time of a kernel counts, and a kernel without one does not."""

    def edit(data: Any) -> None:
        first, second = data["families"]["gemm"]["lines"]
        one, place = first["seconds"][0], first["at"][0]
        first.update(seconds=[one, 50 * one], at=[place - 1, place], unsteady=["", "two modes"])
        second.update(unsteady=["two modes"])

    changed(f"data/kernels/{machine_key('lab-1')}/numpy.js", edit)
    opened(page, site, NUMPY)
    problem = find("gemm", KERNEL)
    share = problem.flops / 1.5e-3 / min(PEAK, BANDWIDTH * problem.intensity("float32"))
    shown = page.inner_text("#families td.number strong")
    assert float(shown.removesuffix(" %")) == pytest.approx(100 * share, rel=0.01)
    assert "1 of 2 kernels" == page.inner_text("#families th small")


def test_the_machines_past_is_next_to_it(page: Any, site: str, changed: Any) -> None:
    """Each framework's speed over the releases, with a link to its chart."""
    speed = {"machine": "lab-1", "framework": "numpy", "family": "gemm", "precision": "float32"}
    speed |= {"at": [0, 1, 2], "values": [1, 1.2, 0.5], "kernels": [3, 3, 3], "unusual": {}}
    file = f"data/kernels/{machine_key('lab-1')}/numpy.js"
    changed(file, lambda data: data.update(speeds=[speed]))
    opened(page, site, NUMPY)
    link = page.locator("#past a")
    assert "0.5\u00d7 matrix products" in link.get_attribute("aria-label")
    assert "index.html#machine=lab-1&framework=numpy" in link.get_attribute("href")


def test_without_a_past_the_page_says_so(page: Any, site: str, changed: Any) -> None:
    """Instead of an empty place."""
    file = f"data/kernels/{machine_key('lab-1')}/numpy.js"
    changed(file, lambda data: data.update(speeds=[]))
    opened(page, site, NUMPY)
    assert "No framework has two releases" in page.inner_text("#past")


@pytest.mark.parametrize(
    ("flops", "unsteady", "roofline", "table"),
    [
        (1, [], "2 kernels. ", "2 kernels with a time at float32."),
        (
            0,
            ["two modes"],
            "1 of 2 kernels (the others have no FLOP per byte). ",
            "2 kernels with a time at float32. 1 newest time is unsteady; shares of the roof "
            "by family count the newest steady times.",
        ),
    ],
)
def test_the_page_says_which_kernels_it_counts(
    page: Any, site: str, changed: Any, flops: int, unsteady: list[str], roofline: str, table: str
) -> None:
    """The roofline has those with FLOP per byte, the table all, the shares of families the
    steady ones."""

    def edit(data: Any) -> None:
        line = data["families"]["gemm"]["lines"][0]
        line["flops"] *= flops
        line["unsteady"] = unsteady

    changed(f"data/kernels/{machine_key('lab-1')}/numpy.js", edit)
    opened(page, site, NUMPY)
    assert page.inner_text("#roofline-summary").startswith(roofline)
    assert table == page.inner_text("#which")


def test_launch_bound_kernels_are_counted_and_marked(page: Any, site: str, changed: Any) -> None:
    """Their time is that of the host, so a small share of the roof says nothing of the GPU."""
    file = f"data/kernels/{machine_key('lab-1')}/numpy.js"

    def bound(data: Any) -> None:
        data["families"]["gemm"]["lines"][0]["launch_bound"] = True

    changed(file, bound)
    opened(page, site, NUMPY)
    text = page.inner_text("#roofline-summary")
    assert "1 kernel is launch-bound: the host needs longer to start its calls" in text
    assert 1 == page.locator("#kernels tbody tr:has-text(', launch-bound')").count()


# A second machine


def test_a_second_machine_is_drawn_on_top(page: Any, site: str) -> None:
    """Hollow, with the framework that it has at this precision; the address keeps it."""
    opened(page, site, NUMPY)
    page.select_option("#with", published_site.HOSTILE)
    page.wait_for_selector("#roofline .kernel.other")
    assert "with=" in page.url
    assert 2 == page.locator("#roofline .kernel.other").count()
    assert "Hollow: " in page.inner_text("#roofline-summary")
    link = page.get_attribute("#roofline-summary a", "href")
    assert link.startswith("compare.html#side=lab-1%40numpy&side=")
    opened(page, site, page.url.partition("#")[2])
    assert HOSTILE == page.input_value("#with")
    page.select_option("#with", "")
    page.wait_for_function("() => !document.querySelector('#roofline .kernel.other')")


def test_a_second_machine_has_its_own_roof(page: Any, site: str, changed: Any) -> None:
    """A dashed line with its own peak and bandwidth, named by the machine."""

    def with_peaks(data: Any) -> None:
        other = next(each for each in data["machines"] if each["name"] == HOSTILE)
        other["peaks"] = [each | {"value": each["value"] / 2} for each in of_lab(data)["peaks"]]

    changed("data/catalogue.js", with_peaks)
    opened(page, site, NUMPY)
    page.select_option("#with", HOSTILE)
    page.wait_for_selector("#roofline .roof.other")
    figures = page.locator("#roofline .figure").all_text_contents()
    assert ["lab-1: 10 TFLOP/s", "lab-1: 1 TB/s"] == figures[:2]
    assert [f"{HOSTILE}: 5 TFLOP/s", f"{HOSTILE}: 500 GB/s"] == figures[2:]


def test_many_families_leave_the_past_in_the_first_screen(
    page: Any, site: str, changed: Any
) -> None:
    """Their list scrolls in itself."""

    def repeated(data: Any) -> None:
        data["families"] = dict.fromkeys(TYPES, data["families"]["gemm"])

    changed(f"data/kernels/{machine_key('lab-1')}/numpy.js", repeated)
    page.set_viewport_size({"width": 1280, "height": 900})
    opened(page, site, NUMPY)
    assert len(TYPES) == page.locator("#families tbody tr").count()
    box = page.locator("#past").bounding_box()
    assert box["y"] + box["height"] <= 900


# Missing figures


@pytest.mark.parametrize(
    ("edit", "shown"),
    [
        (
            lambda m: m.update(peaks=[p for p in m["peaks"] if p["of"] != "memory"]),
            "has no memory bandwidth on cpu.",
        ),
        (
            lambda m: m.update(peaks=[p for p in m["peaks"] if p["of"] == "memory"]),
            "has no peak for float32 on cpu.",
        ),
        (
            lambda m: m["peaks"][0].update(value=1e6),
            "2 kernels are above the peak, at most 839000 times the peak: the peak was measured",
        ),
        (
            lambda m: m["peaks"][0].update(value=1e6, disturbed=True),
            "at most 839000 times the peak: the peak was measured next to other load.",
        ),
        (
            lambda m: m["peaks"][1].update(value=1e3),
            "2 kernels are above the line of the memory bandwidth: their operands",
        ),
    ],
)
def test_the_roofline_names_missing_figures_and_kernels_above_it(
    page: Any, site: str, changed: Any, edit: Callable[[Any], None], shown: str
) -> None:
    """A missing figure is named; kernels above the peak have other reasons than caches."""
    changed("data/catalogue.js", lambda data: edit(of_lab(data)))
    opened(page, site, NUMPY)
    assert shown in page.inner_text("#roofline-summary")


@pytest.mark.parametrize("family", ["gemm", "conv"])
def test_convolutions_are_blamed_only_where_they_are_above_the_peak(
    page: Any, site: str, changed: Any, family: str
) -> None:
    """The kernels here are matrix products, which are taken for the others."""

    def low_peak(data: Any) -> None:
        data["fewer_operations"] = [family]
        of_lab(data)["peaks"][0]["value"] = 1e6

    changed("data/catalogue.js", low_peak)
    opened(page, site, NUMPY)
    summary = page.inner_text("#roofline-summary")
    assert "2 kernels are above the peak" in summary
    assert (family == "gemm") == ("convolutions by Winograd or FFT need fewer" in summary)


def test_a_peak_that_was_measured_next_to_other_load_is_marked(
    page: Any, site: str, changed: Any
) -> None:
    """It may be too low, and all shares of it too high."""
    opened(page, site, NUMPY)
    assert "next to other load" not in page.inner_text("h1")
    changed("data/catalogue.js", lambda data: of_lab(data)["peaks"][0].update(disturbed=True))
    opened(page, site, NUMPY)
    assert "measured next to other load" in page.inner_text("h1")


def test_a_machine_without_a_profile_says_so(page: Any, site: str) -> None:
    """Its kernels are shown nevertheless, and its name as text."""
    opened(page, site)
    page.select_option("#machine", HOSTILE)
    page.wait_for_selector("#roofline-summary:has-text('no roof')")
    assert "peaks not known" in page.inner_text("h1")
    assert any(KERNEL in text for text in column(page, "#kernels", "problem"))
    page.click("#profile summary")
    facts = page.inner_text("#profile dl")
    assert "none, so there is no roofline" in facts and "onerror" in facts


def test_a_machine_without_results_says_so(page: Any, site: str, changed: Any) -> None:
    """Its profile is shown, and there is no empty table."""

    def bare(data: Any) -> None:
        data["machines"].append(
            of_lab(data) | {"name": "bare", "families": {}, "frameworks": [], "releases": []}
        )

    changed("data/catalogue.js", bare)
    opened(page, site, "machine=bare")
    assert "No kernel was measured here." in page.inner_text("#roofline-summary")
    assert 0 == page.locator("#kernels table").count()
    assert page.inner_text("h1").startswith("bare")


def test_kernels_that_only_move_data_have_their_bytes_per_second(
    page: Any, site: str, changed: Any
) -> None:
    """No roofline, and their rate in place of a share."""

    def without_flops(data: Any) -> None:
        for line in data["families"]["gemm"]["lines"]:
            line.pop("roof", None)
            line["flops"] = 0

    changed(f"data/kernels/{machine_key('lab-1')}/numpy.js", without_flops)
    opened(page, site, NUMPY)
    assert "these kernels only move data" in page.inner_text("#roofline-summary")
    assert page.locator("#roofline").is_hidden()
    assert page.inner_text("#families td.number strong").endswith("B/s")


@pytest.mark.parametrize("body", ["", "deepbench.receive(", 'deepbench.receive("H4sI");'])
def test_a_torn_data_file_is_named(browser: Any, site: str, body: str) -> None:
    """Whether it says nothing, is no script, or holds half of its data."""
    context = browser.new_context()
    page = context.new_page()
    page.route("**/data/kernels/**", lambda route: route.fulfill(body=body))
    page.goto(f"{site}machine.html#{NUMPY}")
    page.wait_for_selector("#content:has-text('is damaged')")
    assert "is damaged: publish the pages again" in page.inner_text("#content")
    context.close()


def test_a_precision_without_a_framework_chooses_one_that_has_it(page: Any, site: str) -> None:
    """Links of the start page name the precision alone."""
    opened(page, site, "machine=lab-1&precision=float32")
    assert "float32" == page.input_value("#precision")
    assert 0 == page.locator(".missing").count()


# Kernels


def test_a_kernel_has_its_time_rate_intensity_and_share(page: Any, site: str) -> None:
    """The figures of a kernel follow from its seconds; its readable name is above its id."""
    opened(page, site, NUMPY)
    names = column(page, "#kernels", "problem")
    place = next(place for place, text in enumerate(names) if KERNEL in text)
    problem = find("gemm", KERNEL)
    assert ["1760 x 128 x 1760", KERNEL] == names[place].split("\n")
    assert "1.5 ms" == column(page, "#kernels", "time")[place]
    rate = f"{problem.flops / 1.5e-3 / 1e9:.3g} GFLOP/s"
    assert rate == column(page, "#kernels", "rate")[place]
    intensity = f"{problem.intensity('float32'):.3g}"
    assert intensity == column(page, "#kernels", "FLOP per byte")[place]
    assert "numpy-2.2.6" == column(page, "#kernels", "release")[place]


def test_a_number_has_the_command_that_measures_it(page: Any, site: str) -> None:
    """The command selects only this kernel of this release."""
    opened(page, site, NUMPY)
    page.click(f"#kernels tbody tr:has-text('{KERNEL}') button.open")
    page.wait_for_selector("#kernels tr.detail code")
    shown = page.inner_text("#kernels tr.detail code")
    assert 'asv run "numpy-2.2.6^!" --bench "' in shown
    pattern = re.search(r'--bench "(.*)"$', shown)
    assert pattern is not None
    assert re.search(pattern[1], f"{published_site.BENCHMARK}('{KERNEL}', 'float32')")
    assert not re.search(pattern[1], f"{published_site.BENCHMARK}('{KERNEL}', 'int8')")


def test_order_and_filter_are_in_the_address(page: Any, site: str) -> None:
    """They come back with it."""
    opened(page, site, f"{NUMPY}&sort=-time&find=7680")
    assert 1 == page.locator("#kernels tbody tr").count()
    assert "7680" == page.input_value("#kernels input[type=search]")
    assert "descending" == page.get_attribute("#kernels [aria-sort]", "aria-sort")


def test_kernels_are_cards_on_a_phone(page: Any, site: str) -> None:
    """The share of the roof comes first; nothing scrolls sideways."""
    page.set_viewport_size({"width": 400, "height": 800})
    opened(page, site, NUMPY)
    row = page.locator("#kernels tbody tr").first
    factor, name = row.locator(".factor").bounding_box(), row.locator("th").bounding_box()
    assert factor["y"] < name["y"]
    assert 400 >= page.evaluate("document.documentElement.scrollWidth")


# Profile


def test_profile_and_software_are_folded(page: Any, site: str) -> None:
    """Peaks with their source; facts of the newest release as text, and the new ones of each."""
    opened(page, site, NUMPY)
    assert page.locator("#profile dl").is_hidden()
    page.click("#profile summary")
    assert "10 TFLOP/s" in column(page, "#profile", "peak")
    page.click("#software summary")
    page.wait_for_selector("#software table")
    assert HOSTILE in page.inner_text("#software dl")
    assert page.evaluate("window.pwned") is None
    releases = column(page, "#software", "release")
    new = dict(zip(releases, column(page, "#software", "new with it"), strict=True))
    assert "blas new BLAS (before: old BLAS)" == new["numpy-2.0.2"]
    assert "" == new["numpy-2.1.3"] == new["numpy-1.24.4"]
