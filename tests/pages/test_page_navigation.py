"""Our own pages as they are used: Back and Forward, copying, searching, ticking."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from browsing import open_chip, open_page, rows
from published_site import HOSTILE, unpacked

from deepbench_ops.pages.data_encoding import script_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

READY = "body[data-ready]"
TICKED = "Array.from(document.querySelectorAll('#machines input:checked'), box => box.value)"


def goes(page: Any, way: str) -> None:
    """Press the browser's Back or Forward, and wait until the page follows."""
    before = page.url
    page.evaluate(f"history.{way}()")
    page.wait_for_function("before => location.href !== before", arg=before)
    page.wait_for_selector(READY)


# Back and Forward


@pytest.mark.parametrize(
    ("address", "select", "value"),
    [
        ("index.html", "#kind", "published"),
        ("machine.html#machine=lab-1", "#framework", "torch"),
        ("timeline.html#machine=lab-1&family=gemm", "#problem", "m7680_n64_k2560_NN"),
        ("compare.html#side=lab-1@numpy&side=lab-1@torch", "#application", "DeepSpeech"),
        ("models.html", "#table", "paper"),
        ("release.html#release=numpy-2.0.2", "#before", "numpy-1.24.4"),
    ],
)
def test_back_undoes_a_choice(page: Any, site: str, address: str, select: str, value: str) -> None:
    """Back stays on the page, Forward chooses again, and the focus stays."""
    open_page(page, site, address)
    first = page.input_value(select)
    assert value != first
    shown = rows(page, "#content")
    page.focus(select)
    page.select_option(select, value)
    page.wait_for_timeout(300)
    goes(page, "back")
    assert first == page.input_value(select)
    assert shown == rows(page, "#content")
    assert select == "#" + page.evaluate("document.activeElement.id")
    goes(page, "forward")
    assert value == page.input_value(select)


def test_each_choice_is_one_step(page: Any, site: str) -> None:
    """Two menus and a box are undone one after another, charts included."""
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    steps = page.evaluate("history.length")
    open_chip(page, "#x")
    page.select_option("#x", "order")
    page.select_option("#y", "relative")
    open_chip(page, "#frameworks")
    page.uncheck("#frameworks input[value=torch]")
    assert steps + 3 == page.evaluate("history.length")
    goes(page, "back")
    assert page.is_checked("#frameworks input[value=torch]")
    assert ("order", "relative") == (page.input_value("#x"), page.input_value("#y"))
    goes(page, "back")
    assert ("order", "seconds") == (page.input_value("#x"), page.input_value("#y"))
    assert 1 == page.locator("#chart .plot > svg").count()


def test_a_page_stays_where_it_was_scrolled_to(page: Any, site: str) -> None:
    """Back does not scroll a page whose height stays."""
    page.set_viewport_size({"width": 1280, "height": 500})
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    page.evaluate("scrollTo(0, 300)")
    open_chip(page, "#x")
    page.locator("#x").evaluate("select => { select.value = 'order'; select.onchange(); }")
    page.wait_for_timeout(300)
    goes(page, "back")
    assert 300 == page.evaluate("scrollY")


def test_back_leads_to_the_previous_page(page: Any, site: str) -> None:
    """Opening a page adds no step of its own."""
    open_page(page, site, "index.html")
    page.click("header a:text-is('Models')")
    page.wait_for_selector(READY)
    page.go_back()
    page.wait_for_selector(READY)
    assert "/index.html" in page.url


def test_back_closes_a_section_and_undoes_a_search(page: Any, site: str) -> None:
    """A typed search is one step, and so is each section."""
    opened = "details[open]"
    page.goto(f"{site}frameworks.html")
    summaries = page.locator("details summary")
    summaries.nth(0).click()
    page.wait_for_selector("details[open] table")
    summaries.nth(1).click()
    page.wait_for_function("() => document.querySelectorAll('details[open] table').length === 2")
    page.locator("#find").press_sequentially("gemm", delay=20)
    page.wait_for_function("() => location.hash.startsWith('#find=gemm')")
    page.evaluate("history.back()")
    page.wait_for_function("() => document.getElementById('find').value === ''")
    assert 2 == page.locator(opened).count()
    page.evaluate("history.back()")
    page.wait_for_function("() => document.querySelectorAll('details[open]').length === 1")
    page.evaluate("history.back()")
    page.wait_for_function("() => document.querySelectorAll('details[open]').length === 0")
    page.evaluate("history.go(3)")
    page.wait_for_function("() => document.getElementById('find').value === 'gemm'")
    assert 2 == page.locator(opened).count()


