"""One measurement at a time in a project: commands that measure take the lock of `asv run`."""

import subprocess
import sys

import pytest
from command import COMMAND, make_project

pytest.importorskip("asv", reason="a machine's name is what asv knows it by")

KERNEL = "m3072_n1_k128_NN"
HOLD = """
import pathlib, sys
from deepbench_ops.storage import locks
with locks.measuring(pathlib.Path(".asv"), doing="asv run numpy-2.4.6"):
    print("held", flush=True)
    sys.stdin.read()
"""
CONFIRM = """
from unittest.mock import patch
from deepbench_ops import cli
from deepbench_ops.commands import verdict
with patch.object(verdict, "_lines", return_value=[]), patch.object(verdict, "_machines"):
    with patch.object(verdict, "_demand_releases"):
        cli.main()
"""
MEASURING = {
    "time": [*COMMAND, "time", KERNEL, "--processes", "1"],
    "machine": [*COMMAND, "machine", "--name", "box", "--yes"],
    "noise": [*COMMAND, "noise", "numpy-2.4.6", "--problem", KERNEL],
    "history": [*COMMAND, "history", "numpy", "2.2.4..2.2.6", "--problem", KERNEL],
    "bisect": [*COMMAND, "bisect", KERNEL, "numpy-1.24.4..numpy-2.4.6"],
    "allreduce": [*COMMAND, "allreduce", "--ranks", "2", "--elements", "10"],
    "verdict --confirm": [sys.executable, "-c", CONFIRM, "verdict", "--confirm"],
}
MODELS = {
    "latency": [*COMMAND, "latency", "bert_128", "--seconds", "0.1"],
    "ops": [*COMMAND, "ops", "bert_128"],
    "scaling": [*COMMAND, "scaling", "bert_128", "--batch", "1", "--ranks", "1"],
}
"""Commands that need torch."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project folder, in which asv knows no machine yet."""
    make_project(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command, **how):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **how)


@pytest.mark.parametrize("name", [*MEASURING, *MODELS])
def test_a_command_that_measures_is_refused_while_another_does(folder, name):
    """The line names the one that measures; nothing is measured, installed or written."""
    if name in MODELS:
        pytest.importorskip("torch", reason="whole models are torch's")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert "held\n" == holder.stdout.readline()
        before = sorted(folder.rglob("*"))
        done = run((MEASURING | MODELS)[name])
        assert before == sorted(folder.rglob("*"))
        holder.communicate()
    assert (2, "") == (done.returncode, done.stdout)
    (line,) = done.stderr.splitlines()
    assert f"process {holder.pid} (asv run numpy-2.4.6, since " in line
    assert "measures here already" in line


def test_a_command_holds_the_lock_until_it_has_ended(folder):
    """Measured in its middle; afterwards the lock is free."""
    program = (
        "from unittest.mock import patch\n"
        "from deepbench_ops import cli\n"
        "from deepbench_ops.measure import kernel_process\n"
        "def measured(*_):\n"
        "    print(open('.asv/.deepbench.lock.holder').read())\n"
        "    raise KeyboardInterrupt\n"
        "with patch.object(kernel_process, 'measured', measured):\n"
        "    cli.main()\n"
    )
    for _ in range(2):
        done = run([sys.executable, "-c", program, "time", KERNEL])
        assert 130 == done.returncode, done.stderr
        assert f"deepbench time {KERNEL}" in done.stdout
    assert not (folder / ".asv" / ".deepbench.lock.holder").exists()


def test_outside_a_project_another_measurement_is_a_warning(folder):
    """Nothing ties the two together but the machine."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert "held\n" == holder.stdout.readline()
        done = run(MEASURING["time"], cwd="/")
        holder.communicate()
    assert 0 == done.returncode, done.stderr
    assert f"warning: process {holder.pid} " in done.stderr
