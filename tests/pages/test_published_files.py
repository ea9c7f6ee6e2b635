"""Files that publishing adds to asv's site; test_asv_pages_browser.py opens them."""

import datetime
import hashlib
import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any
from unittest import mock

import published_site
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_site import unpacked

from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.pages import (
    asv_index_offline,
    data_encoding,
    release_list,
    site_publication,
    vendored_libraries,
)
from deepbench_ops.pages.release_list import ListedRelease
from deepbench_ops.pages.vendored_libraries import ASSETS

ASV_INDEX = asv_api.INDEX_PAGE.read_text("utf-8")


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published_site.publish(tmp_path_factory.mktemp("site"))


def refuse(token: str) -> None:
    raise AssertionError(f"{token} is not JSON")


# The libraries brought along


def test_every_copy_has_its_recorded_sum() -> None:
    """The copies are the files of the packages, and each folder holds a licence."""
    packages = json.loads((ASSETS / "manifest.json").read_text("utf-8"))["packages"]
    for package in packages:
        folder = ASSETS / "vendor" / f"{package['name']}-{package['version']}"
        for entry in package["files"]:
            content = (folder / Path(entry["source"]).name).read_bytes()
            assert entry["sha256"] == hashlib.sha256(content).hexdigest(), entry["source"]
        assert len(list(folder.glob("LICENSE*"))) == 1
    listed = {f"{p['name']}-{p['version']}" for p in packages}
    assert listed == {folder.name for folder in (ASSETS / "vendor").iterdir()}


def test_third_party_list_names_every_library() -> None:
    """THIRD_PARTY.md has name, version, licence and origin of each package."""
    text = (ASSETS / "THIRD_PARTY.md").read_text("utf-8")
    for p in json.loads((ASSETS / "manifest.json").read_text("utf-8"))["packages"]:
        assert f"| {p['name']} | {p['version']} | {p['licence']} | {p['origin']} |" in text


# index.html


def test_index_loads_nothing_from_elsewhere(html: Path) -> None:
    """Every script, style and picture of the page is a file of the site, fit for file://."""
    page = (html / "benchmarks.html").read_text("utf-8")
    loaded = re.findall(r'<(?:script|link|img)\b[^>]*?(?:src|href)="([^"]*)"', page)
    parts = json.loads(unescape(re.search(r'data-parts="([^"]*)"', page)[1]))
    later = {name for names in parts.values() for name in names}
    assert [name for name in {*loaded, *later} if not (html / name).is_file()] == []
    assert 10 == sum(name.startswith("vendor/") for name in {*loaded, *later})
    assert not later & {*loaded}
    assert 5 == sum("flot" in name and "vendor/" in name for name in parts["graphdisplay"])
    assert re.findall(r"integrity=|crossorigin=|referrerpolicy=", page) == []


def test_the_libraries_keep_their_order() -> None:
    """Each copy takes the place of the original, since flot's plugins need flot before them."""
    rewritten = asv_index_offline.localised(ASV_INDEX)
    before = re.findall(r'(?:src|href)="https://[^"]*" integrity="([^"]*)"', ASV_INDEX)
    after = re.findall(r'(?:src|href)="(vendor/[^"]*)"', rewritten)
    assert [vendored_libraries.copies()[integrity] for integrity in before] == after


def test_a_library_that_asv_adds_is_noticed() -> None:
    """An unknown address stops publishing with one line that names it."""
    page = ASV_INDEX.replace(
        "</head>", '<script src="https://example.org/new.js" integrity="sha256-x"></script></head>'
    )
    with pytest.raises(asv_index_offline.PagesError) as error:
        asv_index_offline.localised(page)
    assert "https://example.org/new.js" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_library_without_a_sum_is_noticed() -> None:
    """An address that dropped its integrity sum is not taken for the library of that name."""
    with pytest.raises(asv_index_offline.PagesError, match=r"jquery-3\.3\.1\.min\.js"):
        asv_index_offline.localised(re.sub(r' integrity="sha256-Fgp[^"]*"', "", ASV_INDEX))


def test_a_library_that_asv_drops_is_noticed() -> None:
    """A library that the page no longer names stops publishing too."""
    with pytest.raises(asv_index_offline.PagesError, match=r"blueimp-md5-2\.19\.0"):
        asv_index_offline.localised(
            re.sub(r"<script src=[^>]*md5\.min\.js[^>]*></script>", "", ASV_INDEX)
        )


def test_asv_prints_the_error_as_one_line(tmp_path: Path, monkeypatch: Any) -> None:
    """An error of ours reaches asv as its UserError, which it prints without a traceback."""
    published_site.write_table(tmp_path / "releases.csv")
    published_site.write_results(tmp_path / "results")
    monkeypatch.setattr(
        asv_index_offline, "localised", mock.Mock(side_effect=asv_index_offline.PagesError("no"))
    )
    with pytest.raises(asv_api.UserError, match=r"\Ano\Z"):
        published_site.published(tmp_path)


def test_a_page_without_an_end_is_refused() -> None:
    """Ours is only put into a page whose head and body end once."""
    with pytest.raises(asv_index_offline.PagesError, match="</body>"):
        asv_index_offline.extended("<html><head></head>", "project", True, {})


def test_project_name_is_escaped(html: Path) -> None:
    """The project's name from asv.conf.json is text, not HTML."""
    for name in ("index.html", "releases.html"):
        page = (html / name).read_text("utf-8")
        assert "deepbench &lt;ops&gt;" in page
        assert "deepbench <ops>" not in page


