"""The README: short, and every command in it that is marked as runnable runs as printed."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
RUNNABLE = [
    line
    for block in re.findall(r"<!-- runnable -->\n```\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
]


def expected_status(line: str) -> int:
    """Return the exit status that the line's own comment announces, 0 without one."""
    announced = re.search(r"# exits with (\d+)", line)
    return int(announced[1]) if announced else 0


def test_it_is_short():
    """A reader is through in some minutes: at most 120 lines."""
    assert len(README.splitlines()) <= 120


def test_commands_are_marked():
    """The five things to ask have a runnable command each, and more."""
    assert len(RUNNABLE) >= 9


def run(line: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of the README in this checkout with its environment active."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", line],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.slow
@pytest.mark.parametrize("line", RUNNABLE)
def test_a_command_runs_as_printed(line, tmp_path):
    """It answers, and ends as the README says, once no other test measures in this checkout."""
    done = run(line, tmp_path)
    while "measures here already" in done.stderr:
        time.sleep(2)
        done = run(line, tmp_path)
    assert expected_status(line) == done.returncode, done.stderr
    assert done.stdout.strip()
