"""Releases that an interpreter holds already: measured as they are, and never changed."""

import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner
from command import make_project

from deepbench_ops.cli import cli
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import threads, worker_control
from deepbench_ops.releases import installed_release, release_table, worker_launch

NUMPY = metadata.version("numpy")
TASK = {"family": "gemm", "problem": "m35_n700_k2048_NN", "precision": "float32"}


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory):
    """A virtual environment with numpy and nothing else that measuring needs."""
    folder = tmp_path_factory.mktemp("other") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    here = Path(str(metadata.distribution("numpy").locate_file("")))
    for path in (*here.glob("numpy"), *here.glob("numpy.libs"), *here.glob("numpy-*-info")):
        (site / path.name).symlink_to(path)
    return folder / "bin" / "python"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project folder, the current one, whose release table lists another numpy."""
    make_project(tmp_path, dvcs="releases", repo="releases.csv")
    monkeypatch.chdir(tmp_path)
    columns = ",".join(release_table.COLUMNS)
    (tmp_path / "releases.csv").write_text(f"{columns}\nnumpy,1.0.0,2020-01-01,,no,\n")
    return tmp_path


def added(python, version=NUMPY, *more):
    """Run `deepbench release add` with an interpreter."""
    arguments = ["release", "add", f"numpy=={version}", "--python", str(python), *more]
    return CliRunner().invoke(cli, arguments)


def files_of(interpreter):
    """Paths of all files of an environment, with their times of change."""
    folder = interpreter.parents[1]
    return {
        path: path.lstat().st_mtime_ns for path in folder.rglob("*") if "__pyc" not in str(path)
    }


def test_it_is_measured_as_it_is_and_stays_as_it_was(project, interpreter):
    """Its worker runs in that interpreter and takes missing packages from a folder apart."""
    before = files_of(interpreter)
    done = added(interpreter, NUMPY, "--date", "2026-01-02")
    assert 0 == done.exit_code, done.output
    assert "asv_runner, scipy-openblas32, threadpoolctl missing there" in done.output
    assert f"numpy-{NUMPY} (2026-01-02)" in done.output
    (row,) = (one for one in release_table.load(project / "releases.csv") if one.version == NUMPY)
    launch = worker_launch.launch(row)
    code = "import sys, numpy, asv_runner, threadpoolctl; print(sys.prefix)"
    said = subprocess.run([launch.python, "-c", code], capture_output=True, text=True, check=True)
    assert str(interpreter.parents[1]) == said.stdout.strip()
    worker = worker_control.LiveWorker(launch, threads.allowed_cpus())
    try:
        answer = worker.ask(do="prepare", **TASK, operation="forward")
    finally:
        worker.close()
    assert answer
    assert before == files_of(interpreter)
    assert 0 == added(interpreter).exit_code  # again, without another row
    assert 2 == len(release_table.load(project / "releases.csv"))


def uses(project):
    """Let the environment's interpreter note each start; return the file of the notes."""
    script = project / ".asv" / "env" / f"numpy-{NUMPY}" / "bin" / "python"
    first, rest = script.read_text().split("\n", 1)
    script.write_text(f'{first}\necho "$2" >> {project}/uses\n{rest}')
    return project / "uses"


def test_its_kernels_are_checked_in_its_interpreter(project, interpreter):
    """`deepbench check --release` has the rows of that framework, as they are computed there."""
    added(interpreter, NUMPY, "--date", "2026-01-02")
    used = uses(project)
    asked = ["check", "--release", f"numpy-{NUMPY}", "--device", "cpu", "--family", "gemm"]
    done = CliRunner().invoke(cli, [*asked, "--precision", "float32", "--format", "json"])
    assert 0 == done.exit_code, done.output
    (row,) = json.loads(done.stdout)
    assert ("numpy", "gemm", "ok") == (row["framework"], row["family"], row["verdict"])
    assert "deepbench_ops.distributed.check_rows\n" == used.read_text()
    other = CliRunner().invoke(cli, [*asked, "--framework", "torch"])
    assert "is no release of --framework" in str(other.exception)


def test_it_is_timed_in_its_interpreter(project, interpreter):
    """`deepbench time --release` names the framework by its release."""
    added(interpreter, NUMPY, "--date", "2026-01-02")
    used = uses(project)
    asked = ["time", "m96_n32_k64_NN", "--release", f"numpy-{NUMPY}", "--processes", "1"]
    done = CliRunner().invoke(cli, [*asked, "--format", "json"])
    assert 0 == done.exit_code, done.output
    assert f"numpy {NUMPY}" == json.loads(done.stdout)["framework"]
    assert "deepbench_ops.measure.kernel_process\n" in used.read_text()
    both = CliRunner().invoke(cli, [*asked, "--framework", "numpy"])
    assert "not both" in str(both.exception)


