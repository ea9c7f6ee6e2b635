"""`deepbench release`: rows are added whole or not at all, environments shown and removed."""

import datetime
import shutil
from pathlib import Path

import pytest
import wheelhouse
from click.testing import CliRunner
from command import make_project
from filelock import FileLock
from packaging.version import Version

from deepbench_ops.cli import cli
from deepbench_ops.commands import options
from deepbench_ops.commands.options import measuring_lock
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import (
    environment_install,
    new_release_row,
    package_index,
    release_table,
)
from deepbench_ops.releases.package_index import Upload
from deepbench_ops.storage import locks

ROWS = """framework,version,date,pins,on_request,index
numpy,1.0.0,2020-01-01,companion==1.0,no,
"""


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """The only index pip sees: two releases, and one that no companion goes with."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for version in ("1.0.0", "2.0.0"):
        wheelhouse.build(folder, "numpy", version, "")
    wheelhouse.build(folder, "companion", "1.0", "", "numpy<2")
    for name, value in wheelhouse.pip_environment(folder).items():
        monkeypatch.setenv(name, value)
    files = [Upload(path.name, "2021-05-06") for path in folder.glob("numpy*")]
    monkeypatch.setattr(package_index, "fetch", lambda project: files)
    return folder


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """The release table of a project folder, the current one, with a single row."""
    make_project(tmp_path, dvcs="releases", repo="releases.csv")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "releases.csv"
    path.write_text(ROWS)
    return path


def added(*arguments):
    return CliRunner().invoke(cli, ["release", "add", *arguments], catch_exceptions=False)


def test_a_release_of_the_index_becomes_a_row_with_its_date(wheels, listed):
    """The row's day is the index's; the next `asv run` knows the release by name."""
    done = added("numpy==2.0.0", "--pins", "")
    assert "added numpy-2.0.0 (2021-05-06); measure it with: asv run numpy-2.0.0^!\n" == done.output
    assert f"{ROWS}numpy,2.0.0,2021-05-06,,yes,\n" == listed.read_text()


def test_a_wheel_becomes_a_row_whose_index_is_its_file(wheels, listed, tmp_path):
    """A nightly is found again by every later install, with the newest release's companions."""
    nightly = wheelhouse.build(tmp_path, "numpy", "1.5.0.dev1", "")
    added("numpy==1.5.0.dev1", "--wheel", str(nightly), "--date", "2020-02-02")
    row = release_table.load(listed)[-1]
    assert ("numpy-1.5.0.dev1", datetime.date(2020, 2, 2)) == (row.name, row.date)
    assert (("companion==1.0",), nightly.as_uri()) == (row.pins, row.index)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("numpy",), "'numpy' is no exact release: write it like torch==2.15.0"),
        (("numpy>=2",), "'numpy>=2' is no exact release"),
        (("numpyy==2.0.0",), "'numpyy==2.0.0' is no exact release of one of numpy, torch"),
        (("numpy==9.0.0",), "numpy 9.0.0 is not on the package index for this Python, or yanked"),
        (("numpy==1.0.0", "--pins", ""), "numpy-1.0.0 is in .* already"),
        (("numpy==2.0.0", "--pins", "companion"), "--pins: pin 'companion' is not exact"),
        (
            ("numpy==2.0.0", "--pins", "companion==1.0"),
            r"numpy-2.0.0 is not added \(numpy==2.0.0 companion==1.0\)",
        ),
        (("numpy==2.0.0", "--pins", "companion==7"), "companion==7"),
        (("numpy==2.0.0", "--index", "somewhere"), "--index: index is 'somewhere': write the URL"),
        (("numpy==2.0.0", "--index", "https://[::1"), r"index is 'https://\[::1': write the URL"),
        (("numpy==2.0.0", "--index", "https://"), "index is 'https://': write the URL"),
        (
            ("numpy==2.0.0", "--index", "https://ada:s3cret@host/simple"),
            r"index is 'https://\*\*\*\*@host/simple': leave out .* pip\.conf",
        ),
        (("numpy==2.0.0", "--wheel", "numpy-3.0.0-py3-none-any.whl"), "no such file"),
    ],
)
def test_what_cannot_be_measured_is_not_added(wheels, listed, arguments, message):
    """One line says what is wrong, and the table stays as it was."""
    with pytest.raises(DeepbenchError, match=message):
        added(*arguments)
    assert ROWS == listed.read_text()


