"""The pictures of a comparison, its table and its address, in a real browser."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from browsing import column, heat_of_releases, rows
from published_site import HOSTILE, unpacked

from deepbench_ops.pages.data_encoding import script_of
from deepbench_ops.pages.data_files import machine_key
from deepbench_ops.problems import find

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

READY = "body[data-ready]"
TWO = "compare.html#side=lab-1@numpy&side=lab-1@torch"
THREE = f"{TWO}&side=lab-1@numpy-1.26.4"
SHIFTS = """window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach(
    entry => { window.shift += entry.value; })).observe({type: 'layout-shift', buffered: true});"""


def opened(page: Any, site: str, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{site}{address}")
    page.wait_for_selector(READY)


@pytest.mark.parametrize(
    ("sides", "heading"),
    [
        ("lab-1@numpy-1.26.4,lab-1@numpy-2.0.2", "lab-1, numpy: 2.0.2 compared with 1.26.4"),
        ("lab-1@numpy-1.26.4,lab-1@torch-2.5.1", "lab-1: torch-2.5.1 compared with numpy-1.26.4"),
        ("lab-1@numpy,{HOSTILE}@numpy", "numpy: {HOSTILE} compared with lab-1"),
        ("lab-1@torch,{HOSTILE}@numpy", "{HOSTILE} (numpy) compared with lab-1 (torch)"),
    ],
)
def test_the_heading_says_once_what_the_sides_share(
    page: Any, site: str, sides: str, heading: str
) -> None:
    """A machine, a framework, or both; names of machines are never cut."""
    asked = "&".join(f"side={quote(each)}" for each in sides.format(HOSTILE=HOSTILE).split(","))
    opened(page, site, f"compare.html#{asked}")
    assert heading.format(HOSTILE=HOSTILE) == page.inner_text("#who")


def test_a_family_has_its_mean_interval_and_range(page: Any, site: str) -> None:
    """torch is 1.5 / 0.31 times faster; the shared part of the names is in the heading."""
    opened(page, site, TWO)
    assert "lab-1: torch compared with numpy" == page.inner_text("#who")
    (row,) = page.locator("#forest tbody tr").all()
    text = " ".join(row.inner_text().split())
    assert "4.8\u00d7 faster" in text and "2 shared kernels" in text and "float32" in text
    assert (1, 1) == (row.locator(".whisker").count(), row.locator(".range").count())


def test_the_curve_counts_faster_and_slower_kernels(page: Any, site: str) -> None:
    """Also as text for screen readers."""
    opened(page, site, TWO)
    said = page.get_attribute("#curve svg", "aria-label")
    assert "Of 2 kernels torch is faster at 2 and slower at 0 than numpy" == said
    opened(page, site, "compare.html#side=lab-1@torch&side=lab-1@torch")
    assert "faster at 0 and slower at 0" in page.get_attribute("#curve svg", "aria-label")
    (row,) = page.locator("#forest tbody tr").all()
    assert "no difference" in row.inner_text()
    assert 0 < row.locator(".mark").bounding_box()["width"]


def test_several_sides_are_a_heat_table(page: Any, site: str) -> None:
    """A row for each; a cell leads to the kernels of that side, and keeps the focus."""
    opened(page, site, TWO)
    assert page.locator("#sides-heat").is_hidden()
    opened(page, site, THREE)
    assert ["torch", "numpy-1.26.4"] == page.locator("#sides-heat tbody th").all_inner_texts()
    texts = page.locator("#sides-heat b").all_inner_texts()
    assert ["4.8\u00d7 faster", "1.5\u00d7 faster"] == texts
    page.focus("#sides-heat .cell >> nth=1")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('other').value === '2'")
    assert "other=2" in page.url
    page.wait_for_selector(READY)
    assert page.evaluate("document.activeElement.matches('#sides-heat tr:nth-child(2) .cell')")


def serve(page: Any, file: str, body: str) -> None:
    """Let the page read something else in the place of a data file."""
    page.route(f"**/{file}", lambda route: route.fulfill(body=body))


@pytest.fixture
def with_jax(page: Any, html: Path) -> None:
    """lab-1 has most kernels with jax, and no other framework has any of these."""
    machine = f"data/newest/{machine_key('lab-1')}.js"
    newest = json.loads(unpacked((html / machine).read_text("utf-8")))
    place = len(newest["kernels"]["problem"])
    for name, values in newest["kernels"].items():
        values += [f"m{size}" if name == "problem" else values[0] for size in range(9)]
    newest["times"]["jax"] = {"cpu": [[place + at, 0, 1e-3, None, 0] for at in range(9)]}
    catalogue = json.loads(unpacked((html / "data/catalogue.js").read_text("utf-8")))
    catalogue["here"] = "lab-1"
    for each in catalogue["machines"]:
        if each["name"] == "lab-1":
            each["frameworks"].insert(0, "jax")
    for file, data in ((machine, newest), ("data/catalogue.js", catalogue)):
        serve(page, file, script_of(json.dumps(data)))


def test_the_sides_shown_at_first_share_kernels(page: Any, site: str, with_jax: None) -> None:
    """The two frameworks of a machine that share most; jax shares none."""
    opened(page, site, "compare.html")
    assert "side=lab-1%40numpy&side=lab-1%40torch" in page.url
    assert 2 == len(rows(page, "#kernels"))


def test_a_single_side_gets_one_that_shares_kernels(page: Any, site: str) -> None:
    """So does a further one that the user adds."""
    opened(page, site, "compare.html#side=lab-1@torch")
    assert "side=lab-1%40torch&side=lab-1%40numpy" in page.url
    page.click("#add")
    page.wait_for_function("() => document.querySelectorAll('#sides .side').length === 3")
    assert "" == page.inner_text("#apart")


def test_releases_within_the_noise_are_grey(page: Any, site: str) -> None:
    """1 % more is no more than noise, one half more is; screen readers hear it."""
    opened(page, site, TWO)
    heat_of_releases(page)
    names = page.locator("#heat thead th").all_inner_texts()
    looks = [
        (cell.get_attribute("class") or "").split()[0]
        for cell in page.locator("#heat tbody tr >> nth=0").locator("td").all()
    ]
    shown = dict(zip(names, looks, strict=True))
    assert ("same", "same", "slow") == (shown["1.24.4"], shown["1.25.2"], shown["2.0.2"])
    assert 1 <= page.locator("#heat td:has-text('within the noise')").count()


def test_an_unsteady_time_is_in_parentheses_and_no_base(page: Any, site: str, html: Path) -> None:
    """The first steady time is the base, and the reason is in the title of the cell."""
    file = f"data/lines/{machine_key('lab-1')}/gemm.js"
    data = json.loads(unpacked((html / file).read_text("utf-8")))
    for line in data["lines"]:
        line["seconds"][0] *= 4
        line["unsteady"] = ["two modes", *[""] * (len(line["seconds"]) - 1)]
    serve(page, file, script_of(json.dumps(data)))
    opened(page, site, TWO)
    heat_of_releases(page)
    first, second = page.locator("#heat tbody tr >> nth=0").locator("td").all()[:2]
    assert ("(4\u00d7)", "1\u00d7") == (first.inner_text(), second.inner_text())
    assert "unsteady: two modes" in (first.get_attribute("title") or "")
    assert "first steady time" in (second.get_attribute("title") or "")


def test_the_headings_of_a_long_heat_table_stay_in_view(page: Any, site: str) -> None:
    """It scrolls in itself."""
    page.set_viewport_size({"width": 1280, "height": 200})
    opened(page, site, TWO)
    heat_of_releases(page)
    before = page.locator("#heat thead th >> nth=0").bounding_box()
    page.evaluate(
        """() => {
            const body = document.querySelector('#heat tbody');
            for (let at = 0; at < 40; at += 1) { body.append(body.rows[0].cloneNode(true)); }
            document.querySelector('#heat .sideways').scrollTop = 300;
        }"""
    )
    after = page.locator("#heat thead th >> nth=0").bounding_box()
    box = page.locator("#heat .sideways").bounding_box()
    assert box["y"] <= after["y"] < box["y"] + 60
    assert before["x"] == after["x"]


def test_the_address_holds_order_and_filter_of_the_kernels(page: Any, site: str) -> None:
    """A click on a heading is a step, and so are typed words."""
    opened(page, site, TWO)
    page.click("#kernels thead button:text-is('problem')")
    assert "sort=problem" in page.url
    page.goto("about:blank")
    opened(page, site, f"{TWO}&sort=-problem")
    names = [text.splitlines()[-1] for text in column(page, "#kernels", "problem")]
    assert ["m7680_n64_k2560_NN", "m1760_n128_k1760_NN"] == names


def test_an_application_leaves_only_its_kernels(page: Any, site: str, html: Path) -> None:
    """In the means, the curve and the table; the address holds it."""
    file = f"data/newest/{machine_key('lab-1')}.js"
    data = json.loads(unpacked((html / file).read_text("utf-8")))
    data["kernels"]["application"] = [
        "Speech" if problem.startswith("m1760") else "Vision"
        for problem in data["kernels"]["problem"]
    ]
    changed = script_of(json.dumps(data))
    page.route(f"**/{file}", lambda route: route.fulfill(body=changed))
    opened(page, site, TWO)
    offered = page.locator("#application option").all_text_contents()
    assert ["all", "Speech", "Vision"] == offered
    page.select_option("#application", "Vision")
    page.wait_for_selector("#forest:has-text('1 shared kernel')")
    assert 1 == len(rows(page, "#kernels"))
    opened(page, site, page.url.removeprefix(site))
    assert "Vision" == page.input_value("#application")
    assert 1 == len(rows(page, "#kernels"))


def with_second_set(html: Path) -> tuple[str, dict[str, Any], int]:
    """Return the file of newest times of lab-1, its content with each kernel in a second set too,
    without times there, and the number of kernels before."""
    file = f"data/newest/{machine_key('lab-1')}.js"
    data = json.loads(unpacked((html / file).read_text("utf-8")))
    count = len(data["kernels"]["problem"])
    for name, values in data["kernels"].items():
        values += ["inference" if name == "set" else value for value in values]
    return file, data, count


def test_a_kernel_of_several_sets_is_one(page: Any, site: str, html: Path) -> None:
    """As in `deepbench compare`: the geometric mean of its times counts, in each state of its
    own."""
    file, data, count = with_second_set(html)
    opened(page, site, TWO)
    before = column(page, "#kernels", "numpy")
    for times, factor in ((data["times"]["numpy"]["cpu"], 4), (data["times"]["torch"]["cpu"], 1)):
        times += [[row[0] + count, row[1], factor * row[2], *row[3:]] for row in times]
    serve(page, file, script_of(json.dumps(data)))
    opened(page, site, TWO)
    assert "2 shared kernels" in page.inner_text("#forest tbody tr")
    doubled = [2 * float(each.split()[0]) for each in before]
    assert doubled == pytest.approx(
        [float(each.split()[0]) for each in column(page, "#kernels", "numpy")], rel=0.01
    )
    for row in data["times"]["numpy"]["cpu"]:
        row[4] = int(row[0] >= count)
    data["states"], data["threads"] = ["near", "far"], ["", ""]
    serve(page, file, script_of(json.dumps(data)))
    opened(page, site, TWO)
    assert before == column(page, "#kernels", "numpy")


def test_a_time_of_an_ensemble_stands_for_all_sets(page: Any, site: str, html: Path) -> None:
    """As in `deepbench compare`: a time that was measured apart is not averaged with it."""
    file, data, count = with_second_set(html)
    opened(page, site, TWO)
    before = column(page, "#kernels", "numpy")
    for name in ("states", "threads"):
        data[name] = [*data[name], data[name][0]]
    data["ensembles"] = [*data["ensembles"], True]
    times = data["times"]["numpy"]["cpu"]
    apart = [[row[0] + count, row[1], 4 * row[2], *row[3:]] for row in times]
    data["times"]["numpy"]["cpu"] = [[*row[:4], len(data["states"]) - 1] for row in times] + apart
    serve(page, file, script_of(json.dumps(data)))
    opened(page, site, TWO)
    assert before == column(page, "#kernels", "numpy")


def test_times_in_different_states_of_a_machine_are_not_compared(
    page: Any, site: str, html: Path
) -> None:
    """The page counts them; of a kernel in two states the fitting time counts, though older."""
    file = f"data/newest/{machine_key('lab-1')}.js"
    data = json.loads(unpacked((html / file).read_text("utf-8")))
    data["states"] = ["near", "far"]
    first, other = (data["times"][name]["cpu"] for name in ("numpy", "torch"))
    shared = [row for row in first if row[0] in [each[0] for each in other]]
    for row in other:
        row[4] = 1
    first.append([shared[0][0], 0, 6e-3, None, 1])
    serve(page, file, script_of(json.dumps(data)))
    opened(page, site, TWO)
    assert 1 == len(rows(page, "#kernels"))
    assert ["6 ms"] == column(page, "#kernels", "numpy")
    said = page.inner_text("#left-out")
    assert "Left out: 1 kernel that lab-1@torch also has (matrix products: 1)" in said


def test_times_on_unequal_numbers_of_threads_are_not_compared(
    page: Any, site: str, html: Path
) -> None:
    """The page says so in the words of `deepbench compare`; of a kernel on two numbers the time on
    as many threads counts, though older."""
    file = f"data/newest/{machine_key('lab-1')}.js"
    data = json.loads(unpacked((html / file).read_text("utf-8")))
    data["states"], data["threads"] = ["", ""], ["1", "2"]
    first, other = (data["times"][name]["cpu"] for name in ("numpy", "torch"))
    for row in other:
        row[4] = 1
    serve(page, file, script_of(json.dumps(data)))
    opened(page, site, TWO)
    said = "Left out: 2 kernels that lab-1@torch also has (matrix products: 2), since the two were"
    why = "measured on unequal numbers of threads: 2 on 1, 2 on 2"
    assert f"{said} {why}." == page.inner_text("#left-out")
    assert "at float32 on the same number of threads: lab-1@numpy" in page.inner_text("#apart")
    shared = [row for row in first if row[0] in [each[0] for each in other]]
    first.append([shared[0][0], 0, 6e-3, None, 1])
    page.unroute(f"**/{file}")
    serve(page, file, script_of(json.dumps(data)))
    opened(page, site, TWO)
    assert ["6 ms"] == column(page, "#kernels", "numpy")
    assert "Left out: 1 kernel" in page.inner_text("#left-out")


def test_releases_on_unequal_numbers_of_threads_are_not_compared(
    page: Any, site: str, html: Path
) -> None:
    """Each line has the number of every time."""
    file = f"data/lines/{machine_key('lab-1')}/gemm.js"
    data = json.loads(unpacked((html / file).read_text("utf-8")))
    for line in data["lines"]:
        line["threads"] = ["1", *["2"] * (len(line["seconds"]) - 1)]
    serve(page, file, script_of(json.dumps(data)))
    opened(page, site, "compare.html#side=lab-1@numpy-1.24.4&side=lab-1@numpy-2.0.2")
    assert "unequal numbers of threads: 2 on 1, 2 on 2" in page.inner_text("#left-out")
    opened(page, site, "compare.html#side=lab-1@numpy-1.25.2&side=lab-1@numpy-2.0.2")
    assert "" == page.inner_text("#left-out")
    assert 2 == len(rows(page, "#kernels"))


def test_the_file_of_lines_is_loaded_when_its_table_is_in_view(page: Any, site: str) -> None:
    """The first screen of a comparison has no need of it."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 1280, "height": 300})
    opened(page, site, TWO)
    page.wait_for_timeout(200)
    assert not [url for url in asked if "data/lines" in url]
    heat_of_releases(page)
    assert [url for url in asked if "data/lines" in url]


