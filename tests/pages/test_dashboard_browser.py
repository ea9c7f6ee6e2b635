"""Our own pages in a real browser: what they show, what they keep, who can use them."""

import json
import math
import re
from pathlib import Path
from typing import Any

import published_site
import pytest
from browsing import READ_LIBRARY, WATCH, column, column_of, rows, traces
from published_site import BANDWIDTH, HOSTILE, PEAK, unpacked

from deepbench_ops.pages.data_pages import CHARTS
from deepbench_ops.pages.local_data import packed
from deepbench_ops.pages.vendored import path_of
from deepbench_ops.problems import find

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

KERNEL, SECOND = "m1760_n128_k1760_NN", "m7680_n64_k2560_NN"
FLOPS = 2 * 1760 * 128 * 1760
READING = ("index", "machine", "timeline", "compare", "models", "release")
WRITTEN = ("frameworks", "verdicts", "releases")
WIDTHS = (400, 1280, 2560)
COMPARED = "other compared with first"
ARTEFACTS = Path(__file__).resolve().parents[2] / "artifacts" / "pages"


def open_page(page: Any, site: str, address: str) -> None:
    """Open one of the pages that read data, and wait until it is drawn."""
    page.goto("about:blank")  # another address behind # alone would not load it anew
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")


@pytest.mark.parametrize("name", [*READING, *WRITTEN])
def test_a_page_fits_any_width_and_is_accessible(page: Any, site: str, name: str) -> None:
    """Nothing is cut off at the side, tables scroll within themselves; in neither theme has axe
    anything against it by WCAG 2.1 A and AA, contrast included."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.goto(f"{site}{name}.html")
    if name in READING:
        page.wait_for_selector("body[data-ready]")
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert width >= page.evaluate("document.documentElement.scrollWidth")
        page.wait_for_function(
            """() => Array.from(document.querySelectorAll('.plot .main-svg'))
                .every(chart => chart.clientWidth <= innerWidth || chart.closest('[tabindex]'))"""
        )
        page.screenshot(path=ARTEFACTS / f"{name}-{width}.png")
    open_all(page)
    page.set_viewport_size({"width": 400, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.set_viewport_size({"width": 1280, "height": 900})
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
    asked = {"runOnly": {"type": "tag", "values": tags}, "preload": False}
    for _ in ("light", "dark"):
        found = axe.run(page, options=asked).response["violations"]
        assert [] == [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found]
        page.click("#theme")


def test_pages_are_small_and_soon_there(page: Any, site: str, html: Path) -> None:
    """Within a second, and charts within that or four times what reading their library takes, in
    the fastest of three openings; asv, our pages and libraries in 6 MB."""
    page.add_init_script(WATCH)
    page.goto(f"{site}releases.html")
    limit = max(1000, 4 * page.evaluate(READ_LIBRARY, f"{site}{path_of(CHARTS)}"))
    for name in READING:
        usable, ready = [], []
        for _ in range(3):
            open_page(page, site, f"{name}.html")
            usable.append(int(page.get_attribute("body", "data-usable")))
            ready.append(int(page.get_attribute("body", "data-ready")))
        assert min(usable) < 1000, name
        assert min(ready) < limit, name
    assert sum(path.stat().st_size for path in html.rglob("*") if path.is_file()) < 6e6


def open_all(page: Any) -> None:
    """Open whatever opens: all details, and what is behind the first row of each table."""
    page.evaluate(
        """() => {
            document.querySelectorAll('details').forEach(part => { part.open = true; });
            document.querySelectorAll('.table').forEach(
                table => { (table.querySelector('.open') || table).click(); });
        }"""
    )


def test_every_link_of_our_pages_resolves(page: Any, site: str, html: Path) -> None:
    """Each page, script and picture that they name is a file of the site."""
    names = set()
    for name in (*READING, *WRITTEN):
        page.goto(f"{site}{name}.html")
        page.wait_for_load_state("networkidle")
        script = "Array.from(document.querySelectorAll('[href],[src]'), e => e.href || e.src)"
        names |= set(page.evaluate(script))
    local = {name.removeprefix(site).split("#")[0] for name in names if name.startswith(site)}
    assert {"benchmarks.html", "machine.html", "release.html", "site/site.js"} <= local
    assert [name for name in local if name and not (html / name).is_file()] == []


# Start


def test_the_first_page_tells_how_near_its_peak_a_machine_is(page: Any, site: str) -> None:
    """The median share of the roofline of the newest times, where the machine has a profile."""
    open_page(page, site, "index.html")
    known = {(row[0], row[1]): row for row in rows(page, "#machines")}
    shares = []
    for id, seconds in (KERNEL, 1.5e-3), (SECOND, 3.0e-3):
        problem = find("gemm", id)
        roof = min(PEAK, BANDWIDTH * problem.intensity("float32"))
        shares.append(problem.flops / seconds / roof)
    told = known["lab-1", "numpy-2.2.6"][column_of(page, "#machines", "gemm")]
    assert float(told.removesuffix(" %")) == pytest.approx(100 * sum(shares) / 2, rel=0.01)
    assert "" == known[HOSTILE, "numpy-2.2.6"][column_of(page, "#machines", "gemm")]


def test_the_first_page_tells_what_changed_lately(page: Any, site: str) -> None:
    """numpy 2.0.2 by half on lab-1, with the command that measures that release's changes alone."""
    open_page(page, site, "index.html")
    known = ["numpy-2.0.2", "2024-08-26", "lab-1", "slower", "1.5 times slower"]
    assert [known] == [row[:5] for row in rows(page, "#latest")]
    page.click("#latest button.open")
    told = page.inner_text("#latest tr.detail code")
    assert "deepbench verdict --machine lab-1 --release numpy-2.0.2 --confirm" == told


