"""Pages mark a machine whose results came in without the signature of an allowed signer."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from browsing import open_chip, series
from published_site import HOSTILE, published, unpacked, write_results, write_table

from deepbench_ops.analysis.change_causes import causes
from deepbench_ops.analysis.machine_ranking_by_family import Rank, Ranking
from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.exchange.submissions.submission_signature import Signer
from deepbench_ops.pages import machine_lines, preview_image, verdict_page
from deepbench_ops.pages.data_encoding import script_of
from deepbench_ops.pages.data_files import machine_key
from deepbench_ops.releases import release_table

KEY = "SHA256:abc"
KNOWN, UNKNOWN = Signer("lab@vendor.example", KEY), Signer(None, KEY)


@pytest.mark.parametrize(
    ("signers", "mark"),
    [
        ([], ""),
        ([KNOWN], ""),
        ([UNKNOWN], "unknown key"),
        ([KNOWN, UNKNOWN], "unknown key"),
        ([KNOWN, None], "unsigned"),
        ([UNKNOWN, None], "unsigned"),
    ],
)
def test_the_least_proven_submission_decides(tmp_path: Path, signers: list, mark: str) -> None:
    """One without a signature before one by an unknown key; results measured here have no mark."""
    (tmp_path / "box").mkdir()
    for number, signer in enumerate(signers):
        submission_provenance.note(tmp_path / "box", f"sha256:{number}", signer, [])
    found = submission_provenance.read(tmp_path / "box")
    assert mark == submission_provenance.mark(submission_provenance.in_words(found))


@pytest.fixture(scope="module")
def html(tmp_path_factory: Any) -> Path:
    """A site on which the results of lab-1 came in unsigned, and those of the other machine did
    not; both have measured whole models."""
    folder = tmp_path_factory.mktemp("unsigned")
    write_table(folder / "releases.csv")
    write_results(folder / "results")
    submission_provenance.note(folder / "results" / "lab-1", "sha256:0", None, ["numpy-2.2.6"])
    site = published(folder)
    add_models(site / "data" / "models.js")
    return site


def add_models(path: Path) -> None:
    """Give both machines figures next to the published ones, runs of models and an overhead."""
    data = json.loads(unpacked(path.read_text("utf-8")))
    data["machines"] = ["lab-1", HOSTILE]
    model = {"release": "torch-2.5.1", "problem": "resnet50_b16", "precision": "float32"}
    for row in (row for rows in data["tables"].values() for row in rows):
        own = model | {"benchmark": "model.InferenceServer.kernel_forward", "unusual": {}}
        own |= {"per_second": 13.9, "differs": [], "why_not": []}
        row["here"] = dict.fromkeys(data["machines"], own)
    step = {"title": "ResNet-50", "operation": "forward", "seconds": 2, "operations": 1}
    data["apart"] = [{**model, **step, "interval": [], "machine": "lab-1"}]
    for kind in ("apart", "latency", "scaling"):
        data[kind] += [{**row, "machine": HOSTILE} for row in data[kind]]
    path.write_text(script_of(json.dumps(data)), "utf-8")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("index", "#machines tbody th"),
        ("index", "#latest tbody td"),
        ("machine#machine=lab-1", "h1"),
        ("timeline#machine=lab-1", "#table tbody th"),
        ("timeline#machine=lab-1", "#summary"),
        ("release#release=numpy-2.0.2&machine=lab-1", "#summary"),
        ("compare#side=lab-1@numpy&side=lab-1@torch", "#who"),
        ("frameworks#where=lab-1", "form label"),
        ("models#machine=lab-1", "form label"),
        ("operations#machine=lab-1", "form label"),
        ("models#machine=lab-1", "#chart thead th"),
        ("models", "#rows thead th"),
        ("models", "#latency-chart tbody th"),
        ("models", "#latency tbody td"),
        ("models", "#overhead tbody td"),
        ("models", "#scaling tbody td"),
        ("verdicts", "h2"),
    ],
)
def test_the_mark_is_next_to_the_name(opened: Any, html: Path, address: str, place: str) -> None:
    """With an explanation; no other machine has it."""
    page = opened(html, address)
    page.locator(f"{place} .unsigned").first.wait_for()
    marks = page.locator(f"{place} .unsigned")
    assert {"unsigned"} == set(marks.all_inner_texts())
    assert "was not signed" in marks.first.get_attribute("title")
    texts = page.locator(f"{place}:has(.unsigned)").all_inner_texts()
    assert all("lab-1" in text for text in texts)


@pytest.mark.browser
def test_a_comparison_marks_one_of_two_machines(opened: Any, html: Path) -> None:
    """Only the name of the machine without a signature is followed by the mark."""
    machine = "%3Cimg%20src%3Dx%20onerror%3D%22window.pwned%3D1%22%3E"
    page = opened(html, f"compare#side=lab-1@numpy&side={machine}@numpy")
    heading = page.inner_text("#who")
    assert heading.endswith("compared with lab-1 unsigned")
    assert 1 == heading.count("unsigned")


@pytest.mark.browser
def test_the_choice_of_machines_on_a_timeline_has_the_mark(opened: Any, html: Path) -> None:
    """Next to the name that has it."""
    page = opened(html, "timeline#machine=lab-1")
    open_chip(page, "#machines")
    labels = page.locator("#machines label").all_inner_texts()
    assert ["lab-1 unsigned"] == [text.strip() for text in labels if "unsigned" in text]


@pytest.mark.browser
def test_the_mark_is_words_where_a_name_is_no_element(opened: Any, html: Path) -> None:
    """The label of a line over the numbers of devices, and that of a cell on a phone."""
    page = opened(html, "models#table=stcp920")
    labels = [line["label"] for line in series(page, "#scaling-chart")]
    assert ["wide_deep, lab-1 (unsigned)"] == [text for text in labels if "unsigned" in text]
    cells = "cells => [...new Set(cells.map(cell => cell.dataset.label))]"
    named = page.locator("#rows td[data-label*=unsigned]").evaluate_all(cells)
    assert ["lab-1 (unsigned)"] == named


@pytest.mark.browser
def test_operations_have_the_mark_in_words(opened: Any, html: Path) -> None:
    """Behind the machine's name above the column, and next to its line in the picture."""
    page = opened(html, "operations#machine=lab-1")
    assert 1 == page.locator("#problems thead th", has_text="on lab-1 (unsigned)").count()
    assert "lab-1 (unsigned)" in page.text_content("#intensities svg")


