"""Former pages are removed by the time that new ones are made."""

from pathlib import Path

import pytest

from deepbench_ops.pages import former_pages


def site(folder: Path) -> Path:
    (folder / "graphs").mkdir(parents=True)
    (folder / "graphs/one.json").write_text("[]")
    return folder


def test_former_pages_make_way_at_once_and_leave_nothing(tmp_path: Path) -> None:
    """New pages are written into an empty place, and stay."""
    html = site(tmp_path / "html")
    with former_pages.removed_meanwhile(html, tmp_path / "scratch"):
        assert not html.exists()
        html.mkdir()
        (html / "new.html").write_text("new")
    assert ["new.html"] == [path.name for path in html.iterdir()]
    assert [] == list((tmp_path / "scratch").iterdir())


def test_former_pages_are_removed_where_new_ones_fail(tmp_path: Path) -> None:
    """An error of the publishing is raised, and no copy of the pages stays."""
    html = site(tmp_path / "html")
    with (
        pytest.raises(RuntimeError, match="no pages"),
        former_pages.removed_meanwhile(html, tmp_path / "scratch"),
    ):
        raise RuntimeError("no pages")
    assert [] == list((tmp_path / "scratch").iterdir())


def test_pages_behind_a_link_stay(tmp_path: Path) -> None:
    """The link would not come back; asv says that it cannot remove it."""
    real = site(tmp_path / "real")
    (tmp_path / "html").symlink_to(real)
    with former_pages.removed_meanwhile(tmp_path / "html", tmp_path / "scratch"):
        assert (tmp_path / "html/graphs/one.json").exists()
    assert real.exists()


def test_a_first_publishing_has_no_former_pages(tmp_path: Path) -> None:
    """Nothing is moved, and nothing is made in their place."""
    with former_pages.removed_meanwhile(tmp_path / "html", tmp_path / "scratch"):
        assert not (tmp_path / "html").exists()