def test_a_machines_command_measures_what_its_row_is_of(page: Any, site: str) -> None:
    """Two products of the headline: those, of the newest release."""
    open_page(page, site, "index.html")
    place = [row[:2] for row in rows(page, "#machines")].index(["lab-1", "numpy-2.2.6"])
    page.click(f"#machines tbody tr:nth-child({place + 1}) button.open")
    assert (
        'asv run "numpy-2.2.6^!"'
        ' --bench "$(deepbench select headline --family gemm --precision float32)"'
    ) == page.inner_text("#machines tr.detail code")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_table_of_machines_can_be_read_at_any_width(page: Any, site: str, width: int) -> None:
    """From 1280 pixels on nothing of it is hidden; on a narrow one names stay beside figures."""
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, site, "index.html")
    box = page.locator("#machines .scroll")
    if width >= 1280:
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    box.evaluate("box => { box.scrollLeft = 200; }")
    left = box.evaluate("box => box.getBoundingClientRect().left")
    name = page.locator("#machines tbody th").first.bounding_box()
    assert name["x"] - left < 3 and name["width"] < 0.6 * width


def test_lines_that_are_judged_are_counted_alike(page: Any, site: str) -> None:
    """Of the lines of two releases or more so many, on the first page and among the verdicts."""
    open_page(page, site, "index.html")
    told = re.search(
        r"(\d+) of \d+ lines have two releases or more, and (\d+) of these",
        page.inner_text("#judged"),
    )
    assert told is not None
    page.goto(f"{site}verdicts.html")
    both = f"{told[2]} of {told[1]} lines with two releases or more"
    assert both in page.inner_text("main")


def test_old_addresses_of_asvs_pages_still_lead_there(page: Any, site: str) -> None:
    """A link to index.html with a benchmark behind # opens that benchmark."""
    page.goto(f"{site}index.html#{published_site.BENCHMARK}?machine=lab-1&branch=numpy")
    page.wait_for_selector("#main-graph canvas")
    assert "/benchmarks.html#" in page.url


# Machine