@pytest.mark.parametrize(("name", "heading"), [("releases", "released"), ("verdicts", "release")])
def test_back_undoes_order_and_filter_of_a_written_table(
    page: Any, site: str, html: Path, name: str, heading: str
) -> None:
    """The address holds both, and opens the same rows."""
    page.goto(f"{site}index.html")
    page.wait_for_selector(READY)
    text = (html / f"{name}.html").read_text("utf-8")
    first = re.compile(r"(<tbody>\s*)(<tr.*?</tr>)", re.DOTALL)
    many = first.sub(lambda found: found[1] + 9 * found[2], text)  # few rows have no filter
    page.route(f"**/{name}.html*", lambda route: route.fulfill(body=many, content_type="text/html"))
    page.goto(f"{site}{name}.html")
    before = rows(page, "main")
    page.click(f"main thead button:text-is('{heading}') >> nth=0")
    assert f"sort={heading}" in page.url
    page.locator("main input[type=search] >> nth=0").press_sequentially("2.0.2", delay=20)
    assert "find=2.0.2" in page.url
    found, address = rows(page, "main"), page.url
    goes(page, "back")
    assert "" == page.input_value("main input[type=search] >> nth=0")
    goes(page, "back")
    assert before == rows(page, "main")
    page.goto("about:blank")
    page.goto(address)
    assert found == rows(page, "main")
    assert "2.0.2" == page.input_value("main input[type=search] >> nth=0")


# Copying


@pytest.mark.parametrize(("works", "said"), [(True, "Copied"), (False, "Not copied")])
def test_copying_shows_its_outcome(page: Any, site: str, works: bool, said: str) -> None:
    """On the button for a while, and to screen readers."""
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    page.evaluate(
        """works => {
            const write = () => works ? Promise.resolve() : Promise.reject(new Error('refused'));
            Object.defineProperty(navigator, 'clipboard', {value: {writeText: write}});
            document.execCommand = () => works;
        }""",
        works,
    )
    page.click("#table button:text-is('Copy as Markdown')")
    page.wait_for_selector(f"#table button:text-is('{said}')")
    page.wait_for_function(
        "said => document.getElementById('status').textContent === said", arg=said
    )
    assert "status" == page.get_attribute("#status", "role")
    page.wait_for_selector("#table button:text-is('Copy as Markdown')", timeout=4000)


# Printing


@pytest.mark.parametrize("name", ["index", "machine", "timeline", "compare", "models", "verdicts"])
def test_paper_says_where_it_is_from(page: Any, site: str, name: str) -> None:
    """Day and address at the end, no controls, and tables that do not scroll."""
    page.goto(f"{site}{name}.html")
    page.wait_for_selector(READY)
    assert page.locator("#printed").is_hidden()
    page.emulate_media(media="print")
    day = page.get_attribute("body", "data-day")
    shown = page.inner_text("#printed")
    assert shown.startswith(f"Results published {day}, {name}.html")
    assert shown.endswith(page.url.partition(".html")[2])
    assert 0 == page.locator("header:visible, form:visible, .tools:visible").count()
    heights = page.eval_on_selector_all(
        ".scroll", "boxes => boxes.map(box => getComputedStyle(box).maxHeight)"
    )
    assert {"none"} >= set(heights)


# Groups


def test_a_group_opens_to_all_its_kernels(page: Any, site: str, html: Path) -> None:
    """Each kernel has its change and a link to its timeline."""
    data = json.loads(unpacked((html / "data/index.js").read_text("utf-8")))
    (cause,) = data["latest"]
    first = cause["lines"][0]
    cause["lines"] = [
        copy.deepcopy(first) | {"title": f"kernel{i}", "ratio": ratio}
        for i, ratio in enumerate((4.0, 2.5, 1.5, 0.5, 2.0, 3.0, 1.25))
    ]
    cause["lines"][6]["at"]["problem"] = "m7680_n64_k2560_NN"
    cause |= {"scope": "family"}
    changed = script_of(json.dumps(data))
    page.route("**/data/index.js", lambda route: route.fulfill(body=changed))
    open_page(page, site, "index.html")
    page.click("#latest summary:text-is('matrix products, float32: 7 kernels')")
    rows = page.locator("#latest details li").all_inner_texts()
    assert 7 == len(rows)
    assert rows[0].endswith("4\u00d7 slower") and rows[3].endswith("2\u00d7 faster")
    page.click("#latest details a:has-text('kernel6')")
    page.wait_for_selector("#table table")
    assert "m7680_n64_k2560_NN" == page.input_value("#problem")
    assert page.is_checked("#frameworks input[value=numpy]")
    assert not page.is_checked("#frameworks input[value=torch]")