def test_a_release_that_is_listed_is_refused_before_the_index_is_asked(listed, monkeypatch):
    """However its version is written, and where no index answers."""

    def asked():
        raise AssertionError("the index was asked")

    monkeypatch.setattr(new_release_row, "Index", asked)
    for text in ("numpy==1.0.0", "numpy==1.0"):
        with pytest.raises(DeepbenchError, match=r"numpy-1\.0\.0 is in .* already"):
            added(text)
    assert ROWS == listed.read_text()


def test_a_wheel_with_pins_is_the_first_release_of_its_framework(wheels, listed, tmp_path):
    """No other row is needed to take pins from; without pins the line asks for them."""
    nightly = wheelhouse.build(tmp_path, "torch", "1.5.0", "")
    with pytest.raises(DeepbenchError, match=r"no release of torch is listed .* give --pins"):
        added("torch==1.5.0", "--wheel", str(nightly))
    added("torch==1.5.0", "--wheel", str(nightly), "--pins", "companion==1.0")
    assert "torch-1.5.0" == release_table.load(listed)[-1].name


def test_a_wheel_of_another_version_is_refused(wheels, listed, tmp_path):
    """The name of the row and the release installed under it are the same."""
    nightly = wheelhouse.build(tmp_path, "numpy", "1.5.0.dev1", "")
    with pytest.raises(DeepbenchError, match=r"is version 1\.5\.0\.dev1, not 1\.6"):
        new_release_row.from_wheel("numpy", Version("1.6"), nightly, (), None, listed)


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A folder that pip builds, in the current one, with the name of a project of the index."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "six"
    folder.mkdir()
    (folder / "backend.py").write_text(
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parents[1] / 'support')!r})\n"
        "sys.path.append({!r})\n".format(str(Path(pytest.__file__).parents[1]))
        + "from pathlib import Path\nimport wheelhouse\n"
        "def build_wheel(folder, *more):\n"
        "    return wheelhouse.build(Path(folder), 'mine', '1', '').name\n"
    )
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    return folder


@pytest.mark.slow
def test_a_source_folder_is_built_into_a_wheel(source, tmp_path):
    """A build of one's own becomes a file, also where the index has a project of that name."""
    assert "mine-1-py3-none-any.whl" == new_release_row.built("six", tmp_path / "made", "mine").name
    with pytest.raises(DeepbenchError, match="no such folder"):
        new_release_row.built(str(tmp_path / "nowhere"), tmp_path / "made", "mine")


@pytest.mark.slow
def test_an_earlier_build_is_not_replaced(source, tmp_path):
    """A row of the table may name it; the line says which file it is."""
    made = new_release_row.built("six", tmp_path / "made", "mine")
    made.write_bytes(b"earlier")
    with pytest.raises(DeepbenchError, match=f"was built before: give --wheel {made}, or remove"):
        new_release_row.built("six", tmp_path / "made", "mine")
    assert (b"earlier", [made]) == (made.read_bytes(), list(made.parent.iterdir()))


@pytest.mark.slow
def test_the_output_of_a_build_that_fails_is_in_a_log(source, tmp_path):
    """The line names it: pip's last note seldom says why."""
    (source / "backend.py").write_text("raise RuntimeError('no compiler')\n")
    log = tmp_path / "made" / "mine.log"
    with pytest.raises(DeepbenchError, match=rf"mine is not built from six: .* output: {log}\]"):
        new_release_row.built("six", tmp_path / "made", "mine")
    assert "no compiler" in log.read_text()


