"""changes.atom and preview.png, which only a site with a configured address has."""

import shutil
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import published_site
import pytest
from example_points import point

from deepbench_ops.analysis import kernel_lines
from deepbench_ops.analysis.change_causes import Cause, causes
from deepbench_ops.asv_adapter import asv_api, configuration_check
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.pages import change_feed, machine_lines
from deepbench_ops.releases import release_table
from deepbench_ops.releases.release_table import Release

RESULTS = Path(__file__).resolve().parents[2] / "results"
URL = "https://bench.example/deep/"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Cause]:
    """The changes of a recorded machine."""
    folder = tmp_path_factory.mktemp("results")
    shutil.copytree(RESULTS / "epyc-9005-2core", folder / "epyc-9005-2core")
    lines, _, _ = machine_lines.read(folder, release_table.load())
    return causes([line for line in lines if line.measured and len(line.points) > 1])


def parsed(found: Sequence[Cause], project: str = "deepbench") -> ElementTree.Element:
    return ElementTree.fromstring(change_feed.feed(project, URL, found, {}))


def test_each_change_is_an_entry(found: Sequence[Cause]) -> None:
    """With factor, machine, kernels and links that are whole addresses; the newest comes first."""
    feed = parsed(found)
    entries = feed.findall(f"{ATOM}entry")
    assert min(len(found), change_feed.ENTRIES) == len(entries)
    assert len(entries) == len({entry.findtext(f"{ATOM}id") for entry in entries})
    days = [entry.findtext(f"{ATOM}updated") for entry in entries]
    assert sorted(days, reverse=True) == days
    assert days[0] == feed.findtext(f"{ATOM}updated")
    title = entries[0].findtext(f"{ATOM}title")
    assert title is not None and "\u00d7 " in title and "on epyc-9005-2core" in title
    for link in feed.iter(f"{ATOM}link"):
        assert link.attrib["href"].startswith(URL)
    shown = "".join(entries[0].itertext())
    assert "deepbench verdict --machine epyc-9005-2core --release" in shown
    assert "99 % interval" in shown
    assert "submission" not in shown


def test_an_entry_keeps_its_id(found: Sequence[Cause]) -> None:
    """Readers of a feed take an entry with another id for news."""
    first, again = (change_feed.feed("deepbench", URL, found, {}) for _ in range(2))
    assert first == again


def test_a_kernel_has_an_entry_for_each_state_of_the_machine() -> None:
    """With an id of its own, though machine, releases and kernel are the same."""
    seconds = (1.0, 1.0, 1.0, 1.0, 1.5, 1.5, 1.5, 1.5)
    releases = [Release("numpy", f"2.{n}.0", date(2024, 1, 1 + n)) for n in range(8)]
    points = [
        point(release=release, seconds=each, rounds=(each, each * 1.01), state=state)
        for state in ("near", "far")
        for release, each in zip(releases, seconds, strict=True)
    ]
    entries = parsed(causes(kernel_lines.lines(points, releases))).findall(f"{ATOM}entry")
    assert 2 == len({entry.findtext(f"{ATOM}id") for entry in entries})


def test_no_change_is_an_empty_feed() -> None:
    """It is a whole feed nevertheless, and names with markup are text."""
    feed = parsed([], "deep <b>\x07&")
    assert "deep <b>&: slower and faster kernels" == feed.findtext(f"{ATOM}title")
    assert feed.findtext(f"{ATOM}updated")
    assert [] == feed.findall(f"{ATOM}entry")


def publish(folder: Path, **keys: Any) -> Path:
    published_site.write_table(folder / "releases.csv")
    if not (folder / "results").exists():
        published_site.write_results(folder / "results")
    conf = {
        "project": "deepbench <ops>",
        "dvcs": "releases",
        "repo": str(folder / "releases.csv"),
        "branches": ["numpy", "torch"],
        "results_dir": str(folder / "results"),
        "html_dir": str(folder / "html"),
        "env_dir": str(folder / ".asv" / "env"),
    }
    asv_api.publish(asv_api.configuration(conf | keys))
    return folder / "html"


def test_a_site_with_an_address_has_a_feed_and_a_preview(tmp_path: Path) -> None:
    """Linked from its pages; the image has the size that chats ask for."""
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    html = publish(tmp_path, site_url=URL.removesuffix("/"))
    feed = ElementTree.parse(html / change_feed.FILE).getroot()
    assert 1 == len(feed.findall(f"{ATOM}entry"))
    for name in ("index", "release", "verdicts", "frameworks"):
        page = (html / f"{name}.html").read_text("utf-8")
        assert 'type="application/atom+xml"' in page
        assert f'property="og:image" content="{URL}preview.png"' in page
        assert 'href="changes.atom">Feed of changes' in page
    with image.open(html / "preview.png") as picture:
        assert ("PNG", (1200, 630)) == (picture.format, picture.size)
    assert 100_000 > (html / "preview.png").stat().st_size


def test_an_entry_says_that_results_came_in_unsigned(tmp_path: Path) -> None:
    """In its title and its text."""
    pytest.importorskip("PIL.Image", reason="pillow is not installed")
    published_site.write_results(tmp_path / "results")
    submission_provenance.note(tmp_path / "results" / "lab-1", "sha256:0", None, ["numpy-2.0.2"])
    feed = ElementTree.parse(publish(tmp_path, site_url=URL) / change_feed.FILE).getroot()
    (entry,) = feed.findall(f"{ATOM}entry")
    title = entry.findtext(f"{ATOM}title")
    assert title is not None and title.endswith(" on lab-1 (unsigned)")
    assert submission_provenance.MARKS["unsigned"] in "".join(entry.itertext())


def test_a_site_without_an_address_has_neither(tmp_path: Path) -> None:
    """Nor do its pages link to them."""
    html = publish(tmp_path)
    assert not (html / change_feed.FILE).exists()
    assert not (html / "preview.png").exists()
    assert "changes.atom" not in (html / "index.html").read_text("utf-8")


def test_an_address_that_is_none_is_refused() -> None:
    """With an example."""
    with pytest.raises(DeepbenchError, match=r"site_url is 'example': write the address of"):
        configuration_check.check({"site_url": "example"})
    configuration_check.check({"site_url": URL})
    configuration_check.check({"site_url": ""})
