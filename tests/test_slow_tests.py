"""No test hangs for ever: each has a time limit, in the processes of pytest-xdist as well."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from slow_tests import SLOW_SECONDS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

TESTS = f"""
import subprocess, threading, time, pytest
def test_sleeps(): time.sleep(60)
def test_waits_for_a_thread():
    thread = threading.Thread(target=time.sleep, args=(60,), daemon=True)
    thread.start()
    thread.join()
def test_waits_for_a_process(): subprocess.run(["sleep", "60"])
def test_next(): pass
@pytest.mark.slow
def test_slow(request): assert ({SLOW_SECONDS},) == request.node.get_closest_marker("timeout").args
@pytest.mark.slow
@pytest.mark.timeout(9)
def test_own(request): assert (9,) == request.node.get_closest_marker("timeout").args
"""


@pytest.mark.parametrize("processes", [0, 1])
def test_a_hanging_test_fails_and_the_next_one_runs(tmp_path: Path, processes: int) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--verbose"]
    command += ["--rootdir", str(tmp_path), "-p", "slow_tests", "-o", "timeout=2"]
    command += ["-p", "no:cacheprovider", "--numprocesses", str(processes), str(tmp_path)]
    own = {name: os.environ[name] for name in os.environ if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, timeout=120)
    assert "Failed: Timeout (>2.0s) from pytest-timeout." in done.stdout, done.stderr
    assert "3 failed, 3 passed" in done.stdout


def test_a_test_of_this_project_has_a_limit(pytestconfig: pytest.Config) -> None:
    """Ten minutes, for machines that are shared."""
    assert 600 == float(pytestconfig.getini("timeout"))


ORDERED = """
import pytest
pytestmark = pytest.mark.slow
def test_one(): pass
"""


def test_seeded_tests_run_first_then_files_with_many_tests(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(ORDERED)
    (tmp_path / "test_b.py").write_text(ORDERED + "def test_two(): pass\n")
    (tmp_path / "test_c.py").write_text(ORDERED.replace("def", "@pytest.mark.seeded\ndef"))
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--verbose"]
    command += ["--rootdir", str(tmp_path), "-p", "slow_tests", "-p", "no:cacheprovider"]
    command += ["-p", "no:xdist", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    ended = [line.split("::")[0][-4:-3] for line in done.stdout.splitlines() if "PASSED" in line]
    assert ["c", "b", "b", "a"] == ended, done.stdout
