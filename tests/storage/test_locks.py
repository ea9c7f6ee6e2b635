"""One writer at a time in a results folder, one run at a time in a clone."""

import json
import os
import platform
import re
import signal
import subprocess
import sys

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import locks

HOLD = """
import pathlib, sys
from deepbench_ops.storage import locks
with locks.{kind}(pathlib.Path(sys.argv[1]), doing="deepbench import a.xlsx"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path, monkeypatch):
    """Start processes that hold a lock of a kind in a folder, until their stdin ends."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "machine"))
    (tmp_path / "machine").mkdir()
    monkeypatch.setattr(locks.tempfile, "tempdir", None)
    started = []

    def start(kind, folder):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD.format(kind=kind), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert "held\n" == process.stdout.readline()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr(locks, "QUIET_SECONDS", 0.1)


def test_a_second_writer_is_refused_with_the_name_of_the_first(holder, impatient, tmp_path):
    """The line has its process id, its command and the time at which it began."""
    first = holder("results", tmp_path)
    line = rf"process {first.pid} \(deepbench import a.xlsx, since 20..-..-.. ..:..:..\) writes in"
    with pytest.raises(DeepbenchError, match=line), locks.results(tmp_path, doing="another"):
        pass


def test_a_second_writer_goes_on_when_the_first_has_ended(holder, monkeypatch, tmp_path, capsys):
    """It waits, and says for whom."""
    monkeypatch.setattr(locks, "QUIET_SECONDS", 0.1)
    first = holder("results", tmp_path)
    ender = subprocess.Popen(["sh", "-c", f"sleep 0.5; kill {first.pid}"])
    with locks.results(tmp_path, doing="another"):
        first.wait(5)
    assert f"waiting: process {first.pid} (deepbench import" in capsys.readouterr().err
    assert 0 == ender.wait()


def test_who_waits_for_its_turn_names_the_holder_and_its_host(holder, impatient, tmp_path, capsys):
    """After its limit it gives up: a node that is lost may hold a lock for hours."""
    first = holder("in_turn", tmp_path)
    description = tmp_path / f"{locks.NAME}.holder"
    about = json.loads(description.read_text())
    assert platform.node() == about["host"]
    description.write_text(json.dumps(about | {"host": "n7"}))
    phrase = rf"process {first.pid} on n7 \(deepbench import a.xlsx, since .*\)"
    with (
        pytest.raises(DeepbenchError, match=rf"{phrase} holds {tmp_path}/.* more than 0 s: end"),
        locks.in_turn(tmp_path, doing="another", most=0.1),
    ):
        pass
    assert re.fullmatch(f"waiting for {phrase}\n", capsys.readouterr().err)


def test_a_killed_holder_leaves_the_lock_free(holder, impatient, tmp_path):
    """Its description stays, and hinders no one."""
    first = holder("results", tmp_path)
    first.send_signal(signal.SIGKILL)
    first.wait()
    with locks.results(tmp_path, doing="another"):
        assert f'"pid": {os.getpid()}' in (tmp_path / f"{locks.NAME}.holder").read_text()


def test_a_process_takes_its_lock_again(holder, impatient, tmp_path):
    """The lock is free when the outermost block has ended."""
    with locks.results(tmp_path, doing="outer"):
        with locks.results(tmp_path, doing="inner"):
            pass
        assert "outer" in (tmp_path / f"{locks.NAME}.holder").read_text()
    assert [locks.NAME] == [path.name for path in tmp_path.iterdir() if path.is_file()]
    holder("results", tmp_path)


def test_a_folder_that_cannot_be_written_to_is_one_line(tmp_path):
    """A file in place of the folder stands for every reason, since root may write anywhere."""
    (tmp_path / "results").write_text("")
    with (
        pytest.raises(DeepbenchError, match=r"results cannot be written to \(.+: import needs"),
        locks.results(tmp_path / "results", doing="import"),
    ):
        pass


def test_a_second_run_in_a_clone_is_refused_at_once(holder, tmp_path):
    first = holder("measuring", tmp_path / "clone")
    with (
        pytest.raises(DeepbenchError, match=rf"process {first.pid} .*kill -0 {first.pid};"),
        locks.measuring(tmp_path / "clone", doing="asv run"),
    ):
        pass


def test_a_run_in_another_clone_of_the_machine_is_warned(holder, tmp_path, capsys):
    first = holder("measuring", tmp_path / "clone")
    with locks.measuring(tmp_path / "other", doing="asv run"):
        pass
    assert f"warning: process {first.pid} " in capsys.readouterr().err


def test_unfinished_files_of_killed_writers_are_removed(tmp_path):
    """By the next writer; its own ones stay when it takes the lock again."""
    left, own = (tmp_path / "m" / f".result.json.{name}.unfinished" for name in ("a", "b"))
    left.parent.mkdir()
    left.touch()
    with locks.results(tmp_path, doing="outer"):
        assert not left.exists()
        own.touch()
        with locks.results(tmp_path, doing="inner"):
            assert own.exists()


def test_the_unfinished_description_of_a_killed_holder_is_removed(tmp_path):
    """By the next holder of the same lock, also in folders that are no results."""
    left = tmp_path / f".{locks.NAME}.holder.abc.unfinished"
    left.touch()
    with locks.writing(tmp_path, doing="outer"):
        assert not left.exists()
