"""The output of installers, and the end of those that fail or fall silent."""

import os
import sys
import time
from pathlib import Path

import pytest

from deepbench_ops.releases.command_output import CommandFailed, command_output


def output(code, tmp_path, silence=30.0):
    """The output of a Python program."""
    return command_output([sys.executable, "-c", code], tmp_path, os.environ, silence)


def test_output_and_errors_come_as_one_text(tmp_path):
    """In the order of writing, from the folder that was named."""
    code = "import os, sys; print(os.getcwd(), flush=True); print('bad', file=sys.stderr)"
    assert f"{tmp_path}\nbad\n" == output(code, tmp_path)


def test_another_status_is_a_failure_with_its_output(tmp_path):
    """The text names the fault."""
    with pytest.raises(CommandFailed) as failed:
        output("print('no such package'); raise SystemExit(3)", tmp_path)
    assert ("no such package\n", False) == (failed.value.output, failed.value.silent)


def test_a_program_may_run_long_while_it_writes(tmp_path):
    """Only a silence ends it, with the programs that it started."""
    assert "0\n1\n2\n" == output(
        "import time\nfor i in range(3): print(i, flush=True); time.sleep(0.6)", tmp_path, 1.5
    )


def test_a_silent_program_ends_with_its_children(tmp_path):
    """Its earlier output is kept, and no process is left."""
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    with pytest.raises(CommandFailed) as failed:
        output(code, tmp_path, 2.0)
    assert failed.value.silent
    child, until = int(failed.value.output), time.monotonic() + 10
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(child)


def is_running(process):
    """Whether a process is there and no zombie."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8")
        return stat.rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_program_that_does_not_exist_is_an_error(tmp_path):
    """As the system reports it."""
    with pytest.raises(FileNotFoundError):
        command_output([str(tmp_path / "missing")], tmp_path, os.environ, 1.0)
