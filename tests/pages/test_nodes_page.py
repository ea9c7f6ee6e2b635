"""The page of nodes: its data, and the page in a real browser."""

import json
from pathlib import Path
from typing import Any

import published_site
import pytest
import surveyed_nodes
from browsing import column, rows

from deepbench_ops.pages import node_data
from deepbench_ops.pages.data_files import machine_key

SLOW = {("n3", "gemm"): 1.3}
LARGEST = 300_000
"""Bytes of all files that the page reads."""
ASKED = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    "preload": False,
}
FOLDER = machine_key(surveyed_nodes.MACHINE)


def content(html: Path, name: str = "nodes") -> Any:
    return json.loads(published_site.unpacked((html / f"data/{name}.js").read_text("utf-8")))


# Data


def test_a_slow_node_has_its_ratio_and_day(tmp_path: Path) -> None:
    """Of three surveys the newest is shown; the node is slow since the second."""
    for day, slow in ((1, {}), (31, SLOW), (61, SLOW)):
        surveyed_nodes.write(tmp_path, f"survey-{day}", day, slow=slow)
    assert [] == node_data.write(tmp_path / "html", tmp_path)
    (kind,) = content(tmp_path / "html")["types"]
    assert (5, 3) == (kind["measured"], kind["surveys"])
    node = kind["nodes"][3]
    assert ("n3", "1970-03-03") == (node["node"], node["day"])
    assert "slow" == node["levels"]["gemm"]["kind"]
    assert node["levels"]["gemm"]["ratio"] == pytest.approx(1.3, rel=0.02)
    assert "1970-02-01" == node["levels"]["gemm"]["since"]
    assert ("as usual", None) == tuple(node["levels"]["conv"][name] for name in ("kind", "since"))


def test_each_node_has_a_file_of_its_kernels(tmp_path: Path) -> None:
    """With seconds, interval, day and readable name of each."""
    surveyed_nodes.write(tmp_path, "nodes", 1, slow=SLOW)
    node_data.write(tmp_path / "html", tmp_path)
    found = content(tmp_path / "html", f"nodes/{FOLDER}/3")
    assert 2 * surveyed_nodes.KERNELS == len(found)
    slow = [row for row in found if row["family"] == "gemm"]
    assert {"slow"} == {row["kind"] for row in slow}
    assert {"1970-01-02"} == {row["since"] for row in slow}
    assert all(1.1 < row["low"] < row["ratio"] < row["high"] < 1.5 for row in slow)
    assert all(row["title"] != row["problem"] for row in slow)


def test_one_node_is_counted_but_not_compared(tmp_path: Path) -> None:
    """It has no median to be compared with."""
    surveyed_nodes.write(tmp_path, "nodes", 1, nodes=1)
    assert [] == node_data.write(tmp_path / "html", tmp_path)
    (kind,) = content(tmp_path / "html")["types"]
    assert (1, []) == (kind["measured"], kind["nodes"])


def test_a_broken_record_is_reported(tmp_path: Path) -> None:
    """The other nodes are compared."""
    plan = surveyed_nodes.write(tmp_path, "nodes", 1)
    surveyed_nodes.file_of(plan, "n0").write_bytes(b"torn")
    (problem,) = node_data.write(tmp_path / "html", tmp_path)
    assert "@n0: its times are left out" in problem
    (kind,) = content(tmp_path / "html")["types"]
    assert 4 == kind["measured"]
    days = {node["node"]: node["day"] for node in kind["nodes"]}
    assert {"n0": None, **dict.fromkeys(("n1", "n2", "n3", "n4"), "1970-01-02")} == days


def test_an_incomplete_node_has_its_numbers_and_kernels(tmp_path: Path) -> None:
    """The others keep theirs, in the files of their own numbers."""
    plan = surveyed_nodes.write(tmp_path, "nodes", 1)
    surveyed_nodes.keep(plan, "n0", ())
    surveyed_nodes.keep(plan, "n1", ("gemm",))
    assert [] == node_data.write(tmp_path / "html", tmp_path)
    (kind,) = content(tmp_path / "html")["types"]
    levels = [node["levels"]["all"] for node in kind["nodes"]]
    assert [(0, 12), (6, 6), (12, 0)] == [(own["kernels"], own["missing"]) for own in levels[:3]]
    assert levels[0]["ratio"] is None
    files = [content(tmp_path / "html", f"nodes/{FOLDER}/{number}") for number in range(5)]
    assert [0, 6, 12, 12, 12] == [len(rows) for rows in files]