@pytest.mark.browser
def test_other_machines_with_a_change_have_the_mark_in_words(opened: Any, html: Path) -> None:
    """In a column of the page of a release."""
    path = html / "data" / "changes" / machine_key("lab-1") / "numpy.js"
    before = path.read_text("utf-8")
    data = json.loads(unpacked(before))
    shifts = [shift for kernel in data["kernels"] for shift in kernel.get("changes", [])]
    for shift in shifts:
        shift[4] = [["lab-1", 2.2], [HOSTILE, 2.1]]
    path.write_text(script_of(json.dumps(data)), "utf-8")
    page = opened(html, "release#release=numpy-2.0.2&machine=lab-1")
    found = page.locator("#kernels tbody td[data-label='also on']").all_inner_texts()
    path.write_text(before, "utf-8")
    assert shifts
    assert {f"lab-1 (unsigned): 2.2\u00d7 slower; {HOSTILE}: 2.1\u00d7 slower"} == {*found} - {""}


def test_the_preview_has_the_mark(html: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the name of a machine, which is shortened for it, and behind a change on it."""
    pytest.importorskip("PIL.Image", reason="pillow is not installed")
    timeline = release_table.load(html.parent / "releases.csv")
    lines, _, _ = machine_lines.read(html.parent / "results", timeline)
    changed = causes([line for line in lines if line.measured and len(line.points) > 1])
    rank = Rank("m" * 40, 1e9, None, ("numpy",), date(2026, 1, 1), False, 1, "")
    ranked = Ranking("gemm", "float32", 1, "FLOP/s", (rank,))
    drawn: list[str] = []
    monkeypatch.setattr(preview_image, "_text", lambda *parts: drawn.append(parts[3]))
    marks = {"lab-1": "unsigned", rank.machine: "unknown key"}
    preview_image.write(html, "deepbench", [ranked], changed, marks)
    marked = [text for text in drawn if text.endswith(")")]
    assert ["mmm", "num"] == [text[:3] for text in marked]
    assert marked[0].endswith("m… (unknown key)")
    assert marked[1].endswith("lab-1 (unsigned)")


@pytest.mark.browser
def test_the_mark_follows_the_choice_of_a_machine(opened: Any, html: Path) -> None:
    """On the page of whole models."""
    page = opened(html, "models#machine=lab-1")
    place = page.locator("form label .unsigned, #chart .unsigned")
    assert 2 == place.count()
    page.select_option("#machine", HOSTILE)
    assert 0 == place.count()


def test_the_list_of_changes_marks_machines_with_the_same_change(html: Path) -> None:
    """Its exports have the names alone."""
    timeline = release_table.load(html.parent / "releases.csv")
    lines, _, _ = machine_lines.read(html.parent / "results", timeline)
    several = [line for line in lines if line.measured and len(line.points) > 1]
    found = [replace(each, elsewhere=("box", "lab-2")) for each in causes(several)]
    shown = verdict_page.page("deepbench", several, found, {"box": "unknown key"})
    assert '<td data-value="box, lab-2">box <small class="unsigned" title="' in shown
    assert ">unknown key</small>, lab-2</td>" in shown