def test_a_change_opens_a_timeline_that_shows_its_direction(page: Any, site: str) -> None:
    """A verdict of a slower kernel opens a timeline that names the factor."""
    page.goto(f"{site}verdicts.html")
    page.locator("main tbody tr td a").first.click()
    page.wait_for_selector(READY)
    assert "/timeline.html#" in page.url
    assert ["1.5\u00d7 slower"] == page.locator("#chart .mark.slower text").all_text_contents()


# Searching


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("m", 0),
        ("DeepSpeech", 4),
        ("deepspeech lab-1", 2),
        ("numpy-2.2.6", 4),
        ("1760", 2),
        ("speech 7680 lab-1", 1),
        ("resnet", 0),
    ],
)
def test_a_search_matches_words(page: Any, site: str, words: str, found: int) -> None:
    """Of machines, releases, problems and applications; a single letter matches a whole word."""
    page.goto(f"{site}frameworks.html")
    page.fill("#find", words)
    noun = "kernel" if found == 1 else "kernels"
    page.wait_for_selector(f"#found:has-text('{found} {noun} found')")
    sections = page.locator("details[data-key]:not([hidden])")
    counts_shown = [
        text.split(": ")[1].split(" of ") for text in sections.locator("summary").all_inner_texts()
    ]
    assert found == sum(int(counts[0].split()[0]) for counts in counts_shown)
    assert (found == 0) == page.locator("#found a[href='timeline.html']").is_visible()


def test_a_filter_matches_words_outside_the_table(page: Any, site: str) -> None:
    """The family of a timeline's rows matches; an m inside a name does not."""
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    everything = len(rows(page, "#table"))
    page.fill("#table input[type=search]", "gemm")
    assert everything == len(rows(page, "#table"))
    page.fill("#table input[type=search]", "m")
    assert 0 == len(rows(page, "#table"))


def test_one_kernel_is_written_in_the_singular(page: Any, site: str, html: Path) -> None:
    """Sentences that count say "1 kernel"."""
    data = json.loads(unpacked((html / "data/index.js").read_text("utf-8")))
    for one in data["standings"]:
        one["sources"] = [[source[0], 1, source[2]] for source in one["sources"]]
    changed = script_of(json.dumps(data))
    page.route("**/data/index.js", lambda route: route.fulfill(body=changed))
    open_page(page, site, "index.html")
    page.click("#machines button.open")
    assert "1 kernel of " in page.inner_text("#machines tr.detail")


# Ticking


def test_another_family_keeps_the_ticked_machine(page: Any, site: str, html: Path) -> None:
    """Where it has no results of the family the page says so and ticks no other machine."""
    file = "data/catalogue.js"
    data = json.loads(unpacked((html / file).read_text("utf-8")))
    other = copy.deepcopy(next(m for m in data["machines"] if m["name"] == "lab-1"))
    data["machines"].append(other | {"name": "other", "families": {"conv": 1}})
    lines = unpacked((html / f"data/lines/{other['key']}/gemm.js").read_text("utf-8"))
    page.route(f"**/{file}", lambda route: route.fulfill(body=script_of(json.dumps(data))))
    page.route("**/conv.js", lambda route: route.fulfill(body=script_of(lines)))
    open_page(page, site, "timeline.html#machine=lab-1&family=gemm")
    page.select_option("#family", "conv")
    page.wait_for_selector("#summary:has-text('No results of convolutions on lab-1')")
    assert ["lab-1"] == page.evaluate(TICKED)
    note = page.text_content("#machines label:has(:checked)").strip()
    assert "lab-1 (no results of this family)" == note
    open_chip(page, "#machines")
    page.check("#machines input[value=other]")
    page.wait_for_selector("#table table")
    page.select_option("#family", "gemm")
    page.wait_for_selector("#summary:has-text('No results of matrix products on other')")
    assert ["lab-1", "other"] == page.evaluate(TICKED)
    assert HOSTILE not in page.evaluate(TICKED)


def test_the_console_has_no_warnings(browser: Any, site: str) -> None:
    """On a phone, where no chart of the first page is in view; browsers warn of unused preloads
    after some seconds."""
    context = browser.new_context(viewport={"width": 400, "height": 700})
    page = context.new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    open_page(page, site, "index.html")
    page.wait_for_timeout(5000)
    context.close()
    assert [] == messages
