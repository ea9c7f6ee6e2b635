"""Ctrl-C in a run on Slurm, by stand-ins for its commands and for ReFrame."""

import os
import sys
import time
from pathlib import Path

import fleet_project
import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import fleet_run, left_jobs, submitting_processes
from deepbench_ops.fleet.fleet_run import FleetRun
from deepbench_ops.fleet.reframe_site import Partition, Site
from deepbench_ops.fleet.scheduled_jobs import FleetJobs

DEAF = """
import os, pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path("names").write_text(" ".join(os.environ))
pathlib.Path("begun").touch()
time.sleep(60)
"""
"""A ReFrame that does not end when it is asked to, and writes the names of its variables."""


class InterruptedRun:
    """A run whose job 7 is in the queue of a stand-in for Slurm; said: its lines."""

    def __init__(self, root: Path) -> None:
        self.root, self.said = root, list[str]()
        plan = fleet_project.plan()
        path = fleet_project.make(root)
        fleet_project.write(path, plan)
        part = Partition("lab:cpu", fleet_project.MACHINE, "squeue", ("-p cpu",))
        jobs = FleetJobs(path, plan, Site("lab", "", (part,)))
        self.run = FleetRun(jobs, root / "results", (), self.said.append)
        self.command("squeue", f"echo '7|RUNNING|None|{self.run.folder}/a'")
        self.command("scancel", f'echo "$@" >> {root}/cancelled.txt')

    def command(self, name: str, script: str) -> None:
        """Put a shell script in the place of a command."""
        path = self.root / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def cancelled(self) -> set[str]:
        """The numbers of the jobs that were cancelled."""
        note = self.root / "cancelled.txt"
        return set(note.read_text().split()) if note.exists() else set()


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InterruptedRun:
    """Such a run, which does not wait for the job."""

    def waits(*_: object) -> None:
        raise AssertionError("the run waits for the job")

    monkeypatch.setattr(left_jobs, "wait", waits)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return InterruptedRun(tmp_path)


@pytest.mark.parametrize(
    "place", [(submitting_processes, "wait"), (left_jobs, "listed_in_the_end")]
)
def test_ctrl_c_while_slurm_is_waited_for_cancels_its_jobs(
    interrupted: InterruptedRun, monkeypatch: pytest.MonkeyPatch, place: tuple[object, str]
) -> None:
    """Before ReFrame is started."""

    def ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(*place, ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        interrupted.run.run()
    assert {"7"} == interrupted.cancelled()


def test_jobs_of_a_reframe_that_does_not_end_are_cancelled(
    interrupted: InterruptedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a line; the run ends as after any Ctrl-C. ReFrame asks Slurm without the user's
    variables too, and has the mark of processes that submit."""
    monkeypatch.setenv("SQUEUE_PARTITION", "other")
    begun = interrupted.run.folder / "begun"

    def ctrl_c(_: FleetRun) -> None:
        until = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < until:
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(left_jobs, "listed_in_the_end", lambda *_: [])
    monkeypatch.setattr(FleetRun, "_command", lambda *_: [sys.executable, "-c", DEAF])
    monkeypatch.setattr(FleetRun, "_collect_if_possible", ctrl_c)
    monkeypatch.setattr(fleet_run, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(fleet_run, "STOP_SECONDS", 0.2)
    with pytest.raises(KeyboardInterrupt):
        interrupted.run.run()
    assert {"7"} == interrupted.cancelled()
    wanted = "ReFrame did not end within 0 s and was killed: its jobs in Slurm are cancelled now"
    assert [wanted] == interrupted.said
    names = (interrupted.run.folder / "names").read_text().split()
    assert submitting_processes.VARIABLE in names
    assert "SQUEUE_PARTITION" not in names


def test_an_sbatch_at_ctrl_c_is_waited_for_and_its_job_is_cancelled(
    interrupted: InterruptedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs that are there are cancelled at once, and another Ctrl-C does not leave its job."""
    seen: list[set[str]] = []

    def ctrl_c(*_: object) -> None:
        seen.append(interrupted.cancelled())
        if len(seen) == 2:
            interrupted.command("squeue", f"echo '8|RUNNING|None|{interrupted.run.folder}/a'")
        raise KeyboardInterrupt

    monkeypatch.setattr(submitting_processes, "submitting", lambda _: ["9 (sbatch)"])
    monkeypatch.setattr(submitting_processes, "wait", ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        interrupted.run.run()
    assert [set(), {"7"}] == seen
    assert {"7", "8"} == interrupted.cancelled()


def test_a_silent_slurm_after_ctrl_c_is_a_line(
    interrupted: InterruptedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is a process that may still submit; both are named."""

    def busy(*_: object) -> None:
        raise DeepbenchError("processes may still submit jobs")

    def ctrl_c(*_: object) -> None:
        monkeypatch.setattr(submitting_processes, "wait", busy)
        raise KeyboardInterrupt

    interrupted.command("squeue", "echo no answer >&2; exit 1")
    monkeypatch.setattr(submitting_processes, "submitting", lambda _: ["9 (sbatch)"])
    monkeypatch.setattr(submitting_processes, "wait", ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        interrupted.run.run()
    silent_line, busy_line = interrupted.said
    assert "processes may still submit jobs" == busy_line
    assert silent_line.startswith(
        "jobs may go on in Slurm, since cancelling failed (squeue: no answer)"
    )


def test_slurm_is_not_asked_for_a_plan_on_other_partitions(
    interrupted: InterruptedRun,
) -> None:
    """A partition of Slurm on the same site changes nothing."""
    site = Site(
        "lab",
        "",
        (
            Partition("lab:cpu", "other", "slurm"),
            Partition("lab:ssh", fleet_project.MACHINE, "ssh"),
        ),
    )
    jobs = interrupted.run.jobs
    assert jobs.by_slurm
    assert not FleetJobs(jobs.path, jobs.plan, site).by_slurm