def test_a_known_number_stands_where_it_should(page: Any, site: str) -> None:
    """A kernel's time, rate and share of the roof are those of its seconds."""
    open_page(page, site, "machine.html#machine=lab-1&framework=numpy&precision=float32")
    place = column(page, "#tables", "problem").index(KERNEL)
    assert "1.5 ms" == column(page, "#tables", "time")[place]
    assert f"{FLOPS / 1.5e-3 / 1e9:.3g} GFLOP/s" == column(page, "#tables", "rate")[place]
    assert "numpy-2.2.6" == column(page, "#tables", "release")[place]
    assert "10 TFLOP/s" in column(page, "#peaks", "peak")


def test_every_kernel_is_a_point_under_its_roof(page: Any, site: str) -> None:
    """Rates over FLOPs a byte; the roof is the profile's bandwidth, then its peak."""
    open_page(page, site, "machine.html#machine=lab-1&framework=numpy&precision=float32")
    (gemm, roof) = traces(page, "#roofline")
    rates = [find("gemm", KERNEL).flops / 1.5e-3, find("gemm", SECOND).flops / 3.0e-3]
    assert sorted(rates) == pytest.approx(sorted(gemm["y"]), rel=1e-3)
    assert PEAK == max(roof["y"])
    assert BANDWIDTH * roof["x"][0] == pytest.approx(roof["y"][0])


def test_a_machine_without_a_profile_says_so(page: Any, site: str) -> None:
    """Its kernels are shown all the same, under its own name as text."""
    open_page(page, site, "machine.html")
    page.select_option("#machine", HOSTILE)
    page.wait_for_selector("#facts:has-text('none, so there is no roofline')")
    page.wait_for_function(
        "() => document.querySelector('#roofline-summary').textContent.includes('no roof')"
    )
    assert KERNEL in column(page, "#tables", "problem")
    assert "onerror" in page.inner_text("#facts")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("m.peaks = m.peaks.filter(p => p.of !== 'memory')", "has no memory bandwidth on cpu."),
        ("m.peaks = m.peaks.filter(p => p.of === 'memory')", "has no peak for float32 on cpu."),
        (
            "m.peaks[0].value = 1e6",
            "2 kernels are above the peak, at most 839000 times the peak: convolutions",
        ),
        (
            "m.peaks[1].value = 1e3",
            "2 kernels are above the line of the memory bandwidth: their operands",
        ),
    ],
)
def test_the_roofline_says_what_lacks_and_what_lies_above(
    page: Any, site: str, html: Path, change: str, told: str
) -> None:
    """Peak and bandwidth each by itself; what exceeds a peak is not blamed on caches."""
    open_page(page, site, "index.html")
    data = json.loads(unpacked((html / "data/catalogue.js").read_text("utf-8")))
    data = page.evaluate(
        f"""data => {{
            const m = data.machines.find(m => m.name === 'lab-1'); {change}; return data;
        }}""",
        data,
    )
    page.route("**/data/catalogue.js", lambda route: route.fulfill(body=packed(json.dumps(data))))
    open_page(page, site, "machine.html#machine=lab-1&framework=numpy&precision=float32")
    assert told in page.inner_text("#roofline-summary")


def test_a_machine_tells_what_it_was_measured_under(page: Any, site: str) -> None:
    """The fingerprint of the framework's newest release, as text."""
    open_page(page, site, "machine.html#machine=lab-1&framework=numpy")
    page.click("#software summary")
    assert HOSTILE in page.inner_text("#software dl")
    assert page.evaluate("window.pwned") is None
    releases = column(page, "#software", "release")
    new = dict(zip(releases, column(page, "#software", "new with it"), strict=True))
    assert "blas new BLAS (before: old BLAS)" == new["numpy-2.0.2"]
    assert "" == new["numpy-2.1.3"] == new["numpy-1.24.4"]


