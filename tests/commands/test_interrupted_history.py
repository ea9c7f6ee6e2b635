"""`deepbench history` that ends early keeps all rounds: full disks, and processes that are lost."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from full_disk import fill, mounted
from history_project import JOURNALS, PROBLEMS, ROUNDS, HistoryProject
from processes import eventually_gone, marked_pids

from deepbench_ops.storage import atomic_write

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path):
    """A project folder; no process of it may be left."""
    made = HistoryProject(tmp_path)
    yield made
    assert eventually_gone(made.mark)


def wait_for_rounds(project: HistoryProject, process: subprocess.Popen[str], count: int) -> None:
    """Return when so many rounds of kernels are measured."""
    while len(project.measured()) < count and process.poll() is None:
        time.sleep(0.005)


@pytest.mark.parametrize("place", [".asv", "results/m"])
def test_a_disk_that_fills_up_costs_no_round(project, place):
    """The journal's disk or that of the results: one line, and the same command goes on."""
    folder = project.root / place
    with mounted(folder):
        with project.start(SLICE="0.004") as process:
            wait_for_rounds(project, process, 2)
            fill(folder / "filler")
            out, err = process.communicate()
        assert (2, "") == (process.returncode, out)
        (line,) = err.splitlines()
        assert line.startswith("deepbench: error: ")
        assert "No space left on device" in line
        assert "keeps " in line
        assert "the same command " in line
        measured = project.measured()
        assert {*measured[:-1]} <= {*project.filed(), *project.journal()}
        (folder / "filler").unlink()
        project.run()
        assert {*measured[:-1]} <= {*project.filed()}
        assert ROUNDS * len(PROBLEMS) == len(project.filed())
        assert [] == project.left()


def test_a_machine_may_have_a_file_system_of_its_own(project):
    """Results and rounds are filed on a mount at results/<machine>."""
    with mounted(project.root / "results" / "m"):
        project.run()
        assert ROUNDS * len(PROBLEMS) == len(project.filed())
        assert {ROUNDS} == {*project.samples().values()}
        assert [] == list(project.root.rglob(f"*{atomic_write.SUFFIX}"))


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_history_leaves_its_journal(project, by):
    """Rounds that are not filed yet are in it, and the next command files them."""
    with project.start(FILED_EVERY="1000", SLICE="0.001") as process:
        wait_for_rounds(project, process, 3)
        process.send_signal(by)
        _, err = process.communicate()
    assert (-by, "") == (process.returncode, err)
    assert eventually_gone(project.mark)
    before = project.measured()
    assert {*before[:-1]} <= project.journal()
    project.run()
    assert {*before[:-1]} <= {*project.filed()}
    assert [] == list(project.root.glob(JOURNALS))


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_is_lost_or_stopped_costs_nothing_else(project, by):
    """The others go on; a stopped one is woken."""
    with project.start(SLICE="0.002") as process:
        wait_for_rounds(project, process, 1)
        workers = [pid for pid in marked_pids(project.mark) if "numpy-2.2.5" in name_of(pid)]
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, by)
        _, err = process.communicate(timeout=120)
    assert 0 == process.returncode, err
    assert "Traceback" not in err
    assert ROUNDS * len(PROBLEMS) == len(project.filed())


def name_of(pid: int) -> str:
    """Return the release that a process measures, "" for none."""
    with suppress(OSError):
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return "".join(v.decode() for v in variables if v.startswith(b"NAME="))
    return ""
