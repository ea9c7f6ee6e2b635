"""`deepbench release update`: releases that came out since, from real indexes on this disk."""

from types import SimpleNamespace

import pytest
import wheelhouse
from command import deepbench, make_project

from deepbench_ops.releases import companion_pins, new_releases, package_index, release_table

pytest.importorskip("click", reason="the command needs the `track` extra")
pytest.importorskip("asv", reason="releases are installed by asv's means")

HEADER = "framework,version,date,pins,on_request,index\n"
LISTED = f"{HEADER}numpy,900.0,2026-01-02,scipy==50.0,no,\ntorch,900.0,2026-01-02,,yes,\n"


def publish(folder, project, *versions, days=()):
    """Write wheels, and the page of an index that lists them, with days where there are any."""
    links = ""
    for place, version in enumerate(versions):
        wheel = wheelhouse.build(folder, project, version, "")
        day = f' data-upload-time="{days[place]}"' if days else ""
        links += f'<a href="../{wheel.name}"{day}>{wheel.name}</a>\n'
    page = folder / project / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(links)


def use_rules(monkeypatch, rules):
    """Let these be the frameworks with a rule."""
    monkeypatch.setattr(companion_pins, "frameworks_with_rules", lambda: list(rules))
    monkeypatch.setattr(companion_pins, "rule_of", rules.__getitem__)


@pytest.fixture
def indexes(tmp_path, monkeypatch):
    """A project folder, pip's index, and one of numpy's nightly builds, which states no days."""
    make_project(tmp_path, dvcs="releases", repo="releases.csv")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "releases.csv").write_text(LISTED)
    final, nightly = tmp_path / "final", tmp_path / "nightly"
    final.mkdir()
    nightly.mkdir()
    days = ("2026-01-01", "2026-01-02", "2026-02-03", "2026-02-04")
    publish(final, "numpy", "899.0", "900.0", "901.0", "902.0rc1", days=days)
    publish(final, "scipy", "50.0", "51.0", days=("2026-01-01", "2026-02-01"))
    publish(nightly, "numpy", "902.0.dev20260301", "902.0.dev20260302", "900.5")
    for name, value in wheelhouse.pip_environment(final).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_INDEX_URL", final.as_uri())
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    rules = {
        "numpy": companion_pins.Rule("1.23.2", ("scipy",), False, nightly=nightly.as_uri()),
        "torch": companion_pins.Rule("1.13"),
    }
    use_rules(monkeypatch, rules)
    return SimpleNamespace(final=final, nightly=nightly, table=tmp_path / "releases.csv")


def test_newer_final_releases_are_listed_with_their_source(indexes):
    """No older one, no candidate for a release, and the table stays as it was."""
    status, out, err = deepbench("release", "update", "--framework", "numpy")
    rows = [line.split(maxsplit=3) for line in out.splitlines() if line.startswith("numpy")]
    assert [["numpy-901.0", "2026-02-03", "final", new_releases.INDEX]] == rows
    assert (0, "", LISTED) == (status, err, indexes.table.read_text())


def test_the_newest_nightly_comes_from_its_own_index(indexes):
    """Its day is in its version; a final release on that index is none."""
    arguments = ("--framework", "numpy", "--nightly", "--format", "names")
    _, out, _ = deepbench("release", "update", *arguments)
    assert "numpy-901.0 numpy-902.0.dev20260302\n" == out


def test_updates_are_added_with_companions_of_their_day(indexes):
    """A nightly's row names its index; a second time there is nothing to add."""
    arguments = ("release", "update", "--framework", "numpy", "--nightly", "--add")
    status, out, err = deepbench(*arguments)
    assert (0, "") == (status, err)
    assert 'asv run "numpy-901.0 numpy-902.0.dev20260302"' in out
    rows = (
        "numpy,901.0,2026-02-03,scipy==51.0,no,\n"
        f"numpy,902.0.dev20260302,2026-03-02,scipy==51.0,yes,{indexes.nightly.as_uri()}\n"
    )
    assert LISTED + rows == indexes.table.read_text()
    assert (0, "", "") == deepbench(*arguments, "--format", "names")
    assert LISTED + rows == indexes.table.read_text()


def test_older_ones_are_listed_on_request(indexes):
    """Those that the table lacks before its newest release."""
    _, out, _ = deepbench("release", "update", "--framework", "numpy", "--older")
    assert "numpy-899.0" in out


def test_a_row_of_the_package_comes_with_its_companions(indexes, monkeypatch, tmp_path):
    """deepbench's own table knows companions that no rule finds."""
    own = tmp_path / "own.csv"
    own.write_text(f"{HEADER}numpy,901.0,2026-02-02,scipy==50.0,no,\n")
    monkeypatch.setattr(release_table.measurable, "__defaults__", (own,))
    _, out, _ = deepbench("release", "update", "--framework", "numpy", "--add")
    assert new_releases.PACKAGE in out
    assert f"{LISTED}numpy,901.0,2026-02-02,scipy==50.0,no,\n" == indexes.table.read_text()