def test_a_release_tells_what_came_along_with_it(page: Any, site: str) -> None:
    """Another BLAS stands above the kernels that changed with it, and how a kernel ran before
    and since below each."""
    open_page(page, site, "release.html#release=numpy-2.0.2")
    assert "blas new BLAS (before: old BLAS)" in page.inner_text("#machines .news")
    page.click("#machines tbody tr:first-child .open")
    told = page.inner_text("#machines tr.detail")
    assert "brgemm (before: jit)" in told


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_is_filtered_and_sorted(page: Any, site: str, width: int) -> None:
    """Sorted by a click, the other way by another; the filter keeps rows with all its words."""
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    page.click("#table thead button:text-is('time')")
    assert "descending" == page.get_attribute("#table th:has(button:text-is('time'))", "aria-sort")
    down = column(page, "#table", "time")
    page.click("#table thead button:text-is('time')")
    up = column(page, "#table", "time")
    assert up[0] != down[0]
    assert sorted(up) == sorted(down)
    page.fill("#table input[type=search]", "numpy 2.2.6")
    assert ["numpy-2.2.6"] == column(page, "#table", "release")


def test_a_table_can_be_taken_along(page: Any, site: str) -> None:
    """As CSV with plain numbers and their units, and as Markdown as it is shown; with what the page
    tells of all rows, under the kernel's name."""
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    with page.expect_download() as found:
        page.click("#table button:text-is('Download CSV')")
    lines = Path(found.value.path()).read_text().splitlines()
    heads = lines[0].split(",")
    assert ["machine", "release", "released", "time (seconds)"] == heads[:4]
    assert {"99 % interval: high (seconds)", "rate (FLOP/s)", "of the roof (share)"} < set(heads)
    assert len(heads) == len(set(heads))
    assert {"gemm", "float32", "cpu", KERNEL} < set(lines[1].split(","))
    assert f"timeline-gemm-training-forward-float32-{KERNEL}.csv" == found.value.suggested_filename
    assert "lab-1,numpy-2.2.6,2025-05-17,0.0015" in "\n".join(lines)
    page.evaluate(
        """Object.defineProperty(navigator, 'clipboard', {value: {
            writeText: text => Promise.resolve(window.copied = text)}})"""
    )
    page.click("#table button:text-is('Copy as Markdown')")
    copied = page.evaluate("window.copied")
    assert "| lab-1 | numpy-2.2.6 | 2025-05-17 | 1.5 ms |" in copied


def test_a_table_that_was_written_has_the_same_tools(page: Any, site: str) -> None:
    """The list of releases: filtered, sorted and taken along like any other."""
    page.goto(f"{site}releases.html")
    page.fill("main input[type=search]", "torch")
    assert 2 == page.locator("main tbody tr:visible").count()
    with page.expect_download() as found:
        page.click("button:text-is('Download CSV')")
    lines = Path(found.value.path()).read_text().splitlines()
    assert "release,released,measured on" == lines[0]
    assert lines[1].startswith("torch 2.5.1")
    page.click("main thead button:text-is('released')")
    assert "torch 2.3.1" in page.inner_text("main tbody tr:visible >> nth=0")


def test_written_tables_hold_numbers_and_their_commands(page: Any, site: str) -> None:
    """Seconds are plain in CSV, headings and rows have their scope, and each framework of a row
    its command; of verdicts it is the one that confirms them."""
    page.goto(f"{site}frameworks.html")
    page.locator("details[data-machine=lab-1] summary").click()
    with page.expect_download() as found:
        page.click("main details button:text-is('Download CSV')")
    assert "frameworks-lab-1-gemm-forward-float32.csv" == found.value.suggested_filename
    head, *lines = Path(found.value.path()).read_text().splitlines()
    assert head.startswith("problem,set,numpy 2.2.6 (seconds),torch 2.5.1 (seconds),")
    assert f"{KERNEL},training,0.0015,0.00031," in "\n".join(lines)
    assert lines[0].endswith(",lab-1,gemm,forward,float32")
    assert 0 == page.locator("thead th:not([scope=col]), tbody td:first-child").count()
    page.click("main details button.open")
    assert [
        'asv run "torch-2.5.1^!"',
        'asv run "numpy-2.2.6^!"',
    ] == [text.partition(" --bench")[0] for text in page.locator(".detail code").all_inner_texts()]
    page.goto(f"{site}verdicts.html")
    page.click("main button.open")
    told = page.inner_text(".detail code")
    assert "deepbench verdict --machine lab-1 --release numpy-2.0.2 --confirm" == told


