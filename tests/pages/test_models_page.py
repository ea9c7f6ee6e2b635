"""The page of whole models in a real browser: published and measured figures next to each other."""

import json
from pathlib import Path
from typing import Any

import pytest
from browsing import rows
from published_site import unpacked

from deepbench_ops.pages.data_encoding import script_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("site", ["file"], indirect=True),
]


def opened(page: Any, site: str, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{site}{address}")
    page.wait_for_selector("body[data-ready]")


def cell(precision: str, differs: list[str], rate: float = 13.9) -> dict[str, Any]:
    return {
        "release": "torch-2.5.1",
        "benchmark": "model.InferenceServer.kernel_forward",
        "problem": "resnet50_b16",
        "precision": precision,
        "unusual": {},
        "per_second": rate,
        "differs": differs,
        "why_not": [],
    }


def measured(page: Any, html: Path, here: Any) -> list[dict[str, Any]]:
    """Serve the table of Stream Computing with `here(row)` as the times of lab-1 and lab-2."""
    data = json.loads(unpacked((html / "data/models.js").read_text("utf-8")))
    found: list[dict[str, Any]] = data["tables"]["stcp920"]
    data["machines"] = ["lab-1", "lab-2"]
    for row in found:
        own = here(row)
        row["here"] = {
            "lab-1": own,
            "lab-2": own | ({"per_second": 27.8} if "release" in own else {}),
        }
    changed = script_of(json.dumps(data))
    page.route("**/data/models.js", lambda route: route.fulfill(body=changed))
    return found


def test_the_page_counts_unsteady_times(page: Any, site: str, html: Path) -> None:
    """Those of the chosen machine, since they are no figures of it."""
    data = json.loads(unpacked((html / "data/models.js").read_text("utf-8")))
    data.update(machines=["lab-1"], unsteady={"lab-1": 3})
    changed = script_of(json.dumps(data))
    page.route("**/data/models.js", lambda route: route.fulfill(body=changed))
    opened(page, site, "models.html")
    assert "3 unsteady times of lab-1 are left out." in page.inner_text("#summary")


def test_published_and_measured_bars_are_in_the_first_screen(
    page: Any, site: str, html: Path
) -> None:
    """Next to each other, with the factor; the longer bar is the higher rate."""
    published = measured(page, html, lambda row: cell(row["precision"], []))
    page.set_viewport_size({"width": 1280, "height": 900})
    opened(page, site, "models.html#table=stcp920")
    first = page.locator("#chart tbody tr >> nth=0")
    text = " ".join(first.inner_text().split())
    factor = published[0]["published"] / 13.9
    assert f"{factor:.3g}\u00d7 slower" in text and "/s published" in text and "13.9/s here" in text
    above, below = (
        first.locator(f".{kind} i").bounding_box() for kind in ("published", "measured")
    )
    assert above["width"] > below["width"] > 0 and below["y"] > above["y"]
    assert 6 <= sum(row.bounding_box()["y"] < 860 for row in page.locator("#chart tbody tr").all())


def test_a_precision_that_differs_from_the_published_one_is_marked(
    page: Any, site: str, html: Path
) -> None:
    """Behind the figure of its hollow bar, next to its factor and in the table; figures of the same
    precision come first."""

    def here(row: dict[str, Any]) -> dict[str, Any]:
        return cell("int8", []) if row["precision"] == "int8" else cell("float32", ["float32"])

    published = measured(page, html, here)
    assert {"float16", "int8"} == {row["precision"] for row in published}
    opened(page, site, "models.html#table=stcp920&machine=lab-1")
    page.click("#chart .more")
    alike = []
    for row in page.locator("#chart tbody tr").all():
        text = row.inner_text()
        alike.append("int8" in row.locator("th").inner_text())
        assert (
            alike[-1]
            != ("at float32, not float16" in text)
            == (row.locator(".unlike").count() == 1)
        )
        assert alike[-1] != ("unlike precisions" in text)
    assert sorted(alike, reverse=True) == alike and {True, False} == set(alike)
    shown = page.locator("#rows tbody").inner_text()
    other = sum(row["precision"] == "float16" for row in published)
    assert other == shown.count("13.9/s at float32")


def test_the_bar_of_a_machine_names_the_way_it_was_run(page: Any, site: str, html: Path) -> None:
    """Eager, compiled or exported: the fastest that was measured."""
    measured(page, html, lambda row: cell(row["precision"], []) | {"by": "compiled"})
    opened(page, site, "models.html#table=stcp920&machine=lab-1")
    assert "13.9/s here, compiled" in page.inner_text("#chart tbody tr >> nth=0")


def test_the_machine_is_a_choice_that_the_address_holds(page: Any, site: str, html: Path) -> None:
    """Its figures replace those of the other one."""
    measured(page, html, lambda row: cell(row["precision"], []))
    opened(page, site, "models.html#table=stcp920")
    page.select_option("#machine", "lab-2")
    assert "27.8/s here" in page.inner_text("#chart")
    assert "13.9/s here" not in page.inner_text("#chart")
    opened(page, site, page.url.removeprefix(site))
    assert "lab-2" == page.input_value("#machine")
    assert "27.8/s here" in page.inner_text("#chart")


def test_without_measurements_the_published_figures_stand_alone(
    page: Any, site: str, html: Path
) -> None:
    """With the command that measures models here."""
    data = json.loads(unpacked((html / "data/models.js").read_text("utf-8")))
    data["machines"] = []
    for row in data["tables"]["stcp920"]:
        row["here"] = {}
    changed = script_of(json.dumps(data))
    page.route("**/data/models.js", lambda route: route.fulfill(body=changed))
    opened(page, site, "models.html#table=stcp920")
    assert page.locator("#machine").is_hidden()
    assert 0 == page.locator("#chart .measured").count()
    assert "asv run" in page.inner_text("#chart .command")


def test_a_model_that_cannot_run_here_has_its_reason(page: Any, site: str, html: Path) -> None:
    """In place of the bar."""
    measured(page, html, lambda row: {"why_not": ["float16 is not fast here"]})
    opened(page, site, "models.html#table=stcp920")
    assert "not measured: float16 is not fast here" in page.inner_text("#chart tbody tr >> nth=0")


def test_a_row_without_any_field_shows_no_broken_bar(page: Any, site: str, html: Path) -> None:
    """A figure of zero has no bar, and no factor."""
    measured(page, html, lambda row: cell(row["precision"], [], rate=0))
    opened(page, site, "models.html#table=stcp920&machine=lab-1")
    assert 0 == page.locator("#chart .measured i").count()
    assert rows(page, "#chart")
    assert "NaN" not in page.inner_text("#content") and "Infinity" not in page.inner_text(
        "#content"
    )


def test_percentiles_are_bars_of_one_scale(page: Any, site: str) -> None:
    """Median, 90 % and 99 %, each longer than the one before."""
    opened(page, site, "models.html")
    text = page.inner_text("#latency-chart tbody tr >> nth=0")
    assert "median: 20 ms" in text and "90 %: 24 ms" in text and "99 %: 31 ms" in text
    widths = [bar.bounding_box()["width"] for bar in page.locator("#latency-chart tbody i").all()]
    assert sorted(set(widths)) == widths[:3]


def test_rows_without_a_factor_begin_at_the_edge_of_a_phone(page: Any, site: str) -> None:
    """The names of latencies stand above their bars, with no empty column before them."""
    page.set_viewport_size({"width": 400, "height": 900})
    opened(page, site, "models.html")
    name, bars = (page.locator(f"#latency-chart tbody {part}").first for part in ("th", ".picture"))
    assert name.bounding_box()["x"] == bars.bounding_box()["x"]


def test_each_table_has_its_order_in_the_address(page: Any, site: str) -> None:
    """Latency next to the published figures; steps have a unit that fits."""
    opened(page, site, "models.html#table=stcp920&latency-sort=-batch")
    assert "descending" == page.get_attribute("#latency [aria-sort]", "aria-sort")
    page.click("#rows thead button:text-is('time per step')")
    assert "&sort=-time+per+step" in page.url and "latency-sort=-batch" in page.url


def test_trainings_on_other_devices_and_threads_are_lines_of_their_own(
    page: Any, site: str, html: Path
) -> None:
    """Each with the efficiency against its own single rank; the command names the device."""
    data = json.loads(unpacked((html / "data/models.js").read_text("utf-8")))
    one = data["scaling"][0] | {"machine": "lab-1", "ranks": 1, "step_seconds": 0.4}
    four = {"threads": 4, "step_seconds": 0.1}
    on_gpu = {"device": "cuda", "step_seconds": 0.01}
    two = {"ranks": 2}
    data["scaling"] = [
        one | more for each in ({}, four, on_gpu) for more in (each, {**each, **two})
    ]
    page.route("**/data/models.js", lambda route: route.fulfill(body=script_of(json.dumps(data))))
    opened(page, site, "models.html#table=stcp920")
    shown = {(row[6], row[-1]) for row in rows(page, "#scaling") if row[1] == "lab-1"}
    named = ("1 thread each", "4 threads each", "1 thread each, on cuda")
    assert {(how, "100 %") for how in named} == shown
    page.locator("#scaling tr", has_text="on cuda").first.locator("button.open").click()
    wanted = "deepbench scaling wide_deep --batch 1000 --device cuda"
    assert wanted == page.inner_text("#scaling tr.detail code")


def test_a_training_over_several_nodes_names_the_plan_that_repeats_it(
    page: Any, site: str, html: Path
) -> None:
    """Its efficiency is that against one rank alone, whose run has no nodes and no launcher."""
    data = json.loads(unpacked((html / "data/models.js").read_text("utf-8")))
    run = data["scaling"][0] | {"machine": "lab-2x4-hdr200", "ranks": 1, "step_seconds": 0.1}
    placed = {"nodes": "2", "ranks_per_node": "4", "interconnect": "hdr200"}
    together = run | {"ranks": 8, **placed}
    data["scaling"] = [
        run,
        together | {"step_seconds": 0.2, "launcher": "srun"},
        together | {"step_seconds": 0.4, "launcher": "mpirun"},
    ]
    changed = script_of(json.dumps(data))
    page.route("**/data/models.js", lambda route: route.fulfill(body=changed))
    opened(page, site, "models.html#table=stcp920")
    shown = {(row[6], row[-1]) for row in rows(page, "#scaling") if row[1] == "lab-2x4-hdr200"}
    by = "1 thread each, ranks started by {}".format
    each = {by("srun"): ("100 %", "50 %"), by("mpirun"): ("100 %", "25 %")}
    assert {(how, share) for how, shares in each.items() for share in shares} == shown
    page.locator("#scaling tr", has_text=by("srun")).first.locator("button.open").click()
    wanted = "--nodes 2 --ranks-per-node 4 --interconnect hdr200 --launcher srun"
    wanted += " --training wide_deep --batch 1000"
    assert f"deepbench fleet plan {wanted}" == page.inner_text("#scaling tr.detail code")


def test_trainings_with_and_without_a_launcher_are_groups_of_their_own(
    page: Any, site: str, html: Path
) -> None:
    """Also with equal numbers of ranks; one rank alone belongs to both. The page names a training
    with one number of ranks, which has no efficiency."""
    data = json.loads(unpacked((html / "data/models.js").read_text("utf-8")))
    run = data["scaling"][0] | {"machine": "lab-1", "ranks": 1, "step_seconds": 0.1}
    data["scaling"] = [
        run,
        run | {"ranks": 2, "step_seconds": 0.2},
        run | {"ranks": 2, "step_seconds": 0.4, "launcher": "srun"},
        run | {"ranks": 4, "model": "bert_large"},
    ]
    changed = script_of(json.dumps(data))
    page.route("**/data/models.js", lambda route: route.fulfill(body=changed))
    opened(page, site, "models.html#table=stcp920")
    shown = {(row[6], row[-1]) for row in rows(page, "#scaling") if row[1] == "lab-1"}
    plain, by_srun = "1 thread each", "1 thread each, ranks started by srun"
    assert {(plain, "100 %"), (plain, "50 %"), (by_srun, "100 %"), (by_srun, "25 %")} == shown
    assert "bert_large, lab-1, 4 ranks." in page.inner_text("#scaling-alone")
