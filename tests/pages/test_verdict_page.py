"""verdicts.html: its machines, changes, intervals and links."""

import html
import re
import shutil
from pathlib import Path
from unittest import mock
from urllib.parse import parse_qsl

import published_site
import pytest
from example_points import lines_of
from markupsafe import escape

pytest.importorskip("asv", reason="pages are written by asv publish")
from deepbench_ops.analysis import kernel_lines, point_reading
from deepbench_ops.analysis.change_causes import causes
from deepbench_ops.analysis.change_detection import Change
from deepbench_ops.pages import asv_index_offline, machine_lines, verdict_page
from deepbench_ops.releases import release_table
from deepbench_ops.storage import measurement_files

RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of two recorded machines and a published one, with all of their changes."""
    folder = tmp_path_factory.mktemp("results")
    for machine in ("epyc-9005-2core", "epyc-9004-2core", "nvidia-t4"):
        shutil.copytree(RESULTS / machine, folder / machine)
    site = tmp_path_factory.mktemp("html")
    with mock.patch.object(verdict_page, "MOST_ROWS", 10_000):
        return written(folder, site)


def written(results: Path, site: Path) -> str:
    lines, _, _ = machine_lines.read(results, release_table.load())
    several = [line for line in lines if line.measured and len(line.points) > 1]
    verdict_page.write(site, "deepbench <ops>", several, causes(several), {})
    return (site / verdict_page.PAGE).read_text("utf-8")


@pytest.mark.slow
def test_machines_with_a_history_have_a_heading(page):
    """A heading for each machine with lines to judge, none for single published figures."""
    assert ["epyc-9004-2core", "epyc-9005-2core"] == re.findall(r"<h2>(epyc.*?)</h2>", page)
    assert "nvidia-t4" not in page
    assert "deepbench &lt;ops&gt;" in page


def test_a_kernel_has_change_interval_and_a_link_to_its_timeline(page):
    """Its link names everything that identifies a line; it leads to no graph of asv's, which would
    mark an improvement as it marks a regression. Its text names the setting of one of the
    machines."""
    kernel = re.compile(
        r'<a href="timeline\.html#(?P<query>[^"]+)">(?P<text>[^<]+)</a>'
        r"<br><small>(?P<id>[^:]+), inference device:"
        r" (?P<size>[\d.]+)\u00d7 (?P<verdict>slower|faster)"
        r" \(99 % interval: (?P<least>[\d.]+) to (?P<most>[\d.]+)\u00d7 (?P=verdict);"
        r" separate processes\)</small>"
    )
    name, haswell = "m3072_n1_k128_NN", "OPENBLAS_CORETYPE=Haswell"
    ids = (name, f"{name}, {haswell}")
    text = "matrix products 3072 x 1 x 128 forward, float32"
    found = [m for m in kernel.finditer(page) if m["text"] == text]
    assert sorted(ids) == sorted(m["id"] for m in found)
    for match in found:
        chosen = dict(parse_qsl(html.unescape(match["query"]), strict_parsing=True))
        assert chosen.pop("machine") in ("epyc-9004-2core", "epyc-9005-2core")
        assert {
            "framework": "numpy",
            "family": "gemm",
            "set": "inference_device",
            "operation": "forward",
            "precision": "float32",
            "problem": "m3072_n1_k128_NN",
        } == chosen
        assert float(match["least"]) < float(match["size"]) < float(match["most"])


def table_rows(page: str) -> list[str]:
    """The rows of all tables, from the first cell to the end."""
    return re.findall(r"<tr data-machine=[^>]*>\s*(<th .*?)</tr>", page, re.DOTALL)


def test_every_row_has_a_verdict_and_noise(page):
    """Slower or faster is written in words, not only shown by colour."""
    assert table_rows(page)
    for row in table_rows(page):
        assert re.search(r'<strong class="(slower|faster)">\1</strong>', row)
        assert re.search(r'<td data-value="[\d.e-]+" class="number">[\d.]+ %</td>', row)


def test_the_exported_value_of_a_row_has_every_interval(page):
    """CSV has each kernel that the row shows, with its ratio and interval as numbers."""
    for row in table_rows(page):
        value = max(re.findall(r'data-value="([^"]*)"', row), key=len)
        shown = re.findall(r"<small>[^<]*: ([\d.]+)\u00d7 (slower|faster) \(", row)
        exported = re.findall(r": ([\d.e+-]+), [\d.e+-]+ to [\d.e+-]+", value)
        assert shown
        ratios = [float(size) ** (1 if verdict == "slower" else -1) for size, verdict in shown]
        assert ratios == pytest.approx([float(ratio) for ratio in exported], rel=0.01)


def test_a_broken_file_leaves_the_other_machines(tmp_path, page):
    """A broken file of one machine does not hide the other machines."""
    for machine in ("epyc-9005-2core", "epyc-9004-2core"):
        shutil.copytree(RESULTS / machine, tmp_path / "results" / machine)
    torn = measurement_files.paths(tmp_path / "results" / "epyc-9004-2core")[0]
    torn.write_bytes(torn.read_bytes()[:-50])
    shown = written(tmp_path / "results", tmp_path)
    assert ["epyc-9005-2core"] == re.findall(r"<h2>(epyc.*?)</h2>", shown)


@pytest.mark.slow
def test_a_long_list_ends_at_the_newest_changes(tmp_path, page, monkeypatch):
    """Each machine keeps its newest, and says how many it has; the date of none is older."""
    for machine in ("epyc-9005-2core", "epyc-9004-2core"):
        shutil.copytree(RESULTS / machine, tmp_path / "results" / machine)
    monkeypatch.setattr(verdict_page, "MOST_ROWS", 1)
    short = written(tmp_path / "results", tmp_path)
    dates = re.compile(r"<td>(\d{4}-\d{2}-\d{2})</td>")
    for machine in ("epyc-9005-2core", "epyc-9004-2core"):
        part = f"<h2>{machine}</h2>"
        every, kept = (
            sorted(dates.findall(each.split(part)[1].split("<h2>")[0])) for each in (page, short)
        )
        assert every[-verdict_page.FEWEST_ROWS :] == kept
        said = f"newest {len(kept)} of {len(every)} changes on {machine}" in short
        assert said == (len(every) > len(kept))
    assert "The newest 5 of" in short
    assert "The newest" not in page


def test_a_short_list_has_the_largest_changes_of_its_last_day(monkeypatch):
    """Widest first, then largest: those after them are left out."""
    monkeypatch.setattr(verdict_page, "MOST_ROWS", 1)
    monkeypatch.setattr(verdict_page, "FEWEST_ROWS", 2)
    lines = lines_of((1.0, 1.0, 2.0, 2.0), (1.0, 1.0, 8.0, 8.0), (1.0, 1.0, 1.0, 4.0))
    changed = [2, 2, 3]
    for line, place in zip(lines, changed, strict=True):
        before, after = line.steady[place - 1 : place + 1]
        ratio = after.seconds / before.seconds
        vars(line)["long_enough"] = True
        vars(line)["changes"] = [line.shift(Change(place, ratio, ratio, ratio, 1.0))]
    shown = verdict_page.page("deepbench", lines, causes(lines), {})
    factors = [re.findall(r"([\d.]+)\u00d7 slower", row)[0] for row in table_rows(shown)]
    assert ["4", "8"] == factors
    assert "The newest 2 of 3 changes" in shown


def test_a_hostile_machine_is_text(tmp_path):
    """A machine's name is never markup."""
    site = published_site.publish(tmp_path)
    assert published_site.HOSTILE not in (site / verdict_page.PAGE).read_text("utf-8")
    known = {release.hash: release for release in release_table.load(tmp_path / "releases.csv")}
    given = point_reading.load(tmp_path / "results", published_site.HOSTILE, known)
    numbers = kernel_lines.lines(given, list(known.values()))
    longer = [
        kernel_lines.Line(tuple(_measured(point) for point in line.points))
        for line in numbers
        if line.points[0].release.framework == "numpy"
    ]
    shown = verdict_page.page("deepbench", longer, causes(longer), {})
    assert escape(published_site.HOSTILE) in shown
    assert published_site.HOSTILE not in shown


def _measured(point):
    """The point as if two processes had measured it."""
    return point._replace(rounds=(point.seconds * 0.999, point.seconds * 1.001))


def test_asvs_navigation_links_to_the_verdicts():
    """The list of changes comes before asv's own, which stays; an unknown one is an error."""
    entry = '<li id="nav-li-regressions"><a href="#/regressions">Regressions</a></li>'
    found = asv_index_offline.with_own_pages(f"<ul>{entry}</ul>")
    assert found.index("verdicts.html") < found.index("#/regressions")
    assert "asv regressions" in found
    with pytest.raises(asv_index_offline.PagesError, match="navigation"):
        asv_index_offline.with_own_pages("<ul></ul>")
