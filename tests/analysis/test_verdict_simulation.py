"""The simulation of verdicts, bench/interval_coverage_simulation.py."""

import subprocess
import sys
from pathlib import Path

import pytest

TRIALS = 2000
"""Of each row: 1 % of false alarms are 20, with a standard deviation of 4."""


@pytest.mark.slow
def test_verdicts_of_ten_and_twenty_rounds_meet_their_targets():
    """At 1 % noise, with up to 30 % of the rounds ruined by 1.2 to 3; the script compares some
    trials of each row with compare_pairs or compare_samples."""
    script = Path(__file__).resolve().parents[2] / "bench" / "interval_coverage_simulation.py"
    command = [sys.executable, str(script), "--trials", str(TRIALS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert 3 == done.stdout.count(f"{TRIALS} trials a row")
    pairs = done.stdout.partition("Sides measured apart")[0]
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in pairs.splitlines()
        if line.startswith("| ")
    ]
    wanted = {
        (rounds, ruined): targets
        for rounds, noise, ruined, *_, targets in rows
        if rounds in ("10", "20") and noise == "1.0%" and " by " not in ruined
    }
    assert 14 == len(wanted)
    assert {"met"} == set(wanted.values())
