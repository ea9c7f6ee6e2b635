"""Output for a new user in the first hour: the next commands, installs and rows as they come."""

import subprocess
from datetime import date
from pathlib import Path

import pytest

pytest.importorskip("click", reason="the command needs the `track` extra")
pytest.importorskip("asv", reason="releases are installed by asv's means")

from deepbench_ops.backends.backend_check_table import CheckResult
from deepbench_ops.commands.check import print_csv, print_table
from deepbench_ops.distributed.check_rows import Selection
from deepbench_ops.releases import environment_install, worker_launch
from deepbench_ops.releases.release_table import Release

ROOT = Path(__file__).resolve().parents[2]


def dashboard_commands() -> str:
    """Return the commands of `make dashboard`, which are not run."""
    command = ["make", "--no-print-directory", "--dry-run", "dashboard"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_dashboard_ends_with_the_next_commands():
    """The command that activates comes first, and the one that installs torch last."""
    shown = dashboard_commands()
    *_, last = shown.splitlines()
    assert "make models installs" in last
    assert 0 < shown.index(". .venv/bin/activate") < shown.index("  deepbench problems")


def test_the_dashboard_ends_at_a_damaged_configuration():
    """The configuration is checked first: asv ends in a traceback for a file that is no JSON."""
    shown = dashboard_commands()
    programs = (".venv/bin/deepbench", ".venv/bin/asv")
    lines = [line for line in shown.splitlines() if line.startswith(programs)]
    assert ".venv/bin/deepbench config" == lines[0]
    assert lines[2].startswith(".venv/bin/asv run")


@pytest.mark.parametrize("complete", [True, False])
def test_an_install_is_said_before_it_starts(monkeypatch, tmp_path, complete):
    """With the release, the folder and the packages; nothing where it is there."""
    said = []
    monkeypatch.setattr(environment_install.Installation, "is_complete", lambda self: complete)
    monkeypatch.setattr(
        environment_install.Installation, "ensure", lambda self: said.append("ensured")
    )
    release = Release("numpy", "2.4.6", date(2026, 5, 18), pins=("scipy==1.17.1",))
    worker_launch.launch(release, tmp_path, said.append)
    if not complete:
        line = said.pop(0)
        assert f"installing numpy-2.4.6 in {tmp_path}" in line
        assert "numpy==2.4.6" in line and "scipy==1.17.1" in line
    assert ["ensured"] == said


@pytest.mark.parametrize("form", ["table", "csv"])
def test_check_prints_each_row_as_it_comes(capsys, form):
    """The second row is asked for when the first has been printed."""
    seen = []

    def rows():
        for operation in ("forward", "first_call"):
            yield CheckResult(
                "numpy", "cpu", "gemm", operation, "float32", "published", "ok", 1e-6, 1e-5
            )
            seen.append(operation in capsys.readouterr().out)

    wanted = Selection(("numpy",), ("cpu",), ("gemm",), ("float32",))
    printed = print_csv(rows()) if form == "csv" else print_table(wanted, rows())
    assert 2 == len(list(printed))
    assert [True, True] == seen
