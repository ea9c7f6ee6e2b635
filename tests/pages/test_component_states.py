"""Every component of the pages in four states: without data, with one, many and broken ones."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from published_site import unpacked

from deepbench_ops.pages.data_encoding import script_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]

ROW = """(at, ratio) => ({ratio: ratio, plain: ratio, verdict: 'slower', noise: 0.01,
    line: {heading: 'products', title: 'products p' + at, problem: {title: 'p' + at},
        operation: 'forward', precision: 'p'}})"""
LINE = """at => ({seconds: [1e-3 * (1 + at)], at: [0], releases: [catalogue.releases[0]],
    flops: 1e9, bytes: 1e6, roof: 1e13, family: 'gemm', heading: 'products',
    title: 'products p' + at, problem: {id: 'p' + at}, set: 'training', operation: 'forward',
    precision: 'float32', machine: catalogue.machines[0]})"""
COMPONENTS = {
    # page, call with the list `all` of data made by `one(at)`, selector of one of its marks
    "bars": (
        "models",
        "place.append(deepbench.bar_rows(all, ['name', 'bar', 'factor'], 99))",
        "at => ({name: 'n' + at, bars: [{kind: 'a', value: 1 + at, text: 't'}]})",
        "tbody tr",
    ),
    "dot plot": (
        "compare",
        "place.append(deepbench.dots(all, ['name', 'ratio', 'rests on'], 99))",
        "at => ({name: 'n' + at, ratio: 1 + at, low: 1, high: 2 + at, kind: 'slower'})",
        ".mark",
    ),
    "strip of ratios": (
        "release",
        "place.append(deepbench.strips([{key: 'g', label: 'g', noise: 0.1, rows: all}], '', at "
        "=> at))",
        f"at => ({ROW})(at, 1 + at)",
        "circle",
    ),
    "sparkline": (
        "release",
        "place.append(deepbench.sparkline(all, 0, ''))",
        "at => 1 + at",
        "circle",
    ),
    "histogram": (
        "operations",
        "place.append(deepbench.histogram(all, [{name: 'm', at: 10}], 400))",
        "at => Math.pow(10, at % 3) * 1.1",
        "rect",
    ),
    "table": (
        "index",
        "deepbench.table(place, {name: 't', title: 't', rows: all, columns: [{title: 'a', "
        "number: true,"
        " value: row => row.value, text: value => deepbench.digits(value, 3)}]})",
        "at => ({value: at})",
        "tbody tr",
    ),
    "chart": (
        "timeline",
        "deepbench.plot(place, {name: 'x', title: 'x', sides: '', described: 'x',"
        " series: [{label: 'l', points: all}],"
        " x: {type: 'linear', label: String}, y: {type: 'log', title: 'y', label: String}})",
        "at => ({x: at, y: 1 + at, kind: 'filled', said: ['s']})",
        "svg .point",
    ),
    "roofline": (
        "machine",
        "deepbench.roofline(place, {families: ['gemm'], note: line => [line.family], described: "
        "'r',"
        " sides: [{name: 'm', lines: all, peak: 1e13, bandwidth: 1e12}]})",
        LINE,
        "svg .kernel",
    ),
    "shares of families": (
        "machine",
        "deepbench.machine_families(place, all.length ? ['gemm'] : [],"
        " {lines: all, others: null, chosen: '', choose: at => at, catalogue: catalogue})",
        LINE,
        "tbody tr",
    ),
    "kernel table": (
        "machine",
        "deepbench.kernel_table(place, {name: 'k', title: 'k', lines: all, catalogue: catalogue})",
        LINE,
        "tbody tr",
    ),
    "heat table of nodes": (
        "nodes",
        "deepbench.node_heat(place, {type: {machine: 'm', nodes: all}, catalogue: catalogue,"
        " chosen: () => '', choose: at => at})",
        "at => ({node: 'n' + at, day: '2026-01-01',"
        " levels: {gemm: {ratio: 1 + at, kernels: 3, low: 1, high: 2, kind: 'slow', since: "
        "null}}})",
        "tbody tr",
    ),
    "kernels of a node": (
        "nodes",
        "deepbench.node_kernels(place, {name: 'k', rows: all, catalogue: catalogue})",
        "at => ({ratio: 1 + at, low: 1, high: 2, kind: 'slow', since: null, seconds: 1, median: 1,"
        " family: 'gemm', operation: 'forward', set: 'training', precision: 'float32', problem: "
        "'p',"
        " title: '', release: 'r'})",
        "tbody tr",
    ),
    "fastest machines": (
        "index",
        "deepbench.index_pictures.fastest(place, {fastest: all.length ? [{family: 'gemm',"
        " precision: 'float32', kernels: 2, counts: 'FLOP/s', ranks: all}] : []}, catalogue,"
        " {family: 'gemm', precision: 'float32'})",
        "at => ({machine: catalogue.machines[0].name, rate: 1e9 * (1 + at), roof: 1e12, year: 2026,"
        " frameworks: ['numpy'], published: false, kernels: 2, through: ''})",
        "tbody tr",
    ),
    "latest changes": (
        "index",
        "deepbench.index_pictures.changes(place, {latest: all, recent: all.length, changes: 9},"
        " catalogue)",
        "at => ({machine: 'm', before: 0, after: 1, slower: true, ratio: 2, scope: 'kernel', "
        "watched: 1,"
        " span: [1.9, 2.1], sure: true, course: [[0, 1], [1, 2]],"
        " lines: [{at: {family: 'gemm', operation: 'forward', precision: 'p'}, title: 't'}]})",
        "li",
    ),
    "heat matrix of frameworks": (
        "index",
        "deepbench.index_pictures.frameworks(place, {ratios: all.length ? {m: all} : {}}, "
        "catalogue,"
        " {machine: 'm'})",
        "at => ({family: 'gemm', precision: 'p' + at, kernels: 3,"
        " ratios: {numpy: [1, 3, true], torch: [2 + at, 3, true]}})",
        "tbody tr",
    ),
    "speeds since the first release": (
        "index",
        "deepbench.index_pictures.speeds(place, {speeds: all}, catalogue, at => at)",
        "at => ({machine: 'm', framework: 'f' + at, family: 'gemm', precision: 'float32', at: "
        "[0, 1],"
        " values: [1, 2 + at], unusual: {}})",
        ".multiple",
    ),
    "forest of families": (
        "compare",
        "deepbench.comparison.forest(place, catalogue, all, {first: 'a', other: 'b'}, () => '#')",
        "at => ({family: 'gemm', precision: 'p', ratio: 1 + at, low: 1, high: 3 + at, from: 1, "
        "to: 9,"
        " shared: 2})",
        ".mark",
    ),
    "curve of ratios": (
        "compare",
        "deepbench.comparison.distribution(place, all, {first: 'a', other: 'b'}, 'products')",
        "at => ({ratio: 1 + at})",
        ".line",
    ),
    "problems and releases": (
        "compare",
        "deepbench.comparison.releases(place, catalogue, all, {name: 'x', title: 'x', sides: ''})",
        LINE,
        "tbody tr",
    ),
}
FEWER_MARKS = {
    # of several data they have this many marks, and without data this many
    "sparkline": (1, 0),
    "histogram": (3, 0),
    "shares of families": (1, 0),
    "fastest machines": (12, 0),
    "latest changes": (5, 0),
    "heat matrix of frameworks": (6, 0),
    "speeds since the first release": (4, 0),
    "curve of ratios": (1, 1),
    "problems and releases": (25, 0),
}
MANY = 30
TRY = """([call, one, state, many]) => deepbench.load('data/catalogue').then(catalogue => {
    document.getElementById('try')?.remove();  // that of the test before
    const place = document.createElement('div');
    place.id = 'try';
    place.style.cssText = 'width: 600px; height: 300px';
    document.getElementById('main').prepend(place);
    const make = new Function('catalogue', 'return ' + one)(catalogue);
    const all = {empty: [], one: [make(0)], broken: [null],
        many: Array.from({length: many}, (_, at) => make(at))}[state];
    new Function('place', 'all', 'catalogue', 'deepbench', call)(place, all, catalogue, deepbench);
    return new Promise(done => {  // a chart is drawn once the page is laid out
        requestAnimationFrame(() => setTimeout(() => done(place.outerHTML)));
    });
})"""


@pytest.fixture(scope="module")
def tried(browser: Any, site: str) -> Iterator[Callable[[str, str], tuple[Any, str]]]:
    """Draws a component on its page, in the place of the one before; returns the page, and the
    component as HTML."""
    context = browser.new_context(bypass_csp=True, viewport={"width": 1280, "height": 900})

    @cache
    def opened(name: str) -> Any:
        page = context.new_page()
        page.goto(f"{site}{name}.html")
        page.wait_for_selector("body[data-ready]")
        return page

    def draw(name: str, state: str) -> tuple[Any, str]:
        at, call, one, _ = COMPONENTS[name]
        page = opened(at)
        page.bring_to_front()
        return page, page.evaluate(TRY, [call, one, state, MANY])

    yield draw
    context.close()


@pytest.mark.parametrize("state", ["empty", "one", "many"])
@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_draws_what_it_is_given(
    tried: Callable[[str, str], tuple[Any, str]], name: str, state: str
) -> None:
    """Without data no marks, with one a single one; nothing is shown that is no number."""
    page, drawn = tried(name, state)
    many, none = FEWER_MARKS.get(name, (MANY, 0))
    expected = {"empty": none, "one": 1, "many": many}[state]
    assert expected == page.locator(f"#try {COMPONENTS[name][3]}").count()
    for wrong in ("NaN", "undefined", "Infinity", "null"):
        assert wrong not in drawn
    assert 0 == page.locator("#try .torn").count()


@pytest.mark.parametrize("name", COMPONENTS)
def test_broken_data_are_one_line_in_the_place_of_a_component(
    tried: Callable[[str, str], tuple[Any, str]], name: str
) -> None:
    """It says that the data are broken; the rest of the page stays."""
    page, _ = tried(name, "broken")
    assert 1 == page.locator("#try > *").count()
    assert "its data are broken" in page.inner_text("#try .torn")
    assert 1 == page.locator("h1").count()


def changed(data: Any, path: str, value: Any) -> Any:
    """The data with another value at a path, such as standings.0.newest."""
    *way, last = path.split(".")
    place = data
    for step in way:
        place = place[int(step) if step.isdigit() else step]
    place[int(last) if last.isdigit() else last] = value
    return data


@pytest.mark.parametrize(
    ("address", "file", "path", "broken", "fine"),
    [
        ("index.html", "index", "latest", "#changed", "#machines table"),
        ("index.html", "index", "standings.0.newest", "#machines", "#changed li"),
    ],
)
def test_the_rest_of_a_page_with_broken_data_is_drawn(
    browser: Any, site: str, html: Path, address: str, file: str, path: str, broken: str, fine: str
) -> None:
    """One picture or table has a line in its place."""
    source = html / "data" / f"{file}.js"
    data = changed(json.loads(unpacked(source.read_text("utf-8"))), path, [None])
    page = browser.new_context().new_page()
    page.route(f"**/data/{file}.js", lambda route: route.fulfill(body=script_of(json.dumps(data))))
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")
    assert "its data are broken" in page.inner_text(f"{broken} .torn")
    assert page.locator(fine).first.is_visible()
    page.context.close()


def test_a_broken_search_file_is_reported_in_the_box(browser: Any, site: str, html: Path) -> None:
    """The box can no longer be used, and says why; the page stays."""
    page = browser.new_context().new_page()
    page.route("**/data/search.js", lambda route: route.fulfill(body=script_of('{"machines": 1}')))
    page.goto(f"{site}index.html")
    page.wait_for_selector("body[data-ready]")
    page.focus("#search")
    page.wait_for_selector("#search:disabled")
    assert "Search needs data/search.js" in page.get_attribute("#search", "placeholder")
    assert page.locator("#machines table").is_visible()
    page.context.close()
