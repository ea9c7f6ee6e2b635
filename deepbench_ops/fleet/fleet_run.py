"""A plan run by ReFrame, which is a process of its own; times are merged as jobs finish.

ReFrame gets the jobs that are not measured yet. Those that a lost node, a time limit or a failure
leaves over are given to it once more, when Slurm has none of them any more (`left_jobs`). A job
that was interrupted goes on from its journal.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from deepbench_ops import process_lifetime
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import (
    job_folder,
    job_result_merging,
    left_jobs,
    reason_lines,
    reframe_site,
    scheduler_answer,
    submitting_processes,
)
from deepbench_ops.fleet.job_folder import MEASURED, JobFolder
from deepbench_ops.fleet.left_jobs import LeftJob
from deepbench_ops.fleet.pending_jobs import PendingJobs
from deepbench_ops.fleet.scheduled_jobs import PLAN_VARIABLE, FleetJobs
from deepbench_ops.storage import locks

CHECKS = Path(__file__).parent / "checks" / "deepbench_job.py"
ATTEMPTS = 2
"""How often a job is given to ReFrame in one run."""

FOLDER = "reframe"
"""Folder, next to the plan, of ReFrame's stages, logs and reports."""

SAID = "reframe.txt"
"""File with ReFrame's output."""

POLL_SECONDS = 2.0
STOP_SECONDS = 120.0
"""Seconds that ReFrame may take to cancel its jobs."""

UNSTOPPED = {
    True: "its jobs in Slurm are cancelled now",
    False: "cancel the jobs that the scheduler still lists",
}
"""End of the line about a ReFrame that was killed, by whether Slurm has its jobs."""

CANCEL = signal.SIGTERM
"""At this signal ReFrame cancels its jobs, and ignores further ones. SIGINT would interrupt that
when it comes again, and Linux may send one for each thread of a process that ends."""

ANY_STATE = "all"
"""The nodes that run each job of a plan for every node: those that the scheduler knows, since a
node that is busy now is free later."""

