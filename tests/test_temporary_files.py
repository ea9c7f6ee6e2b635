"""Temporary files that tests leave behind are removed when the test run ends."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

TESTS = """
import subprocess, tempfile
def test_leaves_files(tmp_path):
    tempfile.mkstemp()
    subprocess.run(["mktemp", "-d"], check=True)
    (tmp_path / "kept").touch()
"""


@pytest.mark.parametrize("processes", [0, 1])
def test_a_run_leaves_only_the_folders_of_tmp_path(tmp_path: Path, processes: int) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "pytest", "-p", "temporary_files", "-p", "no:cacheprovider"]
    command += ["--numprocesses", str(processes), "test_it.py"]
    own = {name: os.environ[name] for name in os.environ if not name.startswith("PYTEST_")}
    own |= {"PYTHONPATH": str(ROOT / "tests" / "support"), "TMPDIR": str(temporary)}
    done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True)
    assert 0 == done.returncode, done.stdout + done.stderr
    (left,) = temporary.iterdir()
    assert left.name.startswith("pytest-of-")
    assert 1 == len(list(left.rglob("kept")))


def test_this_run_has_such_a_folder() -> None:
    """Python and the programs that tests start agree on it."""
    folder = Path(tempfile.gettempdir())
    assert folder.name.startswith("tests-")
    assert str(folder) == os.environ["TMPDIR"]
