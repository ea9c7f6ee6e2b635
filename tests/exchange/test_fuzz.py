"""Damaged files of every kind, as bench/fuzz.py makes them."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("asv", reason="publishing is asv's")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.seeded
@pytest.mark.slow
def test_a_seeded_tenth_of_the_damaged_files_gives_no_fault() -> None:
    """No traceback, no hang, no wrong number accepted, no time lost without a word."""
    command = [
        sys.executable,
        str(ROOT / "bench" / "fuzz.py"),
        "--cases",
        str(25 * 50),  # fifty of each of 25 kinds
        "--seed",
        "3",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
