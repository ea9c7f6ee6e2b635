"""asv's pages as we complete them, in a real browser; browsing.py opens it."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import published_site
import pytest

from deepbench_ops.pages.data_encoding import script_of

pytestmark = pytest.mark.browser

LAB_1 = "machine=lab-1&branch="
GRAPH = f"#{published_site.BENCHMARK}?{LAB_1}"


def open_page(page: Any, site: str, fragment: str, ready: str) -> None:
    page.goto(f"{site}benchmarks.html{fragment}")
    page.wait_for_selector(ready)


def hover(page: Any, place: int, tooltip: str = ".tooltip .tooltip-inner") -> str:
    """The tooltip of the point that is `place`-th from the left on the first line drawn.

    Bars are hit in their middle, at half their height.
    """
    spot = page.evaluate(
        """place => {
            const plot = $('#main-graph').data('plot');
            const series = plot.getData()[0];
            const {points, pointsize} = series.datapoints;
            const drawn = points.filter((_, i) => i % pointsize < 2);
            const [x, y] = [drawn[2 * place], drawn[2 * place + 1]];
            const at = plot.pointOffset({x, y: series.bars.show ? y / 2 : y});
            const box = document.querySelector('#main-graph').getBoundingClientRect();
            return {x: box.left + at.left, y: box.top + at.top};
        }""",
        place,
    )
    page.mouse.move(spot["x"] - 60, spot["y"] + 40)
    page.mouse.move(spot["x"], spot["y"], steps=3)
    page.wait_for_selector(tooltip)
    return str(page.inner_text(tooltip))


def test_grid_lists_the_benchmarks(page: Any, site: str) -> None:
    """The first page has a small graph for each benchmark that was measured, and no other."""
    open_page(page, site, "", ".benchmark-plot svg path")
    assert page.locator(".benchmark-text").all_inner_texts() == ["Training.kernel_forward"]


def test_the_grid_does_not_load_what_draws_graphs(page: Any, site: str) -> None:
    """flot and the scripts of other pages are loaded when these are opened."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, site, "", ".benchmark-plot svg path")
    assert not [url for url in asked if "flot" in url or "graphdisplay" in url or "noise" in url]
    page.click(".benchmark-container")
    page.wait_for_selector("#main-graph canvas")
    assert [url for url in asked if url.endswith("jquery.flot.js")]
    page.go_back()
    page.wait_for_selector("#summarygrid-display", state="visible")


def test_graph_names_its_releases(page: Any, site: str) -> None:
    """Name and version stand at the x-axis, in the range box and in a point's tooltip."""
    open_page(page, site, GRAPH + "numpy", "#main-graph canvas")
    labels = page.locator("#main-graph .flot-x-axis .flot-tick-label").all_inner_texts()
    expected = [f"{f}\n{v}" for f, v, _, s in published_site.RELEASES if f == "numpy" and s]
    assert expected == labels
    assert page.input_value("#range") == "numpy 1.24.4..numpy 2.2.6"
    assert hover(page, 2) == "1.000ms @ numpy 1.26.4"


@pytest.mark.parametrize("scale", ["even", "date"])
def test_other_x_axes_work(page: Any, site: str, scale: str) -> None:
    """Even spacing and dates keep the names in the tooltips."""
    open_page(page, site, f"{GRAPH}numpy&x-axis-scale={scale}", "#main-graph canvas")
    assert hover(page, 1) == "1.010ms @ numpy 1.25.2"


def test_frameworks_are_chosen_on_the_left(page: Any, site: str) -> None:
    """A click on the other framework draws its releases next to the first's."""
    open_page(page, site, GRAPH + "numpy", "#main-graph canvas")
    page.click("#graphdisplay-state-params a:text-is('torch')")
    page.wait_for_selector("#main-graph .legendLabel:has-text('branch-torch')")
    labels = page.locator("#main-graph .flot-x-axis .flot-tick-label").all_inner_texts()
    assert "torch\n2.3.1" in labels
    assert "numpy\n2.0.2" in labels


def test_a_parameter_as_x_axis_works(page: Any, site: str) -> None:
    """Problems along the x-axis: labelled bars, whose tooltip names the problem."""
    open_page(page, site, f"{GRAPH}numpy&x-axis=problem", "#main-graph .flot-x-axis")
    labels = page.locator("#main-graph .flot-x-axis .flot-tick-label").all_inner_texts()
    assert [p.strip("'") for p in published_site.PROBLEMS] == labels
    assert hover(page, 1, "#deepbench-tip") == "3.000ms @ m7680_n64_k2560_NN"
    assert page.locator(".tooltip").count() == 0