def test_names_of_strangers_stay_text_wherever_they_are_taken(page: Any, site: str) -> None:
    """A name is no markup in Markdown and no formula in a spreadsheet."""
    open_page(page, site, "index.html")
    page.evaluate(
        """() => {
            window.taken = [];
            Object.defineProperty(navigator, 'clipboard', {value: {
                writeText: text => Promise.resolve(taken.push(text))}});
            deepbench.save = (name, text) => taken.push(text);
            deepbench.table(document.getElementById('latest'), {name: 'x', rows: ['=1+1|<b>', '@a'],
                columns: [{title: 'name', value: row => row}, {title: 'n', value: () => -1}]});
        }"""
    )
    page.click("#latest button:text-is('Copy as Markdown')")
    page.click("#latest button:text-is('Download CSV')")
    markdown, csv = page.evaluate("taken")
    assert "| =1+1\\|\\<b> | -1 |" in markdown
    assert ["name,n", "'=1+1|<b>,-1", "'@a,-1"] == csv.splitlines()


@pytest.mark.parametrize("form", ["PNG", "SVG"])
def test_a_chart_can_be_taken_along(page: Any, site: str, form: str) -> None:
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    with page.expect_download() as found:
        page.click(f"#chart button:text-is('Download {form}')")
    content = Path(found.value.path()).read_bytes()
    assert content.startswith(b"\x89PNG") if form == "PNG" else b"<svg" in content


def test_a_number_tells_how_it_is_reproduced(page: Any, site: str) -> None:
    """Below it stands the command, which picks this kernel of this release alone."""
    open_page(page, site, "machine.html#machine=lab-1&framework=numpy&precision=float32")
    place = column(page, "#tables", "problem").index(KERNEL)
    page.click(f"#tables tbody tr:nth-child({place + 1}) button.open")
    told = page.inner_text("#tables tr.detail code")
    assert 'asv run "numpy-2.2.6^!" --bench "' in told
    pattern = re.search(r'--bench "(.*)"$', told)
    assert pattern is not None
    assert re.search(pattern[1], f"{published_site.BENCHMARK}('{KERNEL}', 'float32')")
    assert not re.search(pattern[1], f"{published_site.BENCHMARK}('{KERNEL}', 'int8')")


@pytest.mark.parametrize(
    ("line", "release", "told"),
    [
        (
            "{benchmark: 'conv.Training.kernel_forward', problem: {id: 'w7'}, precision: 'float32',"
            " layout: 'channels_last'}",
            "{name: 'torch-2.5.1'}",
            'asv run "torch-2.5.1^!" --bench "'
            "^conv\\.Training\\.kernel_forward\\('w7', 'float32'\""
            '  # with "DEEPBENCH_LAYOUT": ["channels_last"] in the matrix of asv.conf.json',
        ),
        (
            "{benchmark: 'model.InferenceServer.kernel_forward', problem: {id: 'mmoe_b1'},"
            " precision: 'int8', execution: 'compiled'}",
            "{name: 'torch-2.5.1'}",
            'asv run "torch-2.5.1^!" --bench "'
            "^model\\.InferenceServer\\.kernel_forward\\('mmoe_b1', 'int8'\""
            '  # with "DEEPBENCH_EXECUTION": ["compiled"] in the matrix of asv.conf.json',
        ),
        (
            "{machine: {name: 'our card'}}",
            "{name: 'published-2017.7.14', published: true}",
            "deepbench export published.csv --machine 'our card' --release published-2017.7.14",
        ),
    ],
)
def test_a_command_is_one_that_works(
    page: Any, site: str, line: str, release: str, told: str
) -> None:
    """Conditions are named where asv takes them from; what was published is exported to a file."""
    open_page(page, site, "timeline.html")
    assert told == page.evaluate(f"deepbench.command({line}, {release})")


# Timeline