BLOCKED_JOBS = {"RFM_IGNORE_REQNODENOTAVAIL": "y"}
"""Variable by which ReFrame leaves blocked jobs to `pending_jobs`. It would cancel jobs that wait
for a node which is reserved or planned for others, and not all that wait for one that is down."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class FleetRun:
    """One run of a plan.

    results: of the project. more: options for ReFrame. say: prints a line.
    """

    jobs: FleetJobs
    results: Path
    more: Sequence[str]
    say: Say
    _said: set[str] = field(default_factory=set)

    @property
    def folder(self) -> Path:
        """The folder of ReFrame's stages, logs and reports."""
        return self.jobs.path.parent / FOLDER

    def run(self) -> bool:
        """Run the jobs that are not measured; return whether all of them are measured and merged at
        the end, also on every node of a plan for every node.

        Raises DeepbenchError where another run of this plan is going on, or Slurm is silent for
        long, OSError where the results cannot be written, and KeyboardInterrupt after Ctrl-C, when
        ReFrame and Slurm were asked to cancel all jobs, and the results are merged. A line says
        where Slurm did not answer.
        """
        with locks.writing(self.folder, doing="deepbench fleet run"):
            try:
                everywhere = self._measure()
            except KeyboardInterrupt:
                self._cancel_in_slurm()
                raise
            finally:
                self.collect()
            return (
                (everywhere or not self.jobs.plan.every_node)
                and not self.left()
                and not self.refused()
            )

    def _measure(self) -> bool:
        """Run the jobs that are not measured; return whether all of ReFrame's tests passed, and the
        nodes that were left out have measured all jobs."""
        self.collect()
        self._wait_for(self._left_in_slurm())
        left_out = self.jobs.left_out(self.more)
        for line in left_out.values():
            self._say_once(line)
        # A node on which a job never began has no folder: ReFrame alone knows of it.
        passed = not self.jobs.open_jobs or any(
            self._give_to_reframe(attempt) for attempt in range(ATTEMPTS)
        )
        return passed and (not left_out or left_out.keys() <= self.jobs.measured_nodes())

    def folders(self) -> list[JobFolder]:
        """Return the folders of all jobs."""
        return list(job_folder.folders(self.jobs.plan, self.jobs.path))

    def left(self) -> list[JobFolder]:
        """Return the jobs that are not measured."""
        return [folder for folder in self.folders() if folder.state() != MEASURED]

    def refused(self) -> list[JobFolder]:
        """Return the jobs whose times the results refused."""
        return [folder for folder in self.folders() if folder.refusal]

    def collect(self, refused_too: bool = True) -> None:
        """Merge finished jobs into the results, also those that were refused before or not."""
        if not self.jobs.plan.every_node:
            folders = [each for each in self.folders() if refused_too or not each.refusal]
            job_result_merging.collect(self.results, folders, self._say_once)

    def _collect_if_possible(self) -> None:
        """Merge finished jobs; where a disk is full, say so and leave it to the end of the run, as
        jobs that are refused."""
        try:
            self.collect(refused_too=False)
        except OSError as error:
            self._say_once(f"{error.filename or self.results}: {error.strerror}: make room there")

    def _left_in_slurm(self) -> list[LeftJob]:
        """Return the jobs that Slurm has, though no ReFrame runs that submitted them, when no
        process of this host submits any."""
        if not self.jobs.by_slurm:
            return []
        submitting_processes.wait(self.folder, self._say_once)
        return left_jobs.listed_in_the_end(self.folder, self._say_once)

    def _cancel_in_slurm(self) -> None:
        """Cancel all jobs that Slurm has of this folder, and again when no process of this host
        submits any; another Ctrl-C ends the wait for that."""
        if not self.jobs.by_slurm:
            return
        submitting = submitting_processes.submitting(self.folder)
        left_jobs.cancel(self.folder, self._say_once)
        if submitting:
            try:
                submitting_processes.wait(self.folder, self._say_once)
            except DeepbenchError as reason:
                self._say_once(str(reason))
            finally:
                left_jobs.cancel(self.folder, self._say_once)

    def _wait_for(self, jobs: Sequence[LeftJob]) -> None:
        """Wait until Slurm has no job of a ReFrame that is gone."""
        if not jobs:
            return
        pending = PendingJobs(self.folder, self._say_once)

        def meanwhile() -> None:
            self._collect_if_possible()
            pending.look()

        left_jobs.wait(self.folder, jobs, self._say_once, meanwhile)

    def _say_once(self, line: str) -> None:
        """Print a line unless this run has: a job that is refused is tried again and again."""
        if line not in self._said:
            self._said.add(line)
            self.say(line)

    def _give_to_reframe(self, attempt: int) -> bool:
        """Run the jobs that are not measured; return whether all of them are now."""
        report, said = self.folder / f"report-{attempt}.json", self.folder / SAID
        for path in (report, said):
            path.unlink(missing_ok=True)
        pending = PendingJobs(self.folder, self._say_once)
        with said.open("x", encoding="utf-8") as log:
            process = subprocess.Popen(
                # killed, this process still lets ReFrame cancel its jobs
                process_lifetime.bound(self._command(report), by=CANCEL),
                cwd=self.folder,
                env={**BLOCKED_JOBS, **scheduler_answer.environ(), **self._variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C comes to this process alone, which passes it on
            )
        try:
            while not _ended(process, POLL_SECONDS):
                self._collect_if_possible()
                if self.jobs.by_slurm:
                    pending.look()
        finally:
            if not _stop(process):
                self._say_once(
                    f"ReFrame did not end within {STOP_SECONDS:.0f} s and was killed:"
                    f" {UNSTOPPED[self.jobs.by_slurm]}"
                )
                self._cancel_in_slurm()
        left = self._left_in_slurm()
        failures = _failures(report)
        known = {*pending.cancelled, *(each.number for each in left)}
        failed = ((name, why) for number, name, why in failures if number not in known)
        lines = reason_lines.of(failed) if failures else self._refusal(process.returncode)
        for line in lines:
            self._say_once(line)
        self._wait_for(left)
        return process.returncode == 0 or not (self.jobs.plan.every_node or self.left())

    @property
    def _variables(self) -> dict[str, str]:
        """ReFrame's variables: the plan, and the mark of all processes that submit for it."""
        return {
            PLAN_VARIABLE: str(self.jobs.path),
            **submitting_processes.mark(self.folder, os.environ),
        }

    def _command(self, report: Path) -> list[str]:
        """Return ReFrame's command line."""
        plan, place = self.jobs.plan, self.jobs.site
        return [
            *reframe_site.command(),
            *(["-C", place.config] if place.config else []),
            *("--system", place.system, "-c", str(CHECKS), "-r"),
            *("--prefix", str(self.folder), "--report-file", str(report), "--nocolor"),
            *([f"--distribute={ANY_STATE}"] if plan.every_node else []),
            *self.more,
        ]

    def _refusal(self, status: int) -> list[str]:
        """Return the reason why ReFrame ran nothing, from its output."""
        if not status:
            return []
        if status < 0:
            how = "killed, as where memory runs out" if status == -signal.SIGKILL else "ended"
            return [f"ReFrame was {how} (signal {-status}); the jobs that a scheduler has go on"]
        text = (self.folder / SAID).read_text("utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines() if "error" in line.lower()]
        return [f"ReFrame: {(lines or [f'it ended with status {status}'])[-1]}"]


def _ended(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None


def _stop(process: "subprocess.Popen[bytes]") -> bool:
    """Have ReFrame cancel its jobs and end, where it has not; return False where it had to be
    killed."""
    if process.poll() is None:
        process.send_signal(CANCEL)
        if not _ended(process, STOP_SECONDS):
            process.kill()
            process.wait()
            return False
    return True


def _failures(report: Path) -> list[tuple[str | None, str, str]]:
    """Return the scheduler's number, name and reason of each test that failed, from ReFrame's
    report.

    The number is None for a test that was not submitted.
    """
    try:
        runs = json.loads(report.read_text("utf-8"))["runs"]
    except (OSError, ValueError, KeyError):
        return []
    return [
        (
            case.get("jobid"),
            str(case["display_name"]),
            " ".join(str(case.get("fail_reason")).split()),
        )
        for run in runs
        for case in run.get("testcases", ())
        if case.get("result") in ("fail", "abort")
    ]
