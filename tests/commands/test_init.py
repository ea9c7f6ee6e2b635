"""`deepbench init`: a project folder made whole or not at all, with results on request."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from command import COMMAND, deepbench
from full_disk import mounted

from deepbench_ops import __version__, new_project, project
from deepbench_ops.asv_adapter import configuration_check
from deepbench_ops.releases import release_table

pytest.importorskip("click", reason="the command needs the `track` extra")
pytest.importorskip("asv", reason="configurations are checked by asv's means")

ROOT = Path(__file__).resolve().parents[2]
ROW = "numpy,9.0.0,2026-01-01,,no,"


@pytest.fixture
def history(tmp_path):
    """A project folder with results of one machine, under a release that only its table has."""
    folder = tmp_path / "history"
    machine = folder / "results" / "their-machine"
    machine.mkdir(parents=True)
    (machine / "machine.json").write_text("{}")
    (machine / "one.measurements.jsonl").write_text("{}\n")
    (folder / "results" / "benchmarks.json").write_text("{}")
    (folder / "results" / ".deepbench.lock").touch()
    (folder / "releases.csv").write_text(f"{','.join(release_table.COLUMNS)}\n{ROW}\n")
    (folder / project.CONFIGURATION).write_text('{"dvcs": "releases", "repo": "releases.csv"}')
    return folder


def test_a_disk_that_is_full_is_named(tmp_path):
    """The line names the new folder, not a file that is copied into it."""
    with mounted(tmp_path, "24k"):
        status, out, err = deepbench("init", str(tmp_path / "new"))
        assert [] == list(tmp_path.iterdir())
    assert (2, "") == (status, out)
    assert (
        f"deepbench: error: No space left on device: {tmp_path / 'new'}: make room there\n" == err
    )


def test_a_new_folder_is_a_project_folder(tmp_path):
    """Its configuration is sound, and the release table, a copy of the package's, lies in it."""
    folder = tmp_path / "new" / "speed"
    status, out, err = deepbench("init", str(folder))
    assert (0, "") == (status, err)
    assert folder == project.find(folder / "results")
    assert "releases.csv" == configuration_check.load(folder / project.CONFIGURATION)["repo"]
    assert release_table.TABLE.read_text() == (folder / "releases.csv").read_text()
    suite = Path("benchmarks", "__init__.py")
    assert (ROOT / suite).read_text() == (folder / suite).read_text()
    assert [] == list((folder / "results").iterdir())
    assert 3 == sum(line.startswith("  ") for line in out.splitlines())


def test_git_ignores_what_commands_make_again(tmp_path):
    """The store is made from the results, and has their size."""
    folder = tmp_path / "speed"
    new_project.make(folder)
    ignored = (folder / ".gitignore").read_text().splitlines()
    assert f"/{project.store(folder / 'results').relative_to(folder)}/" in ignored


def test_the_repository_leads_to_its_suite_alone():
    """A benchmark in benchmarks/ would be missing from a wheel."""
    assert ["__init__.py"] == [path.name for path in (ROOT / "benchmarks").glob("*.py")]


def test_published_history_is_that_of_other_peoples_machines(tmp_path):
    """Results of machines with raw seconds are large, and stay in the checkout."""
    assert 0 == deepbench("init", str(tmp_path / "speed"), "--history")[0]
    names = {path.name for path in (tmp_path / "speed" / "results").iterdir()}
    assert {"nvidia-v100", "benchmarks.json"} <= names
    assert not any(name.startswith(("epyc-", "xeon-")) for name in names)


@pytest.mark.parametrize("form", ["zip", "gztar"])
def test_an_archive_that_would_fill_the_disk_is_refused(tmp_path, history, monkeypatch, form):
    """The sizes in its list count, which are known before anything is unpacked."""
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), form, tmp_path, "history"))
    monkeypatch.setattr(new_project, "LARGEST_HISTORY", 100)
    status, out, err = deepbench("init", str(tmp_path / "speed"), "--history", str(archive))
    assert (2, "") == (status, out)
    assert f"{archive} holds more than 1e-07 GB when unpacked: unpack it" in err
    assert not (tmp_path / "speed").exists()


@pytest.mark.parametrize("form", ["project", "results", "zip", "gztar"])
def test_history_comes_from_a_project_its_results_or_an_archive(tmp_path, history, form):
    """With raw seconds and the rows of its release table, but no lock."""
    given = {"project": history, "results": history / "results"}.get(form)
    if given is None:
        archive = shutil.make_archive(str(tmp_path / "packed"), form, tmp_path, "history")
        given = Path(archive)
    folder = tmp_path / "speed"
    assert 0 == deepbench("init", str(folder), "--history", str(given))[0]
    files = {path.relative_to(folder / "results") for path in (folder / "results").rglob("*.json*")}
    machine = Path("their-machine")
    expected = {
        machine / "machine.json",
        machine / "one.measurements.jsonl",
        Path("benchmarks.json"),
    }
    assert expected == files
    assert not list((folder / "results").rglob("*.lock"))
    assert f"{release_table.TABLE.read_text()}{ROW}\n" == (folder / "releases.csv").read_text()