@pytest.mark.parametrize("width", WIDTHS)
def test_an_address_restores_the_view(page: Any, site: str, width: int) -> None:
    """What is chosen is in the address, and opening that shows the same."""
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, site, "timeline.html")
    page.select_option("#problem", SECOND)
    page.select_option("#y", "relative")
    page.select_option("#x", "order")
    page.uncheck("#frameworks input[value=torch]")
    chosen, shown = page.url, rows(page, "#table")
    open_page(page, site, chosen.removeprefix(site))
    assert shown == rows(page, "#table")
    assert "relative" == page.input_value("#y")
    assert not page.is_checked("#frameworks input[value=torch]")
    assert page.is_checked("#frameworks input[value=numpy]")


def test_another_address_in_the_same_tab_is_another_page(page: Any, site: str) -> None:
    """What it does not name is as usual again, whatever was chosen before."""
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm&y=relative&x=order&scale=log")
    page.uncheck("#frameworks input[value=torch]")
    page.evaluate("address => { location.hash = address; }", "machine=lab-1&family=gemm")
    page.wait_for_function(
        "() => document.querySelectorAll('#frameworks input:checked').length === 2"
    )
    chosen = [page.input_value(place) for place in ("#x", "#y", "#scale")]
    assert ["date", "seconds", ""] == chosen
    open_page(page, site, "release.html#release=numpy-2.2.6&show=all")
    page.evaluate("address => { location.hash = address; }", "release=numpy-2.0.2")
    page.wait_for_function(
        "() => document.querySelector('#summary')?.textContent.startsWith('numpy-2.0.2')"
    )
    assert "" == page.input_value("#which")


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("timeline.html#machine=lab-9&family=gemm", "machine"),
        ("timeline.html#machine=lab-1&family=gemm&problem=m9", "problem"),
        ("timeline.html#machine=lab-1&family=gemm&framework=jax", "framework"),
        ("machine.html#machine=lab-9", "machine"),
        ("release.html#release=numpy-9", "release"),
        ("compare.html#side=lab-9@numpy&side=lab-1@torch", "machine"),
        ("compare.html#side=lab-1@numpy-9&side=lab-1@torch", "first release"),
        ("models.html#table=nvidia", "source"),
        ("index.html#framework=jax", "framework"),
    ],
)
def test_what_is_not_here_is_said(page: Any, site: str, address: str, what: str) -> None:
    """An address of something that the page does not have shows another, and says so until
    something is chosen."""
    open_page(page, site, address)
    told = page.inner_text("#content .missing")
    assert f"names the {what} \u201c" in told and "do not have" in told
    page.locator("#content select:enabled >> nth=0").dispatch_event("change")
    assert 0 == page.locator("#content .missing").count()


@pytest.mark.parametrize("name", ["machine", "timeline"])
def test_a_late_answer_is_not_shown(page: Any, site: str, name: str) -> None:
    """Who changes back before a machine's lines have come sees those of what is chosen."""
    open_page(page, site, f"{name}.html#machine=lab-1&family=gemm")
    before = rows(page, "#content")
    page.evaluate(
        """() => {
            const load = deepbench.load;
            let first = true;
            deepbench.load = url => {
                if (!url.startsWith('data/lines') || !first) { return load(url); }
                first = false;
                return new Promise(go => setTimeout(go, 300)).then(() => load(url)).then(
                    found => { setTimeout(() => { window.late = true; }, 100); return found; });
            };
        }"""
    )
    if name == "machine":
        page.select_option("#machine", HOSTILE)
        page.select_option("#machine", "lab-1")
    else:
        page.check(f"#machines input >> nth={machine_place(page, HOSTILE)}")
        page.uncheck(f"#machines input >> nth={machine_place(page, HOSTILE)}")
    page.wait_for_function("() => window.late")
    assert before == rows(page, "#content")


def test_a_problem_is_found_by_its_application(page: Any, site: str) -> None:
    """Who looks for DeepSpeech need not know a size."""
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    application = find("gemm", KERNEL).application
    assert application
    assert f"{KERNEL}: {application}" in page.locator("#problem option").all_inner_texts()


