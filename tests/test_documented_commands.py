"""Commands of the README, the tutorial and the how-to guides that are marked as runnable."""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("tutorial/*.md"))]
GUIDES += sorted((ROOT / "docs").glob("how-to/*.md"))
MARKED = re.compile(r"<!-- runnable -->\n```\n(.*?)```", re.DOTALL)


def commands(page: Path) -> list[str]:
    """Return the marked command lines of a page."""
    return "".join(MARKED.findall(page.read_text())).splitlines()


RUNNABLE = [
    pytest.param(line, id=f"{page.stem}: {line}") for page in GUIDES for line in commands(page)
]


def expected_status(line: str) -> int:
    """Return the exit status that the line's own comment announces, 0 without one."""
    announced = re.search(r"# exits with (\d+)", line)
    return int(announced[1]) if announced else 0


def run(line: str, folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a line in a folder of this checkout with its environment active."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": path, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_every_mark_has_commands():
    """A mark stands directly above a block of commands."""
    marks = {page: page.read_text().count("<!-- runnable -->") for page in GUIDES}
    assert marks == {page: len(MARKED.findall(page.read_text())) for page in GUIDES}


@pytest.mark.slow
@pytest.mark.parametrize("line", RUNNABLE)
def test_a_command_runs_as_printed(line, tmp_path):
    """It answers, and ends as the page says, once no other test measures in this checkout.

    It runs in a folder below the project's, where files that it writes do no harm; asv finds the
    project in its own folder alone.
    """
    (ROOT / ".asv").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / ".asv") as below:
        folder = ROOT if line.startswith("asv ") else Path(below)
        done = run(line, folder, tmp_path)
        while "measures here already" in done.stderr:
            time.sleep(2)
            done = run(line, folder, tmp_path)
        assert expected_status(line) == done.returncode, done.stderr
        assert done.stdout.strip()