def test_the_choices_of_the_table_of_releases_work_before_it_is_in_view(
    page: Any, site: str
) -> None:
    """They are filled from the newest times; a choice loads the table and brings it into view, and
    the address holds it."""
    page.set_viewport_size({"width": 1280, "height": 300})
    opened(page, site, TWO)
    assert ["numpy", "torch"] == page.locator("#heat-framework option").all_text_contents()
    assert page.locator("#heat-framework").is_enabled()
    assert ["forward"] == page.locator("#heat-operation option").all_text_contents()
    assert 0 == page.locator("#heat td").count()
    page.select_option("#heat-framework", "torch")
    page.wait_for_selector("#heat thead th:has-text('2.5.1')")
    assert page.locator("#heat").bounding_box()["y"] < 300
    assert "framework=torch" in page.url
    opened(page, site, page.url.removeprefix(site))
    assert "torch" == page.input_value("#heat-framework")
    heat_of_releases(page)
    assert ["2.3.1", "2.5.1"] == page.locator("#heat thead th").all_inner_texts()
    opened(page, site, f"{TWO}&framework=jax")
    page.locator("#releases").scroll_into_view_if_needed()
    page.wait_for_selector("#heat-summary:has-text('at two releases or more with jax.')")


def test_the_details_of_a_kernel_are_those_of_both_sides(page: Any, site: str) -> None:
    """They are loaded when the row is opened."""
    opened(page, site, TWO)
    page.click("#kernels button.open >> nth=0")
    page.wait_for_selector("#kernels .detail code")
    texts = page.locator("#kernels .detail code").all_inner_texts()
    assert ["numpy-2.2.6", "torch-2.5.1"] == [
        next(name for name in ("numpy-2.2.6", "torch-2.5.1") if name in text) for text in texts
    ]