def test_lines_of_several_machines_and_frameworks_stand_together(page: Any, site: str) -> None:
    """Each with a name of its own, a band where intervals are known, over real days."""
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    page.check(f"#machines input >> nth={machine_place(page, HOSTILE)}")
    page.wait_for_function(
        "() => document.querySelector('#chart .plot').data.filter(t => t.name).length === 4"
    )
    names = page.evaluate(
        "document.querySelector('#chart .plot').data.filter(t => t.name).map(t => t.name)"
    )
    assert {"lab-1, numpy", "lab-1, torch"} < set(names)
    days = page.evaluate(
        "document.querySelector('#chart .plot').data.find(t => t.name === 'lab-1, torch').x"
    )
    assert ["2024-06-05", "2024-10-29"] == days


def test_a_time_without_an_interval_says_why_and_breaks_the_band(page: Any, site: str) -> None:
    """Two samples give none: not in the table, not behind the point, and the band has a gap."""
    open_page(page, site, f"timeline.html#machine=lab-1&problem={SECOND}&framework=numpy")
    told = dict(
        zip(
            column(page, "#table", "release"),
            column(page, "#table", "99 % interval: low"),
            strict=True,
        )
    )
    few = f"numpy-{published_site.FEW}"
    assert [few] == [release for release, low in told.items() if low == "too few samples"]
    assert all(low.endswith(" ms") for release, low in told.items() if release != few)
    drawn = traces(page, "#chart")
    (line,) = [trace for trace in drawn if "markers" in trace["mode"] and "name" in trace]
    assert ["too few samples" in text for text in line["text"]] == [few in t for t in line["text"]]
    gap = line["x"][[few in text for text in line["text"]].index(True)]
    bands = [trace["x"] for trace in drawn if trace["mode"] == "lines"]
    assert set(line["x"]) - {gap} == {day for band in bands for day in band}
    assert not any(band[0] < gap < band[-1] for band in bands)


def machine_place(page: Any, name: str) -> int:
    values = page.evaluate(
        "Array.from(document.querySelectorAll('#machines input'), box => box.value)"
    )
    place: int = values.index(name)
    return place


def test_a_change_is_marked_with_its_verdict(page: Any, site: str) -> None:
    """numpy 2.0.2 takes half as long again on lab-1, in each of two processes a release."""
    open_page(
        page, site, f"timeline.html#machine=lab-1&family=gemm&problem={KERNEL}&framework=numpy"
    )
    place = column(page, "#table", "release").index("numpy-2.0.2")
    assert column(page, "#table", "verdict")[place].startswith("1.5 times slower (99 % interval: ")
    marks = page.evaluate(
        """document.querySelector('#chart .plot').data.filter(
            trace => trace.x.length === 1 && trace.marker.symbol === 'triangle-up').length"""
    )
    assert 1 == marks


# Compare, release, models


def test_sides_are_compared_over_what_both_have(page: Any, site: str) -> None:
    """The ratio of torch's newest times to numpy's is that of the seconds."""
    open_page(page, site, "compare.html#side=lab-1@numpy&side=lab-1@torch")
    assert [["gemm", "float32"]] == [row[:2] for row in rows(page, "#groups")]
    assert [f"{1.5 / 0.31:.3g} times faster"] == column(page, "#groups", COMPARED)
    assert ["2"] == column(page, "#groups", "kernels of both")
    open_page(page, site, "compare.html#side=lab-1@numpy-1.26.4&side=lab-1@numpy-2.0.2")
    assert ["1.5 times slower"] == column(page, "#groups", COMPARED)


def test_the_charts_of_a_comparison_hold_its_ratios(page: Any, site: str) -> None:
    """Bars are the ratios, points both times, the heatmap each release against the first."""
    open_page(page, site, "compare.html#side=lab-1@numpy&side=lab-1@torch")
    faster, slower = traces(page, "#bars")
    assert [math.log2(0.31 / 1.5)] * 2 == pytest.approx(faster["y"], rel=1e-3)
    assert [] == slower["y"]
    points, _ = traces(page, "#scatter")
    pairs = sorted(zip(points["x"], points["y"], strict=True))
    assert [(1.5e-3, 0.31e-3), (3e-3, 0.62e-3)] == [pytest.approx(pair) for pair in pairs]
    (heat,) = traces(page, "#heat")
    assert math.log2(1.5) == pytest.approx(heat["z"][0][heat["x"].index("2.0.2")])