def test_facts_say_that_the_interpreter_was_there_before(project, interpreter):
    """In the record of each measurement."""
    added(interpreter, NUMPY, "--date", "2026-01-02")
    python = project / ".asv" / "env" / f"numpy-{NUMPY}" / "bin" / "python"
    code = (
        "from deepbench_ops.measure import fingerprint as f; print(f.of_the_run()['environment'])"
    )
    said = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("an interpreter of this machine")


def test_cleaning_leaves_the_interpreter_alone(project, interpreter):
    """Its release gets an environment of its own from then on."""
    added(interpreter, NUMPY, "--date", "2026-01-02")
    before = files_of(interpreter)
    done = CliRunner().invoke(cli, ["release", "clean", f"numpy-{NUMPY}"])
    assert 0 == done.exit_code, done.output
    assert before == files_of(interpreter)
    folder = project / ".asv" / "env"
    assert not (folder / f"numpy-{NUMPY}").exists()
    assert {} == installed_release.interpreters(folder)


def test_it_is_found_out_when_the_interpreter_has_changed(project, interpreter, tmp_path):
    """One that is gone, or holds another version, is named."""
    folder = project / ".asv" / "env"
    added(interpreter, NUMPY, "--date", "2026-01-02")
    (row,) = (one for one in release_table.load(project / "releases.csv") if one.version == NUMPY)
    installed_release.remember(folder, row.name, tmp_path / "gone")
    with pytest.raises(DeepbenchError, match=r"cannot be measured: .*gone: no such interpreter"):
        worker_launch.launch(row)


def upgrade(site):
    """Let an environment name another version of its numpy, as an upgrade does."""
    (info,) = site.glob("numpy-*.dist-info")
    text = (info / "METADATA").read_text().replace(f"Version: {NUMPY}\n", "Version: 999.1\n", 1)
    info.unlink()
    (site / "numpy-999.1.dist-info").mkdir()
    (site / "numpy-999.1.dist-info" / "METADATA").write_text(text)


def test_an_upgrade_there_is_refused_before_anything_is_measured(project, interpreter, tmp_path):
    """Times of the new version are not filed under the old one, though its folder is complete."""
    other = tmp_path / "upgraded"
    shutil.copytree(interpreter.parents[1], other, symlinks=True)
    python = other / "bin" / "python"
    added(python, NUMPY, "--date", "2026-01-02")
    (row,) = (one for one in release_table.load(project / "releases.csv") if one.version == NUMPY)
    upgrade(next(other.glob("lib/python*/site-packages")))
    installed_release.probed_once.cache_clear()
    with pytest.raises(
        DeepbenchError,
        match=rf"numpy is 999\.1 there, not {NUMPY}: .* release add numpy==999\.1 --python",
    ):
        worker_launch.launch(row)


def test_an_interpreter_is_asked_once_in_a_run(project, interpreter, monkeypatch):
    """A large framework takes seconds to import."""
    added(interpreter, NUMPY, "--date", "2026-01-02")
    (row,) = (one for one in release_table.load(project / "releases.csv") if one.version == NUMPY)
    first = worker_launch.launch(row)
    monkeypatch.setattr(installed_release, "probed", None)
    assert first == worker_launch.launch(row)


@pytest.mark.parametrize(
    ("python", "version", "message"),
    [
        ("nowhere", NUMPY, "nowhere: no such interpreter"),
        (None, "1.0.0", "not 1.0.0: give the version that it has"),
        ("/bin/true", NUMPY, "is no Python interpreter"),
    ],
)
def test_what_cannot_be_measured_is_refused(project, interpreter, python, version, message):
    """In one line, and nothing is written."""
    table = (project / "releases.csv").read_text()
    done = added(python or interpreter, version)
    assert 0 != done.exit_code
    assert message in str(done.exception)
    assert table == (project / "releases.csv").read_text()
    assert not (project / ".asv" / "env" / installed_release.FILE).exists()


@pytest.mark.parametrize("spelt", ["acme_toy", "Acme.Toy", "acme.toy"])
def test_a_plugin_is_linked_however_its_name_is_spelt(tmp_path, spelt):
    """Installers write Acme.Toy in several ways."""
    info = tmp_path / f"{spelt}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Acme.Toy\nVersion: 1.0\n")
    assert [info] == list(installed_release._descriptions(metadata.PathDistribution(info)))


def test_a_damaged_list_of_interpreters_is_named(tmp_path):
    """With what to do."""
    (tmp_path / installed_release.FILE).write_text(json.dumps([1]))
    with pytest.raises(DeepbenchError, match="add its releases again with --python"):
        installed_release.interpreters(tmp_path)


def test_an_interpreter_without_the_framework_is_refused(tmp_path):
    """With the reason that Python gives."""
    assert os.access(sys.executable, os.X_OK)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    with pytest.raises(DeepbenchError, match="No module named 'numpy'"):
        installed_release.probed(python, "numpy")
