"""The page of a release and the comparison of two, in a real browser."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import published_site
import pytest
from browsing import column
from published_site import HOSTILE, unpacked

from deepbench_ops.pages.data_encoding import script_of
from deepbench_ops.pages.data_files import machine_key
from deepbench_ops.problems import find

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

LARGEST = 300_000
"""Bytes of all files that the first screen reads."""
SHIFTS = """window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach(entry => {
    if (!entry.hadRecentInput) { window.shift += entry.value; }
})).observe({type: 'layout-shift', buffered: true});"""
ANCHOR = [0, 12, "near", 1, 1, 1]
KERNEL = {
    "problem": 0,
    "set": "training",
    "operation": "forward",
    "precision": "float32",
    "benchmark": "gemm.Training.kernel_forward",
    "at": [0, 1, 2],
    "seconds": [1.0, 1.0, 2.0],
    "noise": 0.01,
    "judged": True,
    "changes": [[2, 2.0, 1.9, 2.1, [["other", 2.2]]]],
}


def opened(page: Any, site: str, fragment: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{site}release.html#{fragment}")
    page.wait_for_selector("body[data-ready]")


def served(page: Any, file: str, data: Any) -> None:
    """Serve other content of a data file."""
    body = script_of(json.dumps(data))
    page.route(f"**/{file}", lambda route: route.fulfill(body=body))


@pytest.fixture(scope="module")
def compared(browser: Any, site: str) -> Iterator[Callable[..., dict[str, Any]]]:
    """Compares two releases on one kernel with other fields; returns the row, less the kernel."""
    page = browser.new_page()
    opened(page, site)

    def row(after: int, before: int | None, **said: Any) -> Any:
        kernel = {name: value for name, value in {**KERNEL, **said}.items() if value is not None}
        found = {"kernels": [kernel], "problems": [["gemm", "m1", "1 x 1"]]}
        found |= {"implementations": ["", "a", "b"], "ensembles": [["numpy", "numpy-1.26.4"]]}
        script = """([found, after, before]) => deepbench.load('data/catalogue').then(catalogue =>
            deepbench.compared(found, catalogue, catalogue.machines[0], 'numpy', after, before)
                .map(row => Object.assign({}, row, {line: null})))"""
        (only,) = page.evaluate(script, [found, after, before])
        return only

    yield row
    page.close()


def test_it_opens_on_the_newest_release_that_changed_something(page: Any, site: str) -> None:
    """numpy 2.0.2, not 2.2.6: one kernel is 1.5 times slower, one has too few processes."""
    opened(page, site)
    assert "Changes with numpy-2.0.2" == page.inner_text("h1")
    assert ["1", "0", "0", "1"] == page.locator(".tile strong").all_inner_texts()
    assert "1.5\u00d7 slower" in page.inner_text("#tile-slower")
    assert column(page, "#kernels", "change")[0].startswith("1.5\u00d7 slower")
    assert "separate processes" == column(page, "#kernels", "judged by")[0]
    assert ["1 ms \u2192 1.5 ms"] == column(page, "#kernels", "time")[:1]
    assert 1 == page.locator("#kernels .sparkline circle.slower").count()
    assert 1 == page.locator("#strips circle.slower").count()
    command = "deepbench verdict --machine lab-1 --release numpy-2.0.2 --confirm"
    assert command == page.inner_text("#new .command code")


def test_a_release_without_changes_says_so(page: Any, site: str) -> None:
    """numpy 2.2.6 changed nothing, and there is nothing to confirm."""
    opened(page, site, "release=numpy-2.2.6&machine=lab-1")
    assert ["0", "0", "1", "1"] == page.locator(".tile strong").all_inner_texts()
    assert "no change" in page.inner_text("#strips")
    assert 0 == page.locator("#new .command").count()


def test_any_two_releases_are_compared(page: Any, site: str) -> None:
    """Reached by the choice; also backwards, from the newer to the older one."""
    opened(page, site, "release=numpy-2.2.6&machine=lab-1")
    page.select_option("#before", "numpy-1.24.4")
    page.wait_for_function("() => document.querySelector('h1').textContent.includes('against')")
    assert "before=numpy-1.24.4" in page.url
    assert "1.5\u00d7 slower" in page.inner_text("#tile-slower")
    assert "new BLAS" in page.inner_text("#new")
    assert "deepbench history numpy 1.24.4,2.2.6" == page.inner_text("#new .command code")
    opened(page, site, "release=numpy-1.24.4&before=numpy-2.2.6&machine=lab-1")
    assert "1.5\u00d7 faster" in page.inner_text("#tile-faster")
    assert "blas new BLAS \u2192 old BLAS" in page.inner_text("#new")


def test_the_first_release_has_nothing_before_it(page: Any, site: str) -> None:
    """The page says so, and shows no empty tables."""
    opened(page, site, "release=numpy-1.24.4&machine=lab-1")
    assert "first release of its kernels" in page.inner_text("#summary")
    assert page.locator("#strips").is_hidden()
    assert 0 == page.locator("#kernels table").count()


def test_a_verdict_and_a_family_filter_the_kernels(page: Any, site: str) -> None:
    """The choice is in the address; Back undoes it; a second press takes it back."""
    opened(page, site)
    page.click("#tile-slower")
    assert "verdict=slower" in page.url
    assert 1 == page.locator("#kernels tbody tr").count()
    assert "tile-slower" == page.evaluate("document.activeElement.id")
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('#kernels tbody tr').length === 2")
    page.click(".strips button")
    assert "group=gemm+float32" in page.url
    page.click(".strips button")
    assert "group=" not in page.url


def test_sorting_and_the_filter_are_in_the_address(page: Any, site: str) -> None:
    """A reload shows the same rows in the same order; typing is one step of the history."""
    opened(page, site, "release=numpy-2.0.2&machine=lab-1&find=1760")
    assert 1 == page.locator("#kernels tbody tr").count()
    page.click("#kernels thead button:text-is('time')")
    steps = page.evaluate("history.length")
    page.locator("#kernels input[type=search]").clear()
    page.locator("#kernels input[type=search]").press_sequentially("7680")
    assert steps + 1 == page.evaluate("history.length")
    assert "sort=-time" in page.url and "find=7680" in page.url
    opened(page, site, page.url.partition("#")[2])
    assert "7680" == page.input_value("#kernels input[type=search]")
    assert 1 == page.locator("#kernels tbody tr").count()
    heading = page.locator("#kernels th:has(button:text-is('time'))")
    assert "descending" == heading.get_attribute("aria-sort")


def test_a_kernel_has_the_command_for_both_releases(page: Any, site: str) -> None:
    """Below its row, with how it ran."""
    opened(page, site)
    page.click("#kernels tbody .open >> nth=0")
    page.wait_for_selector("#kernels tr.detail dl")
    command = page.inner_text("#kernels tr.detail .command code >> nth=0")
    assert command.startswith('asv run "numpy-1.26.4 numpy-2.0.2" --bench')


@pytest.mark.parametrize(
    ("said", "verdict", "origin"),
    [
        ({}, "slower", "separate processes"),
        ({"changes": [], "seconds": [1, 1, 1.02]}, "unchanged", "separate processes"),
        ({"changes": []}, "unjudged", "too few for a difference beyond the noise"),
        ({"judged": None, "changes": []}, "unjudged", "too few processes"),
        ({"changes": None}, "unjudged", "published figures"),
        ({"unsteady": ["", "", "two modes"]}, "unjudged", "unsteady: two modes"),
        ({"steps": [[2, "same", 1.0, 0.99, 1.01, 10, "near"]]}, "unchanged", "10 shared rounds"),
        ({"steps": [[2, "ambiguous", 1.1, 0.9, 1.3, 3, ""]]}, "unjudged", "interval too wide"),
        ({"steps": [[2, "slower", 2, 1.9, 2.1, 8, "far"]]}, "slower", "8 shared rounds, far"),
    ],
)
def test_a_verdict_says_what_it_rests_on(
    compared: Callable[..., dict[str, Any]], said: dict[str, Any], verdict: str, origin: str
) -> None:
    """Changes along the line, shared rounds, or the reason why nothing can be said."""
    row = compared(2, 1, **said)
    assert verdict == row["verdict"]
    assert origin in row["origin"]


def test_changes_in_between_are_multiplied(compared: Callable[..., dict[str, Any]]) -> None:
    """The widths of their intervals add up as those of independent figures."""
    changes = [[1, 1.5, 1.4, 1.6, []], [2, 2.0, 1.8, 2.2, []]]
    row = compared(2, 0, changes=changes)
    assert pytest.approx(3.0) == row["ratio"]
    assert pytest.approx(3.0 * 2.71828 ** -((0.0690**2 + 0.1054**2) ** 0.5), rel=1e-3) == row["low"]
    assert "2 changes in between, separate processes" == row["origin"]
    back = compared(0, 2, changes=changes)
    assert ("faster", pytest.approx(1 / 3)) == (back["verdict"], back["ratio"])
    assert pytest.approx(1 / row["low"]) == back["high"]


def test_an_ensemble_that_has_both_releases_decides(
    compared: Callable[..., dict[str, Any]],
) -> None:
    """By the ratios to its anchor; other states or ensembles do not count."""
    together = [ANCHOR, None, [0, 10, "near", 1.5, 1.4, 1.6]]
    row = compared(2, 0, ensemble=together, implementation=[1, 1, 2])
    assert [1.5, 1.4, 1.6] == pytest.approx([row["ratio"], row["low"], row["high"]])
    assert "10 shared rounds, near" == row["origin"]
    assert ("a", "b") == (row["was"], row["now"])
    apart = [ANCHOR, None, [0, 10, "far", 1.5, 1.4, 1.6]]
    assert "separate processes" == compared(2, 0, ensemble=apart)["origin"]


def test_the_same_change_on_other_machines_is_named(
    compared: Callable[..., dict[str, Any]],
) -> None:
    """With its ratio there; turned round in a comparison backwards."""
    assert [["other", 2.2]] == compared(2, None)["also"]
    assert [["other", pytest.approx(1 / 2.2)]] == compared(1, 2)["also"]


@pytest.mark.parametrize(
    ("ratio", "steps", "times", "judged_by"),
    [
        (1.5, [], "1 ms \u2192 1.5 ms", "separate processes"),
        (1.45, [], "1 ms \u2192 1.5 ms", "separate processes"),
        (
            1.3,
            [],
            "1 ms \u2192 1.5 ms\nthese two: 1.5\u00d7 slower",
            "separate processes: the levels before and after, over several releases",
        ),
        (
            1.3,
            [[4, "slower", 1.3, 1.1, 1.9, 9, ""]],
            "1 ms \u2192 1.5 ms\nthese two: 1.5\u00d7 slower",
            "9 shared rounds; the times come from other rounds too",
        ),
        (
            1.3,
            [[4, "slower", 1.45, 1.4, 1.48, 9, ""]],
            "1 ms \u2192 1.5 ms\nthese two: 1.5\u00d7 slower",
            "9 shared rounds; the times come from other rounds too",
        ),
    ],
)
def test_a_factor_that_is_not_the_quotient_of_the_times_says_why(
    page: Any,
    site: str,
    html: Path,
    ratio: float,
    steps: list[Any],
    times: str,
    judged_by: str,
) -> None:
    """Where it is off by more than 5 % or its interval: the quotient stands below the times."""
    file = f"data/changes/{machine_key('lab-1')}/numpy.js"
    data = json.loads(unpacked((html / file).read_text("utf-8")))
    (kernel,) = (each for each in data["kernels"] if each.get("changes"))
    kernel["changes"] = [[kernel["changes"][0][0], ratio, 1.2, 2.0, []]]
    kernel["steps"] = steps
    served(page, file, data)
    opened(page, site, "release=numpy-2.0.2&machine=lab-1")
    assert times == column(page, "#kernels", "time")[0]
    assert judged_by == column(page, "#kernels", "judged by")[0]


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_choices_are_wide_enough_for_their_texts(
    page: Any, site: str, html: Path, width: int
) -> None:
    """Names of releases and machines with their counts, in one line on a wide window."""
    name = "xeon-avx512-2core"
    for file in ("catalogue", "changes/index"):
        text = unpacked((html / f"data/{file}.js").read_text("utf-8"))
        data = json.loads(text.replace('"lab-1"', f'"{name}"').replace("2.0.2", "2.13.0rc1"))
        if file == "changes/index":
            for one in data:
                one["releases"] = [[*row[:2], 12, 34] for row in one["releases"]]
        served(page, f"{file}.js", data)
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, site, f"machine={name}")
    found = page.evaluate(
        """() => Array.from(document.querySelectorAll('.controls select'), select => {
            const pen = document.createElement('canvas').getContext('2d');
            pen.font = getComputedStyle(select).font;
            return [select.selectedOptions[0].text, select.clientWidth -
                pen.measureText(select.selectedOptions[0].text).width, select.offsetTop];
        })"""
    )
    assert f"{name} (12 slower, 34 faster)" in [text for text, _, _ in found]
    assert [] == [text for text, room, _ in found if room < 36]
    assert width < 1280 or len({top for _, _, top in found}) == 1


@pytest.fixture
def sides(page: Any, site: str) -> Callable[..., list[dict[str, Any]]]:
    """Compares a kernel of torch with one of numpy, each with other fields; `apart`: on another
    machine. Returns the rows, less the kernels."""

    def rows(torch: dict[str, Any], numpy: dict[str, Any], apart: bool = False) -> Any:
        opened(page, site)
        found = [
            {
                "kernels": [{**KERNEL, "at": [3], "seconds": [4.0], "changes": [], **torch}],
                "problems": [["gemm", "m1", "1 x 1"]],
                "implementations": ["", "oneDNN"],
                "ensembles": [["frameworks", "numpy-2.0.2"]],
            },
            {
                "kernels": [
                    {**KERNEL, "problem": 1, "at": [4], "seconds": [2.0], "changes": [], **numpy}
                ],
                "problems": [["gemm", "m2", "2 x 2"], ["gemm", "m1", "1 x 1"]],
                "implementations": ["", "OpenBLAS"],
                "ensembles": [["numpy", "numpy-2.0.2"], ["frameworks", "numpy-2.0.2"]],
            },
        ]
        script = """([torch, numpy, apart]) => deepbench.load('data/catalogue').then(catalogue => {
            const machines = catalogue.machines;
            return deepbench.compared_sides(
                {found: torch, machine: machines[0], framework: 'torch', place: 3},
                {found: numpy, machine: machines[+apart], framework: 'numpy', place: 4}, catalogue)
                .map(row => Object.assign({}, row, {line: null, base: null}));
        })"""
        return page.evaluate(script, [*found, apart])

    return rows


ROUNDS = {"ensemble": [[0, 9, "near", 1.2, 1.1, 1.3]]}


@pytest.mark.parametrize(
    ("one", "other", "verdict", "origin"),
    [
        ({}, {}, "slower", "separate processes"),
        ({"seconds": [1.0]}, {}, "faster", "separate processes"),
        ({"seconds": [2.02]}, {}, "unchanged", "separate processes"),
        ({"noise": 0.3}, {}, "unjudged", "the noise is too large"),
        ({"noise": None}, {}, "unjudged", "one process: the noise is not known"),
        ({"changes": None}, {}, "unjudged", "published figures"),
        ({}, {"unsteady": ["two modes"]}, "unjudged", "unsteady: two modes"),
        (ROUNDS, {"ensemble": [[1, 10, "near", 1, 1, 1]]}, "slower", "9 shared rounds, near"),
        (ROUNDS, {"ensemble": [[0, 10, "near", 1, 1, 1]]}, "slower", "separate processes"),
    ],
)
def test_two_frameworks_differ_beyond_the_noise_of_both(
    sides: Callable[..., Any],
    one: dict[str, Any],
    other: dict[str, Any],
    verdict: str,
    origin: str,
) -> None:
    """Or by rounds that measured both, which are named by file and anchor."""
    (row,) = sides(one, other)
    assert verdict == row["verdict"]
    assert origin in row["origin"]


@pytest.mark.parametrize(
    ("one", "other", "apart", "count"),
    [
        ({}, {}, False, 1),
        ({}, {"problem": 0}, False, 0),
        ({}, {"precision": "int8"}, False, 0),
        ({"device": "cuda"}, {}, False, 0),
        ({"device": "cuda"}, {}, True, 1),
        ({"state": "near"}, {"state": "far"}, False, 0),
        ({"state": "near"}, {"state": "far"}, True, 1),
        ({"state": "near"}, {}, False, 1),
        ({"state": "unknown"}, {"state": "unknown"}, False, 0),
        ({"at": [2]}, {}, False, 0),
    ],
)
def test_only_times_of_one_kernel_that_may_be_compared_are(
    sides: Callable[..., Any],
    one: dict[str, Any],
    other: dict[str, Any],
    apart: bool,
    count: int,
) -> None:
    """On one machine its device and state are equal; another machine has its own."""
    assert count == len(sides(one, other, apart))


def test_the_interval_of_two_frameworks_has_the_noise_of_both(sides: Callable[..., Any]) -> None:
    """2.576 standard deviations of the ratio; that of a mean of four processes is half as large."""
    torch = {"noise": 0.06, "processes": [4], "implementation": [1]}
    (row,) = sides(torch, {"noise": 0.04, "implementation": [1]})
    assert pytest.approx(2 * 2.71828 ** (2.576 * 0.05), rel=1e-3) == row["high"]
    assert ("OpenBLAS", "oneDNN") == (row["was"], row["now"])


def test_two_frameworks_have_the_same_view(page: Any, site: str) -> None:
    """Counts, strips and kernels; it is called no regression, and Back leads to the release."""
    opened(page, site, "release=torch-2.5.1&machine=lab-1")
    page.select_option("#before", "numpy-2.2.6")
    page.wait_for_selector("#summary:has-text('compared with numpy-2.2.6')")
    assert "torch-2.5.1 against numpy-2.2.6" == page.inner_text("h1")
    assert "a slower kernel is no regression" in page.inner_text("#caution")
    assert ["0", "2", "0", "0"] == page.locator(".tile strong").all_inner_texts()
    assert "4.84\u00d7 faster" in page.inner_text("#tile-faster")
    assert ["1.5 ms \u2192 310 \u00b5s", "3 ms \u2192 620 \u00b5s"] == sorted(
        column(page, "#kernels", "time")
    )
    assert 2 == page.locator("#strips circle.faster").count()
    command = "deepbench compare lab-1@numpy-2.2.6 lab-1@torch-2.5.1"
    assert command == page.inner_text("#new .command code")
    address = page.url.partition("#")[2]
    page.go_back()
    page.wait_for_selector("h1:has-text('Changes with torch-2.5.1')")
    assert "" == page.inner_text("#caution")
    opened(page, site, address)
    assert "numpy-2.2.6" == page.input_value("#before")
    assert "torch-2.5.1 against numpy-2.2.6" == page.inner_text("h1")


def test_two_machines_have_the_same_view(page: Any, site: str) -> None:
    """First with the same release; the address keeps both machines."""
    opened(page, site, "release=numpy-2.2.6&machine=lab-1")
    page.select_option("#base", HOSTILE)
    page.wait_for_selector("#caution:has-text('two machines')")
    assert "numpy-2.2.6" == page.input_value("#before")
    title = f"numpy-2.2.6 on lab-1 against numpy-2.2.6 on {HOSTILE}"
    assert title == page.inner_text("h1")
    opened(page, site, page.url.partition("#")[2])
    assert title == page.inner_text("h1")
    assert ["1.5 ms \u2192 1.5 ms", "3 ms \u2192 3 ms"] == column(page, "#kernels", "time")
    page.select_option("#before", "torch-2.5.1")
    page.wait_for_selector("#caution:has-text('two machines with two frameworks')")


def test_two_sides_without_a_kernel_in_common_say_so(page: Any, site: str) -> None:
    """A sentence instead of empty pictures."""
    page.route(
        "**/data/changes/*/torch.js",
        lambda route: route.fulfill(
            body=script_of(json.dumps({"kernels": [], "problems": [], "software": []}))
        ),
    )
    opened(page, site, "release=torch-2.5.1&machine=lab-1&before=numpy-2.2.6")
    assert "No kernel has times of both: torch-2.5.1 and numpy-2.2.6 on lab-1." == page.inner_text(
        "#summary"
    )
    assert page.locator("#strips").is_hidden()


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_the_first_screen_is_light_and_stands_still(page: Any, site: str, width: int) -> None:
    """No more than 300 kB of files, no layout shift above 0.1, nothing on the console; at 1280
    pixels the kernels begin in the first screen."""
    page.set_viewport_size({"width": width, "height": 900})
    files: set[str] = set()
    said: list[str] = []
    page.on("request", lambda request: files.add(request.url.partition("#")[0]))
    page.on("console", lambda message: said.append(message.text))
    page.add_init_script(SHIFTS)
    opened(page, site, f"release=numpy-2.0.2&machine={published_site.PROFILE.machine}")
    loaded = [Path(url.removeprefix("file://")) for url in files if url.startswith("file:")]
    assert LARGEST >= sum(path.stat().st_size for path in loaded)
    assert page.evaluate("window.shift") < 0.1
    assert [] == said
    if width == 1280:
        assert page.locator("#kernels tbody tr >> nth=0").bounding_box()["y"] < 900
    if width == 400:
        order = ".factor, th"
        first, second = (
            page.locator(f"#kernels tbody tr >> nth=0 >> {each}") for each in order.split(", ")
        )
        assert first.bounding_box()["y"] < second.bounding_box()["y"]


def test_names_with_markup_are_text(page: Any, site: str) -> None:
    """In choices, sentences, and the list of other machines."""
    opened(page, site)
    page.select_option("#machine", HOSTILE)
    page.wait_for_function(
        "name => document.querySelector('#summary').innerText.includes(name)", arg=HOSTILE
    )
    assert "img" in page.evaluate("location.hash")
    assert page.evaluate("window.pwned") is None


def test_without_releases_the_page_says_what_to_do(page: Any, site: str, html: Path) -> None:
    """An empty index is no error."""
    page.route("**/data/changes/index.js", lambda route: route.fulfill(body=script_of("[]")))
    opened(page, site)
    assert "No release has been measured yet." in page.inner_text("#content")


def test_a_missing_file_is_named(browser: Any, site: str, html: Path) -> None:
    """The page says which, and that publishing again helps."""
    index = json.loads(unpacked((html / "data/changes/index.js").read_text("utf-8")))
    assert {"numpy", "torch"} == {each["framework"] for each in index}
    context = browser.new_context()
    page = context.new_page()
    page.route("**/data/changes/*/numpy.js", lambda route: route.abort())
    opened(page, site)
    said = page.inner_text("#content")
    context.close()
    assert "/numpy.js is missing: publish the pages again" in said


def test_print_shows_all_kernels_without_controls(page: Any, site: str) -> None:
    """On paper nothing scrolls, and there is nothing to click."""
    opened(page, site)
    page.emulate_media(media="print")
    page.wait_for_function("() => document.getElementById('printed').textContent")
    assert "release.html#release=numpy-2.0.2" in page.inner_text("#printed")
    assert page.locator(".controls").is_hidden()
    assert page.locator("#kernels .tools").is_hidden()
    assert "none" == page.eval_on_selector(
        "#kernels .scroll", "box => getComputedStyle(box).maxHeight"
    )


def test_it_leads_to_a_comparison_with_anything_else(page: Any, site: str) -> None:
    """The release is the first side; kernels have their FLOP per byte."""
    opened(page, site, "release=numpy-2.0.2&machine=lab-1")
    product = find("gemm", "m1760_n128_k1760_NN")
    assert f"{product.intensity('float32'):.3g}" in column(page, "#kernels", "FLOP per byte")
    assert "Compare more than two" == page.inner_text("#others")
    page.click("#others")
    page.wait_for_selector("#who")
    assert "side=lab-1%40numpy-2.0.2" in page.url
    assert "torch" in page.inner_text("#who")
