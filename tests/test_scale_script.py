"""The script that shows how the stages from import to pages grow with the points."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "bench" / "scale.py"
STAGES = ("submit", "import", "store build", "query", "verdict", "publish")
SLOWER = 3
"""Exit status of verdicts that found slower lines, as the generated ones are."""


@pytest.mark.slow
def test_each_stage_takes_the_generated_points(tmp_path):
    """Each ends with a row that has its seconds and memory, and without an error."""
    command = [sys.executable, str(SCRIPT), "--points", "4000", "--folder", str(tmp_path)]
    done = subprocess.run(
        [*command, "--stages", *STAGES], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("4,000")]
    assert [*STAGES] == [" ".join(row[1:-4]) for row in rows]
    assert all(row[-1] in ("0", str(SLOWER)) for row in rows), done.stdout
    assert all(float(row[-2]) > 0.01 for row in rows), done.stdout