def test_a_repository_may_be_there_already(tmp_path):
    """A new clone or `git init` leaves .git; the workflow installs this version."""
    (tmp_path / ".git").mkdir()
    assert 0 == deepbench("init", str(tmp_path), "--workflow")[0]
    assert tmp_path == project.find(tmp_path)
    text = (tmp_path / new_project.WORKFLOW).read_text()
    assert f"WHEEL: ./asv_bench_deepbench-{__version__}-py3-none-any.whl\n" in text
    assert 'pip install --quiet "$WHEEL[track]"' in text


def test_the_workflow_calls_commands_that_exist():
    """It is sound YAML, and its shell lines name commands and options of deepbench."""
    yaml = pytest.importorskip("yaml", reason="the workflow is YAML")
    workflow = yaml.safe_load((new_project.FILES / "measure.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    text = " ".join(step.get("run", "") for step in steps)
    called = re.findall(r"deepbench (release [a-z]+|[a-z]+)([^)\n]*)", text)
    assert {"release update", "select"} == {name for name, _ in called}
    for name, rest in called:
        status, out, _ = deepbench(*name.split(), "--help")
        assert 0 == status
        assert {*re.findall(r"--[a-z]+", rest)} <= {*re.findall(r"--[a-z]+", out)}


@pytest.mark.parametrize(
    ("there", "history", "message"),
    [
        ("notes.txt", "", "is not empty, it holds notes.txt"),
        (project.CONFIGURATION, "", f"holds {project.CONFIGURATION} already"),
        ("", "nowhere.zip", "nowhere.zip: no such folder or archive"),
        ("", "broken.zip", "broken.zip is no sound zip or tar archive"),
        ("", "broken.tar.gz", "broken.tar.gz is no sound zip or tar archive"),
        ("", "empty", "empty holds no results of any machine"),
        ("", "/dev/zero", "/dev/zero: a device or a pipe: give a file"),
    ],
)
def test_a_refusal_is_one_line_and_changes_nothing(tmp_path, monkeypatch, there, history, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    packed = Path(shutil.make_archive("whole", "gztar", ROOT, "benchmarks")).read_bytes()
    (tmp_path / "broken.tar.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "empty").mkdir()
    folder = tmp_path / "speed"
    if there:
        folder.mkdir()
        (folder / there).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    given = ("--history", history) if history else ()
    status, out, err = deepbench("init", "speed", *given)
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert message in err
    assert before == sorted(tmp_path.rglob("*"))


@pytest.mark.parametrize(
    ("place", "changed", "reason"),
    [
        (60, b"\xff" * 20, "while decompressing"),
        (6, b"\x01", "is encrypted"),
        (8, b"\x61", "compression method is not supported"),
    ],
)
def test_a_zip_that_cannot_be_unpacked_is_one_line(tmp_path, history, place, changed, reason):
    """A damaged one, one with a password, and one that only other programs unpack."""
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(project.__file__, "their-machine/machine.json")
    content = bytearray(packed.read_bytes())
    listed = content.rfind(b"PK\x01\x02") + 2  # the same fields, two bytes further on
    for at in (place, *([listed + place] if place < 30 else [])):
        content[at : at + len(changed)] = changed
    packed.write_bytes(content)
    status, out, err = deepbench("init", str(tmp_path / "speed"), "--history", str(packed))
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert f"{packed} is no sound zip or tar archive: " in err
    assert reason in err


def test_a_file_is_no_folder(tmp_path):
    """It stays as it is."""
    (tmp_path / "speed").write_text("mine")
    status, _, err = deepbench("init", str(tmp_path / "speed"))
    assert (2, "mine") == (status, (tmp_path / "speed").read_text())
    assert "is a file: name a new or an empty folder" in err


def test_of_several_at_once_one_makes_the_folder(tmp_path):
    """The others are refused, and remove nothing of it."""
    command = [*COMMAND, "init", str(tmp_path / "speed")]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    said = [process.communicate()[1] for process in started]
    ended = sorted(process.returncode for process in started)
    assert [0, 2, 2, 2, 2, 2] == ended, said
    assert all(text.count("\n") <= 1 for text in said)
    left = {path.name for path in (tmp_path / "speed").iterdir()}
    assert {".gitignore", project.CONFIGURATION, "benchmarks", "releases.csv", "results"} == left


@pytest.mark.parametrize("existed", [True, False])
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, existed):
    """An empty folder stays empty, and one that was not there is gone."""
    folder = tmp_path / "speed"
    if existed:
        folder.mkdir()

    def full(*arguments):
        raise OSError(28, "No space left on device", "benchmarks.json")

    monkeypatch.setattr(shutil, "copyfile", full)
    status, _, err = deepbench("init", str(folder))
    assert (2, 1) == (status, err.count("\n"))
    assert "No space left on device" in err
    assert ([folder] if existed else []) == sorted(tmp_path.rglob("*"))


@pytest.mark.parametrize(
    ("option", "status", "printed"),
    [
        ("--version", 0, f"deepbench, version {__version__}\n"),
        ("problems", 1, "the command needs click"),
    ],
)
def test_a_bare_install_names_its_version_and_the_missing_extra(option, status, printed):
    """Without click there is one line, and no traceback."""
    code = f"import sys; sys.modules['click'] = None; sys.argv = ['deepbench', {option!r}]\n"
    code += "from deepbench_ops.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert status == done.returncode
    assert printed in (done.stderr if status else done.stdout)
    assert 1 == (done.stdout + done.stderr).count("\n")
