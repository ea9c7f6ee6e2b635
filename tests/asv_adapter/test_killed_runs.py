"""Nothing is lost by kills at any moment, nor by many writers at once: a tenth, by a seed."""

import subprocess
import sys
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).resolve().parents[2] / "bench"


def counted(script, *arguments):
    """The table that a script prints; it fails where anything was lost."""
    done = subprocess.run(
        [sys.executable, EXPERIMENTS / script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert 0 == done.returncode, done.stdout
    return done.stdout


@pytest.mark.seeded
@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["rounds alternate", "one release after the other", "samples appended"]
)
def test_a_run_that_is_killed_loses_nothing_and_counts_nothing_twice(way):
    """Before a tenth of its operations on files, and at random moments."""
    said = counted("killed_runs.py", "--share", "0.1", "--moments", "40", "--way", way)
    assert " kills: 0 lost, 0 counted twice, 0 processes left, 0 journals left" in said


@pytest.mark.seeded
@pytest.mark.slow
def test_a_history_that_ends_early_loses_nothing_and_counts_nothing_twice():
    """Killed before a tenth of its operations on files; killed, terminated and interrupted."""
    said = counted("killed_histories.py", "--share", "0.1", "--moments", "60")
    assert (
        " ended early: 0 lost, 0 counted twice, 0 processes left, 0 files left, 0 endings" in said
    )


@pytest.mark.seeded
@pytest.mark.slow
def test_commands_that_write_at_once_lose_no_update():
    """Each ends well, or is refused by the lock."""
    said = counted("simultaneous_writers.py", "--at-once", "5")
    rows = [line.split() for line in said.rpartition("-\n")[2].splitlines()]
    assert {("0", "0")} == {(lost, failed) for *_, lost, _, failed in rows}