def test_an_index_without_an_answer_is_a_warning(indexes):
    """torch is on no index here; numpy is listed all the same, with status 1."""
    status, out, err = deepbench("release", "update", "--format", "names")
    assert (1, "numpy-901.0\n") == (status, out)
    assert "the package index has no torch" in err
    assert 1 == err.count("\n")


def test_an_index_without_an_answer_says_nothing_about_new_releases(indexes):
    """The answer is that it is not known."""
    status, out, err = deepbench("release", "update", "--framework", "torch")
    assert (1, 1) == (status, err.count("\n"))
    assert "not known whether anything has come out since: not all indexes answered\n" == out


def test_rows_of_the_package_need_no_index(indexes, monkeypatch, tmp_path):
    """They are listed where no index answers."""
    own = tmp_path / "own.csv"
    own.write_text(f"{HEADER}torch,901.0,2026-02-02,,yes,\n")
    monkeypatch.setattr(release_table.measurable, "__defaults__", (own,))
    status, out, err = deepbench("release", "update", "--framework", "torch", "--format", "names")
    assert (1, "torch-901.0\n") == (status, out)
    assert "the package index has no torch" in err


@pytest.mark.slow
def test_what_pip_cannot_install_is_a_warning(indexes):
    """The other updates are added."""
    (indexes.final / "numpy-901.0-py3-none-any.whl").unlink()
    arguments = ("--framework", "numpy", "--nightly", "--add", "--format", "names")
    status, out, err = deepbench("release", "update", *arguments)
    assert (1, "numpy-902.0.dev20260302\n") == (status, out)
    assert "numpy-901.0 is not added" in err
    assert "901.0," not in indexes.table.read_text()


def test_an_unknown_framework_is_refused(indexes):
    """The line names the nearest one."""
    status, out, err = deepbench("release", "update", "--framework", "nunpy")
    assert (2, "") == (status, out)
    assert "numpy" in err


def test_a_nightly_companion_is_of_the_same_index(monkeypatch):
    """jax's nightly needs the jaxlib built with it, not the last final one."""
    version = package_index.Version("0.11.0.dev20260302")
    known = {
        "jaxlib": {package_index.Version("0.10.2"): package_index.datetime.date(2026, 1, 1)},
        "jaxlib u": dict.fromkeys([version, package_index.Version("0.11.0.dev20260301")]),
    }
    asked = package_index.Index()
    asked._known = known
    rule = companion_pins.Rule("0.4.1", same="jaxlib", nightly="u")
    use_rules(monkeypatch, {"jax": rule})
    day = package_index.datetime.date(2026, 3, 2)
    made = new_releases.row(new_releases.Update("jax", version, day, "u", "u"), asked)
    assert (f"jaxlib=={version}",) == made.pins


@pytest.fixture
def add_build(indexes, monkeypatch):
    """Function that adds a build of jax from the index of builds: its row of the table."""
    jax = companion_pins.Rule("0.4.1", ("scipy",), same="jaxlib")
    use_rules(monkeypatch, {"jax": jax})

    def add(version: str) -> str:
        url = indexes.nightly.as_uri()
        arguments = (f"jax=={version}", "--index", url, "--date", "2026-11-01")
        status, _, err = deepbench("release", "add", *arguments)
        assert (0, "") == (status, err)
        return indexes.table.read_text().removeprefix(LISTED)

    return add


def test_a_build_is_added_with_the_companion_of_its_own_index(indexes, add_build):
    """`release add --index`, as its help shows it: jaxlib's builds are no final releases."""
    publish(indexes.nightly, "jax", "0.11.0.dev20261101")
    publish(indexes.nightly, "jaxlib", "0.11.0.dev20261031", "0.11.0.dev20261102")
    publish(indexes.final, "jaxlib", "0.10.2", days=("2026-01-01",))
    row = add_build("0.11.0.dev20261101")
    pins = "jaxlib==0.11.0.dev20261031 scipy==51.0"
    url = indexes.nightly.as_uri()
    assert f"jax,0.11.0.dev20261101,2026-11-01,{pins},yes,{url}\n" == row


def test_a_build_on_an_index_without_its_companion_has_the_final_one(indexes, add_build):
    """An index, or a folder, of one's own may have jax alone."""
    publish(indexes.nightly, "jax", "0.10.3.dev20261101")
    publish(indexes.final, "jaxlib", "0.10.2", "0.9.1", days=("2026-01-01", "2025-01-01"))
    assert "jaxlib==0.10.2 scipy==51.0,yes," in add_build("0.10.3.dev20261101")
