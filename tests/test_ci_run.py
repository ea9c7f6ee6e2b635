""".ci/run names the slow tests that did not run, however it ends; its commands are stood in for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "run"

MAKEFILE = """
.PHONY: .venv/.ready .venv/.tools .venv/.frameworks test lint docs test-slow list-slow-tests
.venv/.ready .venv/.tools .venv/.frameworks lint docs:
test:
	@sleep $${HANGS:-0}; exit $${BROKEN:-0}
test-slow:
	@.venv/bin/python -m pytest -n 1 -m slow --verbose
list-slow-tests:
	@.venv/bin/python -m pytest -m slow --collect-only --quiet
"""

TESTS = """
import os, pytest
pytestmark = pytest.mark.slow
def test_one(): pass
def test_two(): assert os.environ["SECOND"] != "fails"
@pytest.mark.parametrize("name", ["a b"])
def test_three(name):
    if os.environ["SECOND"] == "skips": pytest.skip("no time was left")
def test_four(): pass
"""

CONFIGURATION = '''
import os, pytest
def pytest_configure(config):
    config.addinivalue_line("markers", "slow: long")
def pytest_runtest_setup(item):
    if os.environ["SECOND"] == "none": pytest.skip("none " + item.name)
@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    """The process that prints ends as soon as the third test has begun."""
    prints = "PYTEST_XDIST_WORKER" not in os.environ
    if prints and os.environ["SECOND"] == "ends" and "three" in report.nodeid:
        os.kill(os.getpid(), 9)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the script, four slow tests, and commands that do nothing."""
    files = {"Makefile": MAKEFILE, "test_it.py": TESTS, "conftest.py": CONFIGURATION}
    files["pytest.ini"] = "[pytest]\naddopts = -ra -p xdist.plugin\n"
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name in (".ci", ".venv/bin", "html", "path"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "html" / "index.html").write_text("a page")
    shutil.copy(SCRIPT, tmp_path / ".ci")
    commands = {".venv/bin/deepbench": "", ".venv/bin/asv": "", ".venv/bin/pip": ""}
    commands |= {"path/id": "echo 1", ".venv/bin/python": f'exec "{sys.executable}" "$@"'}
    for name, text in commands.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def ran(project: Path, second: str, limit: str = "3480", **more: str) -> tuple[int, list[str]]:
    """The exit status, and the lines about slow tests that did not run."""
    path = f"{project / 'path'}:{os.environ['PATH']}"
    own = {
        "PATH": path,
        "SECOND": second,
        "PYTHONPATH": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        **more,
    }
    environment = {key: os.environ[key] for key in os.environ if not key.startswith("PYTEST_")}
    done = subprocess.run(
        ["bash", project / ".ci" / "run", limit],
        env=environment | own,
        capture_output=True,
        text=True,
        timeout=120,
    )
    lines = done.stdout.splitlines()
    return done.returncode, lines[lines.index(HEADING) + 1 :]


HEADING = "slow tests that did not run, each with its reason:"


@pytest.mark.parametrize(
    ("second", "failed", "expected"),
    [
        ("passes", False, ["none: all of them ran"]),
        ("fails", True, ["none: all of them ran"]),
        ("skips", False, ["SKIPPED [1] test_it.py:8: no time was left"]),
        ("ends", True, [f"NOT REACHED test_it.py::test_{name}" for name in ("four", "three[a b]")]),
    ],
)
def test_slow_tests_that_did_not_run_are_named(
    project: Path, second: str, failed: bool, expected: list[str]
) -> None:
    """After a failure, which fails it, the others still run; killed, it names those it missed."""
    status, lines = ran(project, second)
    assert (failed, expected) == (status != 0, lines)


def test_no_slow_test_at_all_fails(project: Path) -> None:
    """All of them are skipped, and named."""
    status, lines = ran(project, "none")
    assert 1 == status
    assert 4 == len(lines)
    assert all(line.startswith("SKIPPED [1] ") for line in lines)


def test_all_are_named_where_an_earlier_step_fails(project: Path) -> None:
    """The slow tests come last."""
    status, lines = ran(project, "passes", BROKEN="3")
    assert 0 != status
    names = ("four", "one", "three[a b]", "two")
    assert [f"NOT REACHED test_it.py::test_{name}" for name in names] == lines


def test_tests_that_hang_are_ended(project: Path) -> None:
    """The slow tests did not begin, and are named."""
    status, lines = ran(project, "passes", limit="5", HANGS="100")
    assert 124 == status
    assert 4 == sum(line.startswith("NOT REACHED") for line in lines)