# The page


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published site of a project with two surveys."""
    folder = tmp_path_factory.mktemp("compared")
    surveyed_nodes.write(folder, "first", 1, nodes=8)
    surveyed_nodes.write(folder, "second", 31, nodes=8, slow=SLOW)
    return published_site.publish(folder)


@pytest.mark.browser
def test_the_slow_node_is_opened_first(opened: Any, compared: Path) -> None:
    """With its factors by family, and each kernel with its factor and day."""
    page = opened(compared, "nodes")
    assert "1 of 8 nodes is slow: n3." in page.inner_text("#summary")
    script = "keys => keys.map(key => getComputedStyle(key).backgroundImage)"
    marks = page.locator("#heat .key .slow, #heat .key .gain").evaluate_all(script)
    assert ["linear-gradient"] * 2 == [mark.partition("(")[0] for mark in marks]
    assert "Kernels of n3" == page.inner_text("#kernels-title")
    level = page.locator("#heat .level.slow[title*='1970-02-01']")
    assert [text[:3] for text in level.all_inner_texts()][-1] == "1.3"
    factors = column(page, "#kernels", "time / median")
    assert 2 * surveyed_nodes.KERNELS == len(factors)
    assert all("slower" in text for text in factors[: surveyed_nodes.KERNELS])
    assert ["1970-02-01"] * surveyed_nodes.KERNELS == column(page, "#kernels", "slow since")[
        : surveyed_nodes.KERNELS
    ]


@pytest.mark.browser
def test_incomplete_nodes_are_named(opened: Any, tmp_path: Path) -> None:
    """In the summary and in the table; one without kernels has an empty list of them."""
    plan = surveyed_nodes.write(tmp_path, "nodes", 1, nodes=8, slow=SLOW)
    surveyed_nodes.keep(plan, "n1", ("gemm",))
    surveyed_nodes.keep(plan, "n2", ())
    page = opened(published_site.publish(tmp_path), "nodes#node=n2")
    named = "n1 measured 6 of 12 kernels, n2 measured 0 of 12 kernels."
    assert named in page.inner_text("#summary")
    wanted = ["12", "6 of 12", "0 of 12", *["12"] * 5]
    assert wanted == column(page, "#heat", "kernels")
    assert ["not compared"] * 3 == rows(page, "#heat")[2][1:4]
    assert "Kernels of n2" == page.inner_text("#kernels-title")
    assert [] == rows(page, "#kernels")


@pytest.mark.browser
def test_the_address_holds_node_order_and_filter(opened: Any, compared: Path) -> None:
    """A choice is one step back."""
    page = opened(compared, "nodes#node=n1&sort=-node&kernel-find=matrix")
    assert "Kernels of n1" == page.inner_text("#kernels-title")
    assert "n7" == rows(page, "#heat")[0][0]
    assert surveyed_nodes.KERNELS == len(rows(page, "#kernels"))
    page.click("#heat button:text-is('n2')")
    page.wait_for_selector("#kernels-title:text-is('Kernels of n2')")
    assert "node=n2" in page.url
    page.go_back()
    page.wait_for_selector("#kernels-title:text-is('Kernels of n1')")


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_fits_is_accessible_and_light(opened: Any, compared: Path, width: int) -> None:
    """In both themes; all its files have at most 300 kB."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened(compared, "nodes")
    page.set_viewport_size({"width": width, "height": 900})
    assert width >= page.evaluate("document.documentElement.scrollWidth")
    for _ in ("light", "dark"):
        found = axe.run(page, options=ASKED).response["violations"]
        assert [] == [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found]
        page.click("#theme")
    names = set()
    page.on("request", lambda request: names.add(request.url.split("#")[0]))
    page.reload()
    page.wait_for_selector("body[data-ready]")
    files = [compared / name.removeprefix(f"{compared.as_uri()}/") for name in names]
    read = [file for file in files if file.is_file()]
    assert len(read) > 5
    assert LARGEST >= sum(file.stat().st_size for file in read)


@pytest.mark.browser
def test_without_nodes_the_page_has_the_commands(opened: Any, html: Path) -> None:
    """And says in words that there are none."""
    page = opened(html, "nodes")
    assert "No results of several nodes exist yet." in page.inner_text("#content")
    assert "deepbench fleet plan" in page.inner_text("#content")


@pytest.mark.browser
def test_too_few_nodes_are_counted(opened: Any, tmp_path: Path) -> None:
    """With the number that is needed."""
    surveyed_nodes.write(tmp_path, "nodes", 1, nodes=1)
    page = opened(published_site.publish(tmp_path), "nodes")
    text = page.inner_text("#content")
    assert "needs 3 nodes" in text and "here: 1 node." in text
    assert "[object" not in text and "asv publish" in text