def test_a_source_that_is_not_built_is_named_without_its_token(tmp_path):
    """Neither the message nor the log of the build has it."""
    source = f"git+file://ada:t0ken@{tmp_path}/nowhere.git"
    with pytest.raises(DeepbenchError, match=r"git\+file://\*\*\*\*@/") as error:
        new_release_row.built(source, tmp_path / "made", "mine")
    texts = [str(error.value), *(log.read_text() for log in (tmp_path / "made").glob("*.log"))]
    assert not any("t0ken" in text for text in texts)


def test_environments_are_shown_and_removed(listed, tmp_path, monkeypatch):
    """Disk use is listed by release, and gone after a clean; the table stays."""
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    folder = tmp_path / ".asv" / "env" / "numpy-1.0.0"
    folder.mkdir(parents=True)
    (folder / "big").write_bytes(b"x" * (3 << 20))
    run = CliRunner().invoke
    shown = run(cli, ["release", "list", "--installed"], catch_exceptions=False).output
    assert shown.splitlines()[2].split() == ["numpy-1.0.0", "2020-01-01", "companion==1.0", "3"]
    with pytest.raises(DeepbenchError, match=r"name the releases .* or give --all"):
        run(cli, ["release", "clean"], catch_exceptions=False)
    run(cli, ["release", "clean", "numpy-1.0.0"], catch_exceptions=False)
    assert not folder.exists() and ROWS == listed.read_text()


def test_an_environment_whose_row_is_gone_is_removed_by_its_name(listed, tmp_path):
    """`release add --python` sends users here; a name without an environment is unknown."""
    folder = tmp_path / ".asv" / "env" / "numpy-0.9.0"
    folder.mkdir(parents=True)
    run = CliRunner().invoke
    run(cli, ["release", "clean", "numpy-0.9.0"], catch_exceptions=False)
    assert not folder.exists()
    for name in ("numpy-0.9.0", "../env"):
        with pytest.raises(DeepbenchError, match=f"unknown release '?{name}"):
            run(cli, ["release", "clean", name], catch_exceptions=False)


def test_an_environment_that_is_being_installed_is_not_cleaned(listed, tmp_path, monkeypatch):
    """Neither is the log of its installation."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.1)
    folder = tmp_path / ".asv" / "env"
    (folder / "numpy-1.0.0").mkdir(parents=True)
    log = folder / "numpy-1.0.0.log"
    log.write_text("Installing\n")
    asked = ["release", "clean", "numpy-1.0.0"]
    with (
        FileLock(folder / "numpy-1.0.0.lock"),
        pytest.raises(DeepbenchError, match=r"numpy-1\.0\.0"),
    ):
        CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert log.exists() and (folder / "numpy-1.0.0").exists()
    CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert not log.exists() and not (folder / "numpy-1.0.0").exists()


def test_an_environment_that_is_half_removed_does_not_count(listed, tmp_path, monkeypatch):
    """A clean may be killed: the marker goes first."""
    folder = tmp_path / ".asv" / "env" / "numpy-1.0.0"
    folder.mkdir(parents=True)
    marker = folder / environment_install.MARKER
    marker.write_text("{}")
    (folder / "big").write_text("x")
    seen = []
    monkeypatch.setattr(
        shutil, "rmtree", lambda place, **_: seen.append((place.name, marker.exists()))
    )
    asked = ["release", "clean", "numpy-1.0.0"]
    CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert [("numpy-1.0.0", False)] == seen


def test_no_environment_is_removed_while_a_run_measures(listed, tmp_path, monkeypatch):
    """It may be in use."""
    monkeypatch.setattr(options, "measuring_lock", measuring_lock)
    folder = tmp_path / ".asv" / "env" / "numpy-1.0.0"
    folder.mkdir(parents=True)
    asked = ["release", "clean", "numpy-1.0.0"]
    with (
        FileLock(tmp_path / ".asv" / locks.NAME),
        pytest.raises(DeepbenchError, match="measures here already"),
    ):
        CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert folder.exists()
