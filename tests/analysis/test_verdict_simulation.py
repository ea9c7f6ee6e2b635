"""The simulation of verdicts, bench/verdict_simulation.py."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_simulation_judges_as_verdicts_do():
    """It compares some trials of each row with compare_pairs or compare_samples, and prints all."""
    script = Path(__file__).resolve().parents[2] / "bench" / "verdict_simulation.py"
    command = [sys.executable, str(script), "--trials", "30"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 3 == done.stdout.count("30 trials a row")