# Data for file://

tokens = st.sampled_from([float("nan"), float("inf"), float("-inf")])
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | tokens | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def without_tokens(data: Any) -> Any:
    """`data` with null for NaN and the infinities."""
    if isinstance(data, float) and (data != data or data in (float("inf"), float("-inf"))):
        return None
    if isinstance(data, list):
        return [without_tokens(item) for item in data]
    if isinstance(data, dict):
        return {key: without_tokens(item) for key, item in data.items()}
    return data


@given(values)
def test_strict_json_loses_only_what_is_no_number(data: Any) -> None:
    """NaN and the infinities become null, all else stays, strings that read NaN included."""
    text = data_encoding.strict_json(json.dumps(data))
    assert without_tokens(data) == json.loads(text, parse_constant=refuse)


@given(st.text())
def test_packed_text_comes_back(text: str) -> None:
    """A script returns any text unchanged, and no text can end the call early."""
    assert text == unpacked(data_encoding.script_of(text))


def test_every_json_file_has_its_script(html: Path) -> None:
    """index.json, written by asv after all publishers, and every graph can be read from disk."""
    files = sorted(html.rglob("*.json"))
    assert {"index.json", "info.json", "regressions.json"} <= {f.name for f in files}
    for path in files:
        text = path.read_text("utf-8")
        json.loads(text, parse_constant=refuse)
        assert text == unpacked(path.with_name(path.name + ".js").read_text("utf-8"))


def test_tokens_in_asvs_files_are_mended(tmp_path: Path) -> None:
    """A file that a browser could not parse is rewritten in place."""
    path = tmp_path / "graphs" / "broken.json"
    path.parent.mkdir()
    path.write_text("[[1, NaN], [2, -Infinity], [3, 0.5]]", "utf-8")
    data_encoding.write(tmp_path)
    assert json.loads(path.read_text("utf-8")) == [[1, None], [2, None], [3, 0.5]]


# Releases


def test_release_list_has_every_release(html: Path) -> None:
    """A row has the hash, the name, the machines and a link to the project page."""
    page = (html / "releases.html").read_text("utf-8")
    for framework, version, day, seconds in published_site.RELEASES:
        start = f'<tr id="{published_site.commit(framework, version)}">'
        row = page[page.index(start) : page.index("</tr>", page.index(start))]
        assert f'<a name="{framework} {version}">' in row
        assert f'href="https://pypi.org/project/{framework}/{version}/"' in row
        assert day in row
        assert (seconds is None) == ("not measured" in row)


def test_release_list_is_escaped(html: Path) -> None:
    """A machine's name is text there, not HTML."""
    page = (html / "releases.html").read_text("utf-8")
    assert published_site.HOSTILE not in page
    assert "&lt;img src=x" in page


@given(st.text())
def test_no_tag_becomes_html(tag: str) -> None:
    """The row of a release holds no tags but our own, whatever the release table holds."""
    release = ListedRelease("00ff", tag, datetime.date(2024, 2, 5), (tag,))
    page = release_list.page("deepbench", [release], own_pages=True)
    row = page[page.index('<tr id="00ff">') : page.index("</tbody>")]
    assert {"tr", "th", "td", "a"} >= set(re.findall(r"<(\w+)", row))
    assert re.fullmatch(r"(<[^<>]*>|[^<>])*", row)


def test_a_dash_in_a_frameworks_name_stays() -> None:
    """The version follows the last dash."""
    release = ListedRelease("00ff", "scikit-learn-1.5.0", datetime.date(2024, 2, 5), ())
    assert release.name == "scikit-learn 1.5.0"
    assert release.project_page == "https://pypi.org/project/scikit-learn/1.5.0/"


def test_links_of_the_feed_lead_to_the_release_list(html: Path) -> None:
    """asv's regression feed links a release's row unless asv.conf.json says otherwise."""
    slower = published_site.commit("numpy", "2.0.2")
    assert f"releases.html#{slower}" in (html / "regressions.xml").read_text("utf-8")


def test_configured_links_stay() -> None:
    """A show_commit_url of the user's own, or of a source repository, is not changed."""
    own = mock.Mock(html_dir="html", show_commit_url="https://example.org/")
    source = mock.Mock(html_dir="html", show_commit_url="#")
    site_publication.SitePublication(own, ())
    site_publication.SitePublication(source, None)
    assert ("https://example.org/", "#") == (own.show_commit_url, source.show_commit_url)


def test_source_commits_keep_asvs_hashes() -> None:
    """With a source repository the script leaves asv's names as they are."""
    page = asv_index_offline.extended("<html><head></head></body>", "project", False, {})
    assert 'data-releases="no"' in page


def test_grid_graphs_show_one_framework(html: Path) -> None:
    """The grid's line holds the first framework's releases only, so it does not jump."""
    path = html / "graphs" / "summary" / f"{published_site.BENCHMARK}.json"
    measured = [
        revision
        for revision, (framework, _, _, seconds) in enumerate(published_site.RELEASES)
        if framework == "numpy" and seconds is not None
    ]
    assert measured == [revision for revision, _ in json.loads(path.read_text("utf-8"))]


# The command


def test_screenshot_script_names_a_missing_site(tmp_path: Path) -> None:
    """A folder that was never published gets one line that says what to do."""
    script = Path(__file__).resolve().parents[2] / "scripts" / "screenshot.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), str(tmp_path / "out.png")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "run asv publish first" in done.stderr.splitlines()[-1]