def test_a_comparison_keeps_what_is_chosen(page: Any, site: str) -> None:
    """Which side stands against the first, and the heatmap's framework, are in the address."""
    sides = "side=lab-1@numpy&side=lab-1@torch&side=lab-1@numpy-1.26.4"
    open_page(page, site, f"compare.html#{sides}")
    page.select_option("#other", "2")
    page.select_option("#heat-framework", "torch")
    shown, chosen = rows(page, "#kernels"), page.url
    open_page(page, site, chosen.removeprefix(site))
    assert ("2", "torch") == (page.input_value("#other"), page.input_value("#heat-framework"))
    assert shown == rows(page, "#kernels")


def test_the_first_page_keeps_what_is_chosen(page: Any, site: str) -> None:
    open_page(page, site, "index.html")
    page.select_option("#kind", "published")
    open_page(page, site, page.url.removeprefix(site))
    assert "published" == page.input_value("#kind")


def test_a_release_tells_what_it_changed(page: Any, site: str) -> None:
    """With the command that measures old and new again; other releases changed nothing."""
    open_page(page, site, "release.html#release=numpy-2.0.2")
    assert [KERNEL] == column(page, "#machines", "problem")
    titles = [text.strip() for text in page.locator("#machines thead th").all_inner_texts()]
    assert titles.index("verdict") < titles.index("change") < titles.index("vs previous release")
    assert "deepbench verdict --machine lab-1 --release numpy-2.0.2 --confirm" in page.inner_text(
        "#machines .command code"
    )
    page.select_option("#release", "numpy-2.2.6")
    page.wait_for_function("() => location.hash.includes('2.2.6')")
    page.wait_for_function("() => !document.querySelector('#machines table')")


def test_a_model_has_its_percentiles_and_efficiency(page: Any, site: str) -> None:
    """As the saved runs of `deepbench latency` and `deepbench scaling` tell them."""
    open_page(page, site, "models.html#table=stcp920")
    assert ["20 ms", "24 ms", "31 ms"] == [
        column(page, "#latency", title)[0] for title in ("median", "90 %", "99 %")
    ]
    assert ["400"] == column(page, "#latency", "items per second")
    measured = [row for row in rows(page, "#scaling") if row[1] == "lab-1"]
    assert ["100 %", "80 %"] == [row[-1] for row in measured]


def test_a_model_has_its_overhead_by_release(page: Any, site: str, html: Path) -> None:
    """What its operations leave of the step, below zero where they leave less than nothing."""
    data = json.loads(unpacked((html / "data/models.js").read_text("utf-8")))
    open_page(page, site, "models.html")
    assert "--apart" in page.inner_text("#overhead .command code")
    told = {"machine": "lab 1", "problem": "mmoe_b1024", "operation": "forward"}
    data["apart"] = [
        told | {"release": "torch-2.3.1", "precision": "float32", "seconds": 2.0, **own}
        for own in (
            {"operations": 1.5, "interval": [0.1, 0.4]},
            {"operations": 3.0, "interval": []},
        )
    ]
    changed = packed(json.dumps(data))
    page.route("**/data/models.js", lambda route: route.fulfill(body=changed))
    page.reload()
    page.wait_for_selector("#overhead table")
    assert ["25.0 %", "-50.0 %"] == column(page, "#overhead", "overhead")
    assert ["10.0 %", ""] == column(page, "#overhead", "from")


# Themes and keys


def test_the_theme_is_kept_from_page_to_page(page: Any, site: str) -> None:
    open_page(page, site, "index.html")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    open_page(page, site, "machine.html")
    assert after == page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_keys_alone_are_enough(page: Any, site: str) -> None:
    """The first tab leads past the ways without touching what the address holds; a table is
    sorted by Enter."""
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    address = page.url
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "main" == page.evaluate("document.activeElement.id")
    assert address == page.url
    page.focus("#table thead button:text-is('time')")
    page.keyboard.press("Enter")
    assert 1 == page.locator("#table [aria-sort]").count()