def test_bars_are_next_to_each_other(page: Any, site: str) -> None:
    """Both frameworks at each problem: no bar covers another, none is lost."""
    address = f"{GRAPH}numpy&branch=torch&p-precision='float32'&x-axis=problem"
    open_page(page, site, address, "#main-graph .legendLabel:has-text('branch-torch')")
    spans = page.evaluate(
        """() => $('#main-graph').data('plot').getData().flatMap(series => {
            const {points, pointsize} = series.datapoints;
            return points.filter((_, i) => i % pointsize === 0).map(x => [
                Math.round(1e6 * (x - series.bars.barWidth / 2)),
                Math.round(1e6 * (x + series.bars.barWidth / 2))]);
        }).sort((a, b) => a[0] - b[0])"""
    )
    assert spans == [
        [-300_000, 0],
        [0, 300_000],
        [700_000, 1_000_000],
        [1_000_000, 1_300_000],
    ]


def test_crowded_labels_are_thinned(page: Any, site: str) -> None:
    """Of two hundred problems along the x-axis only those with room are labelled."""
    open_page(page, site, f"{GRAPH}numpy&x-axis=problem", "#main-graph .flot-x-axis")
    page.evaluate(
        """() => {
            const data = Array.from({length: 200}, (_, i) => ['m' + i + '_n128_k1760_NN', i]);
            const options = {xaxis: {mode: 'categories', axisLabel: 'problem'}};
            $.plot($('#main-graph'), [{data}], options);
        }"""
    )
    edges = page.evaluate(
        """() => $('#main-graph .flot-x-axis .flot-tick-label').get().map(label => {
            const range = document.createRange();
            range.selectNodeContents(label);
            const box = range.getBoundingClientRect();
            return [box.left, box.right];
        })"""
    )
    assert len(edges) > 2
    assert [right for (_, right), (left, _) in pairwise(edges) if right > left] == []


def test_text_of_asvs_pages_can_be_read_in_both_themes(page: Any, site: str) -> None:
    """By the contrast that WCAG AA asks for, pressed buttons too; axe sees the light colours, which
    the dark theme turns over by a filter."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    rule = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "preload": False}
    for fragment, ready in (
        ("", ".benchmark-plot svg path"),
        (GRAPH + "numpy", "#main-graph canvas"),
        ("#summarylist", "#summarylist-body tbody tr"),
        ("#regressions", "#regressions-body tbody tr"),
    ):
        page.goto("about:blank")
        open_page(page, site, fragment, ready)
        found = axe.run(page, options=rule).response
        assert [] == [
            node["html"][:200] for fault in found["violations"] for node in fault["nodes"]
        ]
        (passed,) = found["passes"]
        texts = [node["any"][0]["data"] for node in passed["nodes"]]
        seen = [text for text in texts if "fgColor" in text]
        assert len(seen) > 5
        for text in seen:
            dark = [turned_over(text[name]) for name in ("fgColor", "bgColor")]
            assert contrast(*dark) >= float(text["expectedContrastRatio"][:-2]), text


def test_our_parts_of_asvs_pages_are_accessible(page: Any, site: str) -> None:
    """Navigation, footer, and the search of the long list, by WCAG 2.1 A and AA."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
    asked = {"runOnly": {"type": "tag", "values": tags}, "preload": False}
    open_page(page, site, "#summarylist", "#summarylist-body .deepbench-list")
    for place in ("#nav", "#deepbench-footer", "#summarylist-body > .deepbench-list"):
        found = axe.run(page, context=place, options=asked).response["violations"]
        assert [] == [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found], place


INVERTED = 0.93
HUE_ROTATED = np.array([[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]])
"""By 180 degrees, as the CSS filter is defined (Filter Effects Module Level 1)."""


def turned_over(colour: str) -> Any:
    """A colour of the light theme as the dark one shows it, as sRGB from 0 to 1."""
    values = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    inverted = values * (1 - INVERTED) + (1 - values) * INVERTED
    return np.clip(HUE_ROTATED @ inverted, 0, 1)


def contrast(first: Any, second: Any) -> float:
    """Of two sRGB colours, by WCAG 2.1."""
    linear = [
        np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in (first, second)
    ]
    low, high = sorted(float(np.dot([0.2126, 0.7152, 0.0722], each)) for each in linear)
    return (high + 0.05) / (low + 0.05)


