"""What publishing remembers of results, and when it reads them again."""

import json
import os
import pickle
import signal
from pathlib import Path

import pytest

pytest.importorskip("asv", reason="pages are written by asv publish")
import published_site
from asv.results import Results
from asv.util import UserError

from deepbench_ops.asv_adapter import loaded
from deepbench_ops.pages import build, page_process, stored_lines
from deepbench_ops.pages.machine_cache import Kept


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    folder = tmp_path / "results" / "here"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text("1")
    return folder


def made(machine: Path, of: str = "") -> bool:
    """Whether what is made of the machine had to be made, and keep it."""
    asked = []
    kept = Kept(machine.parents[1] / "kept", of)
    assert kept.made(machine, lambda: asked.append(1) or "made") == "made"
    kept.write()
    return bool(asked)


def test_what_is_kept_is_not_made_again(machine: Path) -> None:
    assert [made(machine), made(machine)] == [True, False]


def test_a_new_file_a_changed_one_and_other_releases_make_it_again(machine: Path) -> None:
    made(machine)
    (machine / "b.jsonl").write_text("{}")
    assert [made(machine), made(machine)] == [True, False]
    (machine / "a.json").write_text("2")
    assert [made(machine), made(machine)] == [True, False]
    assert [made(machine, "releases"), made(machine, "releases")] == [True, False]


@pytest.mark.parametrize("content", [b"", b"no digest", b"\xff\xfe", None])
def test_what_is_kept_and_broken_is_made_again(machine: Path, content: bytes | None) -> None:
    """None: its own first line, and then half of what follows."""
    made(machine)
    (file,) = (machine.parents[1] / "kept").iterdir()
    file.write_bytes(file.read_bytes()[:-5] if content is None else content)
    assert [made(machine), made(machine)] == [True, False]


@pytest.mark.parametrize("bit", range(8))
def test_one_flipped_bit_anywhere_makes_it_again(machine: Path, bit: int) -> None:
    made(machine)
    (file,) = (machine.parents[1] / "kept").iterdir()
    whole = file.read_bytes()
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << bit
        file.write_bytes(flipped)
        assert made(machine)


def test_a_planted_pickle_is_not_executed(machine: Path) -> None:
    made(machine)
    (file,) = (machine.parents[1] / "kept").iterdir()
    planted = machine / "planted"
    first_line = file.read_bytes().partition(b"\n")[0]
    file.write_bytes(first_line + b"\n" + pickle.dumps(Touch(planted)))
    assert made(machine)
    assert not planted.exists()


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("stored", [[], {}, {"lines": 1}, 7, "text"])
def test_what_is_stored_with_its_checksum_and_is_no_line_is_made_again(
    machine: Path, stored: object
) -> None:
    kept = Kept(machine.parents[1] / "kept", encoded=lambda _: stored, decoded=stored_lines.decoded)
    kept.made(machine, lambda: None)
    kept.write()
    assert kept.made(machine, lambda: "made") == "made"


def test_what_was_kept_of_a_machine_that_is_gone_goes_too(machine: Path) -> None:
    """And what somebody else has put there stays."""
    made(machine)
    other, own = machine.with_name("there"), machine.parents[1] / "kept" / "own.txt"
    machine.rename(other)
    own.touch()
    assert made(other)
    assert len(list(own.parent.iterdir())) == 2
    assert own.exists()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    published_site.publish(folder)
    return folder


def test_within_the_block_a_result_is_read_once_unless_it_changes(site: Path) -> None:
    path = next((site / "results").glob("*/*-*.json"))
    with loaded.once(site / "results"):
        first, second = Results.load(str(path)), Results.load(str(path))
        path.write_text(path.read_text())  # somebody measures meanwhile
        third = Results.load(str(path))
    assert first is second
    assert third is not second
    assert Results.load(str(path)) is not third


def test_a_result_of_another_machine_is_refused_as_asv_does(site: Path) -> None:
    path = next((site / "results").glob("*/*-*.json"))
    with loaded.once(site / "results"):
        Results.load(str(path), json.loads(path.read_text())["params"]["machine"])
        with pytest.raises(UserError, match="machine name is not"):
            Results.load(str(path), "another")


def test_a_broken_result_is_told_within_the_block_too(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    path = tmp_path / "here" / "a-b.json"
    path.write_text("{")
    with loaded.once(tmp_path), pytest.raises(UserError, match=r"a-b\.json"):
        Results.load(str(path))


def pages(folder: Path) -> dict[str, str]:
    """All that our own pages are made of."""
    html = folder / "html"
    found = [*html.glob("*.html"), *(html / "data").rglob("*.js")]
    return {str(path.relative_to(html)): path.read_text() for path in found}


def test_pages_are_the_same_without_a_second_process_and_from_what_is_kept(
    site: Path, monkeypatch
) -> None:
    first = pages(site)
    assert "data/start.js" in first
    published_site.published(site)
    assert pages(site) == first
    monkeypatch.setattr(page_process, "FORKS", False)
    for path in (site / ".asv" / "deepbench-lines").iterdir():
        path.unlink()
    published_site.published(site)
    assert pages(site) == first


def test_a_second_process_that_is_killed_is_stood_in_for(site: Path, monkeypatch) -> None:
    first = pages(site)
    monkeypatch.setattr(page_process, "_write_for", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    published_site.published(site)
    assert pages(site) == first


def test_everybody_may_read_the_pages(site: Path) -> None:
    """Though they were written in a folder that nobody else may look into."""
    published_site.published(site)
    assert (site / "html").stat().st_mode & 0o777 == 0o755


def test_what_stops_the_pages_stops_the_publishing(site: Path, monkeypatch) -> None:
    """Though it happens in the other process; nothing unfinished stays."""

    def stopped(*_: object) -> None:
        raise RuntimeError("no pages today")

    monkeypatch.setattr(build.site_data, "write", stopped)
    with pytest.raises(RuntimeError, match="no pages today"):
        published_site.published(site)
    assert not list((site / ".asv").glob("pages-*"))
