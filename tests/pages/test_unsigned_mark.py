"""Pages mark a machine whose results came in without the signature of an allowed signer."""

from pathlib import Path
from typing import Any

import pytest
from browsing import open_chip
from published_site import published, write_results, write_table

from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.exchange.submissions.submission_signature import Signer

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
    not."""
    folder = tmp_path_factory.mktemp("unsigned")
    write_table(folder / "releases.csv")
    write_results(folder / "results")
    submission_provenance.note(folder / "results" / "lab-1", "sha256:0", None, ["numpy-2.2.6"])
    return published(folder)


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