def test_regressions_name_the_release_and_lead_to_it(page: Any, site: str) -> None:
    """The row of a slowdown shows the release, and its link reaches that release's row."""
    open_page(page, site, "#regressions", "#regressions-body tbody tr")
    link = page.locator("#regressions-body tbody tr td:nth-child(3) a").first
    assert link.inner_text() == "numpy 2.0.2"
    page.goto(link.evaluate("a => a.href"))
    assert "numpy 2.0.2" in page.inner_text("tr:has(:target)")


def test_regression_links_open_the_marked_graph(page: Any, site: str) -> None:
    """A regression's graph is addressed by hash, so asv still marks the place."""
    open_page(page, site, "#regressions", "#regressions-body tbody tr")
    link = page.locator("#regressions-body tbody tr a").first
    short = published_site.commit("numpy", "2.0.2")[:8]
    assert f"commits={short}" in link.get_attribute("href")
    link.click()
    page.wait_for_selector("#main-graph canvas")
    markings = "$('#main-graph').data('plot').getOptions().grid.markings.map(m => +m.xaxis.from)"
    assert page.evaluate(markings) == [4]


def test_a_marked_improvement_is_not_red(page: Any, site: str) -> None:
    """Marks of asv's graphs show where a change is, in one colour for both directions."""
    pair = "-".join(published_site.commit("numpy", v)[:8] for v in ("1.26.4", "2.0.2"))
    open_page(page, site, f"{GRAPH}numpy&commits={pair}", "#main-graph canvas")
    script = "$('#main-graph').data('plot').getOptions().grid.markings.map(m => m.color)"
    colours = page.evaluate(script)
    assert ["#2a6496", "#2a6496", "rgba(42, 100, 150, 0.15)"] == colours


def test_a_long_list_is_shown_in_parts(page: Any, site: str, html: Path) -> None:
    """A hundred lines at once, after sorting too; words find others."""
    (file,) = {
        path
        for path in html.rglob("summary.json")
        if "branch-numpy" in str(path) and "lab-1" in str(path)
    }
    row = json.loads(file.read_text("utf-8"))[0]
    many = [
        row | {"pretty_name": f"{row['name']}(line{i})", "last_value": 1 + i} for i in range(250)
    ]
    page.route("**/summary.json*", lambda route: route.fulfill(body=json.dumps(many)))
    page.route("**/summary.json.js*", lambda route: route.fulfill(body=script_of(json.dumps(many))))
    page.set_viewport_size({"width": 400, "height": 800})
    open_page(page, site, "#summarylist", "#summarylist-body tbody tr")
    lines = page.locator("#summarylist-body tbody tr:visible")
    count = page.locator(".deepbench-list [role=status]")
    assert (100, "100 of 250 lines") == (lines.count(), count.inner_text())
    assert page.evaluate("document.documentElement.scrollHeight") < 12_000
    page.click(".deepbench-list button:text-is('Show 100 more')")
    assert 200 == lines.count()
    page.locator("#summarylist-body th", has_text="Value").click()
    page.wait_for_function(
        "() => document.querySelector('#summarylist-body tbody tr').textContent.includes('line')"
    )
    assert 200 == lines.count()
    page.get_by_label("Search lines").fill("training line249")
    assert (1, "1 of 1 line") == (lines.count(), count.inner_text())


def test_a_pop_up_draws_its_line_each_time_and_none_once_it_is_gone(page: Any, site: str) -> None:
    """Its data may come when the pointer has left, and before the pop-up is on the page."""
    open_page(page, site, "#summarylist", "#summarylist-body tbody tr")
    graph = page.locator("#summarylist-body tbody tr td a:nth-of-type(2)").first
    for _ in range(2):
        graph.hover()
        page.wait_for_selector(".popover canvas")
        page.mouse.move(0, 0)
        page.wait_for_selector(".popover", state="detached")
    assert page.evaluate("$.plot($('<div>').css('border', '2px solid'), [{data: []}], {})") is None


def test_release_names_in_addresses_become_hashes(page: Any, site: str) -> None:
    """A pair of releases, one name being the start of another's, is written as asv reads it."""
    open_page(page, site, "", ".benchmark-plot svg path")
    first, second = (published_site.commit("numpy", v)[:8] for v in ("1.26.4", "2.0.2"))
    written = page.evaluate(
        "$.asv.format_hash_string({location: ['b'], "
        "params: {commits: ['numpy 1.26.4-numpy 2.0.2']}})"
    )
    assert f"#b?commits={first}-{second}" == written
    assert page.evaluate("$.asv.get_revision('numpy-1.26.4')") == "2"