def test_hostile_names_are_text(page: Any, site: str) -> None:
    """In headings and rows."""
    opened(page, site, "compare.html")
    page.select_option("#sides select >> nth=0", "lab-1")
    page.select_option("#sides select >> nth=2", HOSTILE)
    page.wait_for_function("document.getElementById('who').textContent.includes('<img')")
    assert rows(page, "#groups")


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_the_page_does_not_shift(page: Any, site: str, width: int) -> None:
    """Nor does it scroll sideways."""
    page.set_viewport_size({"width": width, "height": 700})
    page.add_init_script(SHIFTS)
    opened(page, site, THREE)
    page.wait_for_timeout(300)
    assert page.evaluate("shift") < 0.1
    assert width >= page.evaluate("document.documentElement.scrollWidth")


def test_order_and_filter_of_the_families_are_in_the_address(page: Any, site: str) -> None:
    """Next to those of the kernels; kernels have their FLOP per byte."""
    opened(page, site, f"{TWO}&families-sort=-precision&sort=problem")
    assert "descending" == page.get_attribute("#groups [aria-sort]", "aria-sort")
    assert "ascending" == page.get_attribute("#kernels [aria-sort]", "aria-sort")
    page.click("#groups thead button:text-is('family')")
    assert "families-sort=family" in page.url and "&sort=problem" in page.url
    names, figures = (column(page, "#kernels", title) for title in ("problem", "FLOP per byte"))
    product = find("gemm", "m1760_n128_k1760_NN")
    place = next(at for at, name in enumerate(names) if product.id in name)
    assert f"{product.intensity('float32'):.3g}" == figures[place]
