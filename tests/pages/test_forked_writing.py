"""Files that a fork writes while this process writes others."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deepbench_ops.pages import forked_writing
from deepbench_ops.pages.forked_writing import divided, written_meanwhile


def writer(path: Path):
    """Return a function that adds the number of its process to a file."""

    def write() -> None:
        with path.open("a") as file:
            file.write(f"{os.getpid()}\n")

    return write


@pytest.mark.parametrize("forks", [True, False])
def test_the_files_are_there_after_the_block(tmp_path, monkeypatch, forks):
    """Written once, by another process where one can be made."""
    monkeypatch.setattr(forked_writing, "FORKS", forks)
    with written_meanwhile(writer(tmp_path / "a")):
        (tmp_path / "b").touch()
    (number,) = (tmp_path / "a").read_text().split()
    assert forks == (int(number) != os.getpid())


def test_without_room_in_memory_this_process_writes(tmp_path, monkeypatch):
    """After the block: a fork of ten gigabytes may take ten more."""
    monkeypatch.setattr(forked_writing.free_memory, "available", lambda: 2.0**20)
    with written_meanwhile(writer(tmp_path / "a")):
        assert not (tmp_path / "a").exists()
    assert [str(os.getpid())] == (tmp_path / "a").read_text().split()


def test_a_failing_write_is_raised(tmp_path):
    """Here, after the block, as if this process had written."""

    def write() -> None:
        (tmp_path / "missing" / "a").touch()

    with pytest.raises(FileNotFoundError, match="missing"), written_meanwhile(write):
        (tmp_path / "b").touch()
    assert (tmp_path / "b").exists()


def test_files_of_a_killed_fork_are_written_here(tmp_path):
    """A fork may be killed for want of memory."""
    this = os.getpid()

    def write() -> None:
        if os.getpid() != this:
            os.kill(os.getpid(), signal.SIGKILL)
        (tmp_path / "a").touch()

    with written_meanwhile(write):
        pass
    assert (tmp_path / "a").exists()


def test_a_failing_block_ends_the_fork(tmp_path):
    """The exception of the block is raised, and nothing is written any more."""
    read, write = os.pipe()  # the fork waits for it

    def waiting() -> None:
        os.read(read, 1)
        (tmp_path / "a").touch()

    with pytest.raises(KeyError), written_meanwhile(waiting):
        raise KeyError
    os.write(write, b".")
    assert not (tmp_path / "a").exists()


def write_number(path: Path) -> None:
    """Write the number of this process to a file, as two processes that meet may both do."""
    path.write_text(str(os.getpid()))


@pytest.mark.parametrize("forks", [True, False])
@pytest.mark.parametrize("count", [0, 1, 30])
def test_divided_files_are_all_written(tmp_path, monkeypatch, forks, count):
    """With and without a fork, also if there are none."""
    monkeypatch.setattr(forked_writing, "FORKS", forks)
    paths = [tmp_path / str(number) for number in range(count)]
    with divided(paths, write_number) as ours:
        for path in ours:
            write_number(path)
    assert all(path.read_text() for path in paths)


def test_the_fork_takes_what_this_process_has_no_time_for(tmp_path):
    """While this process writes its first file, the fork writes all others."""
    paths = [tmp_path / str(number) for number in range(5)]
    own = []
    with divided(paths, write_number) as ours:
        for path in ours:
            own.append(path)
            while sum(each.exists() for each in paths) < 4:
                time.sleep(0.001)
            write_number(path)
    assert len(own) == 1
    numbers = {path.read_text() for path in paths if path not in own}
    assert len(numbers) == 1
    assert numbers != {str(os.getpid())}


def test_divided_files_of_a_killed_fork_are_written_here(tmp_path):
    """Those that it had begun, too, and none of those of this process again."""
    paths = [tmp_path / str(number) for number in range(5)]
    this, own, rest = os.getpid(), [], []

    def write(path: Path) -> None:
        if os.getpid() != this:
            os.kill(os.getpid(), signal.SIGKILL)
        rest.append(path)

    with divided(paths, write) as ours:
        for path in ours:
            own.append(path)
    assert sorted(own + rest) == paths


WHILE_MADE = """
blocked = process_lifetime.children_without_interrupts

@contextmanager
def interrupted():
    with blocked():
        yield
        if len(made) == 1 and os.getpid() == this:
            made.append(None)
            os.kill(this, signal.SIGINT)  # comes as soon as this process takes interrupts again

process_lifetime.children_without_interrupts = interrupted

def write_files():
    os.read(read, 1)
    (folder / "a").touch()

def block():
    (folder / "b").touch()
"""

WHILE_AWAITED = """
def write_files():
    os.read(read, 1)
    time.sleep(0.1)
    os.kill(this, signal.SIGINT)  # the block has ended
    os.read(read, 1)
    (folder / "a").touch()

def block():
    os.write(write, b".")
"""

INTERRUPTED = """
import os, signal, sys, time
from contextlib import contextmanager
from pathlib import Path
from deepbench_ops import process_lifetime
from deepbench_ops.pages.forked_writing import written_meanwhile

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may ignore it
this, folder, made, fork = os.getpid(), Path(sys.argv[1]), [], os.fork
read, write = os.pipe()

def forked():
    number = fork()
    made.append(number)
    return number

os.fork = forked
{case}
try:
    with written_meanwhile(write_files):
        block()
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    pass
try:
    os.kill(made[0], 0)  # finds a fork that is left, even one that is not waited for
    raise SystemExit("the fork is left")
except ProcessLookupError:
    pass
os.write(write, b".")
"""


@pytest.mark.parametrize("case", [WHILE_MADE, WHILE_AWAITED], ids=["made", "waited for"])
def test_ctrl_c_while_the_fork_is_made_or_waited_for_ends_it(tmp_path, case):
    """The command is interrupted, no process is left, and none writes any more. In a process of its
    own, since libraries that other tests loaded have threads that may take the signal."""
    program = [sys.executable, "-c", INTERRUPTED.replace("{case}", case), str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert (0, "") == (done.returncode, done.stderr)
    assert not list(tmp_path.iterdir())