def test_list_names_the_releases(page: Any, site: str) -> None:
    """The benchmark list says between which releases a value changed; links reach a row."""
    open_page(page, site, "#summarylist", "#summarylist-body tbody tr")
    change = page.locator("#summarylist-body td.change-date a").first
    assert change.inner_text() == "numpy 1.26.4...numpy 2.0.2"
    page.goto(change.evaluate("a => a.href"))
    assert "numpy 2.0.2" in page.inner_text("tr:has(:target)")


def test_hostile_descriptions_are_text(page: Any, site: str) -> None:
    """A machine's name and profile with HTML in them are shown as text in its tooltip."""
    open_page(page, site, GRAPH + "numpy", "#main-graph canvas")
    page.hover("#graphdisplay-state-params a:has-text('onerror')")
    page.wait_for_selector(".tooltip .tooltip-inner")
    assert f"cpu: {published_site.HOSTILE}" in page.inner_text(".tooltip .tooltip-inner")


def test_code_is_shown_as_written(page: Any, site: str) -> None:
    """The tooltip of a small graph shows the benchmark's code with its < intact."""
    open_page(page, site, "", ".benchmark-plot svg path")
    assert "return a < b" in page.get_attribute(".benchmark-plot", "title")


def test_the_grid_loads_bootstrap_only_to_report_an_error(page: Any, site: str) -> None:
    """It is needed by no other part of the first screen."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, site, "", ".benchmark-plot svg path")
    assert not [url for url in asked if url.endswith("bootstrap.min.js")]
    page.evaluate("$.asv.ui.network_error()")
    page.wait_for_selector("#error-message:visible")


def test_footer_leads_to_the_release_list(page: Any, site: str) -> None:
    """Every page of asv's has the footer, and its link opens the page that explains the pages."""
    for fragment in ("", "#summarylist", "#regressions", GRAPH + "numpy"):
        page.goto(f"{site}benchmarks.html{fragment}")
        assert page.locator("#deepbench-footer").is_visible()
    page.click("#deepbench-footer a")
    page.wait_for_url("**/releases.html")
    assert "How to read these pages" in page.inner_text("h1 >> nth=0")


def test_every_local_link_resolves(page: Any, site: str, html: Path) -> None:
    """No link of any page names a file that the site does not hold."""
    names = set()
    views = ("benchmarks.html#regressions", "benchmarks.html#summarylist", "releases.html")
    for view in views:
        page.goto(site + view)
        page.wait_for_load_state("networkidle")
        names |= set(
            page.evaluate(
                "Array.from(document.querySelectorAll('[href],[src]'), e => e.href||e.src)"
            )
        )
    local = {
        unquote(name.removeprefix(site).split("#")[0]) for name in names if name.startswith(site)
    }
    assert {"releases.html", "regressions.xml", "asv_pages.js"} <= local
    assert [name for name in local if name and not (html / name).is_file()] == []


def test_verdicts_are_one_click_away(page: Any, site: str) -> None:
    """From the navigation to the list of changes, and on to asv's own list."""
    open_page(page, site, "", "#nav-li-verdicts")
    page.click("#nav-li-verdicts a")
    page.wait_for_selector("h1:text('List of changes')")
    assert page.url == f"{site}verdicts.html"
    page.click("text=How to read this list")
    page.click("text=asv's own list of regressions")
    page.wait_for_selector("#regressions-body")
    page.wait_for_selector("#title:has-text('Regressions in')")
    assert page.is_visible("#regressions-display")


def test_a_line_shows_its_noise(page: Any, site: str) -> None:
    """Below the graph is the noise; a line with one process per release has none."""
    open_page(
        page, site, f"{GRAPH}numpy&p-problem={published_site.PROBLEMS[0]}", "#deepbench-noise"
    )
    shown = page.inner_text("#deepbench-noise")
    assert re.fullmatch(r"Noise \(spread between processes of one release\): .*2\.1 %", shown)
    other = f"{GRAPH}numpy&p-problem={published_site.PROBLEMS[1]}"
    page.goto("about:blank")
    open_page(page, site, other, "#main-graph canvas")
    assert 0 == page.locator("#deepbench-noise").count()


def test_pages_of_our_own_are_drawn_from_a_disk_and_from_a_server(page: Any, site: str) -> None:
    """test_dashboard_browser.py looks at their content, on a disk."""
    for name in ("index", "machine", "timeline", "compare", "models", "release"):
        page.goto(f"{site}{name}.html")
        page.wait_for_selector("body[data-ready]")
        assert "cannot be shown" not in page.inner_text("main")
