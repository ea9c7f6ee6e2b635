"""A large family's times are in several files, and a page reads those of the kernel it shows."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import published_site
import pytest
from example_points import point

from deepbench_ops.analysis import kernel_lines
from deepbench_ops.pages import line_data

RESULTS = Path(__file__).resolve().parents[2] / "results"
FEW = 5
"""Times in a file: those of one kernel, of most lines here."""

ADDED = {"part", "times"}
"""Fields that only a line with its times in another file has."""


@pytest.fixture(scope="module")
def lines() -> list[kernel_lines.Line]:
    """The lines of matrix products on a machine of the project's results."""
    from deepbench_ops.analysis import machine_points
    from deepbench_ops.releases import release_table

    timeline = release_table.timeline(release_table.load())
    known = {release.hash: release for release in timeline}
    found = machine_points.load(RESULTS, "epyc-9005-2core", known, rounds=True)
    own = [point for point in found if point.family == "gemm"]
    return kernel_lines.lines(own, timeline, fewest=1)


def rejoined(files: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines as one file has them, with problems and notes in place of their indices."""
    index = files["gemm"]
    found = []
    for line in index["lines"]:
        notes = index.get("notes", [])
        if "part" in line:
            number, place = line["part"]
            part = files[f"gemm-{number}"]
            rest, notes = part["lines"][place], part["notes"]
            assert not rest.keys() & line.keys()
            assert line["times"] == len(rest["seconds"])
            line = {**line, **rest}
        own = {name: line[name] for name in line.keys() - ADDED}
        own["problem"] = index["problems"][line["problem"]]
        own["notes"] = [notes[place] for place in line.get("notes", [])]
        found.append(own)
    return found


def test_a_line_has_the_number_of_threads_of_each_time():
    """Where it is known, since comparisons need it."""
    one = point(threads="1")
    line = kernel_lines.Line((one, one._replace(threads="")))
    assert ["1", ""] == line_data.content([line], None, {one.release: 0})["lines"][0]["threads"]
    unknown = kernel_lines.Line((one._replace(threads=""),))
    assert "threads" not in line_data.content([unknown], None, {one.release: 0})["lines"][0]


@pytest.mark.parametrize("few", [1, 20, 100])
def test_the_parts_have_the_content_of_one_file(lines, monkeypatch, few):
    """Each line once, in the same order, with every field; a kernel's times are in one part, and a
    part has no more than it may unless it has one kernel."""
    places = {
        point.release: at for at, point in enumerate(p for line in lines for p in line.points)
    }
    monkeypatch.setattr(line_data, "TIMES_IN_A_FILE", 10**6)
    whole = line_data.files("gemm", lines, None, places)
    assert ["gemm"] == list(whole)
    monkeypatch.setattr(line_data, "TIMES_IN_A_FILE", few)
    parts = line_data.files("gemm", lines, None, places)
    assert len(parts) > 2
    assert rejoined(whole) == rejoined(parts)
    chosen = [[name for name in line if name not in ADDED] for line in parts["gemm"]["lines"]]
    assert all(names == sorted(names) for names in chosen)  # the same bytes from every process
    kernels: dict[int, set[tuple[Any, ...]]] = {}
    for line in parts["gemm"]["lines"]:
        kernel = line["set"], line["operation"], line["precision"], line["problem"]
        kernels.setdefault(line["part"][0], set()).add(kernel)
    assert sum(map(len, kernels.values())) == len(set.union(*kernels.values()))
    for number, own in kernels.items():
        times = sum(len(line["seconds"]) for line in parts[f"gemm-{number}"]["lines"])
        assert times <= few or len(own) == 1


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the published site with few times in a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_data, "TIMES_IN_A_FILE", FEW)
        html = published_site.publish(tmp_path_factory.mktemp("split"))
    yield html.as_uri() + "/"


def shown(page: Any, address: str, *clicks: str) -> str:
    """The text of a page after clicks, once its last one has been answered."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    for selector in clicks:
        page.locator(selector).first.click()
        page.wait_for_selector("tr.detail .command")
    text: str = page.inner_text("#content")
    return text


PAGES = [
    ("timeline.html#machine=lab-1&family=gemm", ()),
    ("timeline.html#machine=lab-1&machine=old card&family=gemm&set=training", ()),
    ("timeline.html#machine=lab-1&family=gemm&set=inference_server&since=2025", ()),
    ("compare.html#side=lab-1@numpy-1.26.4&side=lab-1@numpy-2.0.2", ("#kernels tbody .open",)),
    ("compare.html#side=lab-1@numpy&side=lab-1@torch", ("#kernels tbody .open",)),
    ("machine.html#machine=lab-1&framework=numpy", ("#kernels tbody .open",)),
    ("release.html#machine=lab-1&release=numpy-2.0.2", ("#kernels tbody .open",)),
]


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that may open both sites."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(10_000)
    yield context.new_page()
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("address", "clicks"),
    PAGES,
    ids=[page.partition("#")[0] + str(n) for n, (page, _) in enumerate(PAGES)],
)
def test_pages_are_the_same(page: Any, html: Path, split: str, address: str, clicks: Any) -> None:
    """With one file of lines, and with several."""
    whole = html.as_uri() + "/"
    assert shown(page, f"{whole}{address}", *clicks) == shown(page, f"{split}{address}", *clicks)


@pytest.mark.browser
def test_a_timeline_reads_the_file_of_its_kernel(page: Any, split: str) -> None:
    """And that of another kernel when it is chosen."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    shown(page, f"{split}timeline.html#machine=lab-1&family=gemm&set=training")
    assert 1 == len([name for name in asked if name.startswith("gemm-")])
    other = page.locator("#problem option:not(:checked)").first.get_attribute("value")
    with page.expect_request("**/gemm-*.js"):
        page.select_option("#problem", other)
    page.wait_for_selector(f"#summary:has-text('{other}')")
    assert page.locator("#chart").is_visible()


@pytest.mark.browser
def test_a_missing_file_of_times_is_named(page: Any, split: str) -> None:
    """The choices stay, so that another kernel can be shown."""
    page.route("**/gemm-*.js", lambda route: route.abort())
    shown(page, f"{split}timeline.html#machine=lab-1&family=gemm&set=training")
    assert re.search(r"data/lines/\w+/gemm-0\.js is missing", page.inner_text("#summary"))
    assert page.locator("#chart").is_hidden()
    assert page.locator("#problem").is_enabled()
