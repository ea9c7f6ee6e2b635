"""Jobs that Slurm still has of a ReFrame that is gone: killed, or at the end of its questions.

A run waits for them before it submits any, so that no job is in the queue twice. They are known by
the folder from which they were submitted.
"""

import os
import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import job_folder, pending_jobs, scheduler_answer
from deepbench_ops.storage import locks

SCRIPT = "rfm_job.sh"
"""ReFrame's name of a job script."""

PROGRAM = "deepbench_ops.fleet.node_job"
"""Module that a job script runs, with the plan and the job's id."""

SILENCE_SECONDS = 600.0
"""Seconds in which Slurm may answer nothing, such as while its controller is restarted."""

POLL_SECONDS = 2.0

ENDED = "COMPLETING"
"""Squeue's word for a job that has ended, though its node is not free yet."""

PENDING = "PENDING"
"""Squeue's word for a job that waits."""


@dataclass(frozen=True)
class LeftJob:
    """A job in Slurm's queue: its number there, its state in squeue's word, and its id in the plan,
    "" where its script is gone; reason: squeue's, why it waits, "" unless it does."""

    number: str
    state: str
    id: str
    reason: str = ""

    @property
    def name(self) -> str:
        """Number, id, state and reason, for a line."""
        state = ": ".join(filter(None, (self.state.lower(), self.reason)))
        return " ".join(filter(None, (self.number, self.id, f"({state})")))

    @property
    def release(self) -> str:
        """The line with the mend where the job is held, else ""."""
        return pending_jobs.release_line(self.number, self.reason)


def named(jobs: Sequence[LeftJob]) -> str:
    """Return the beginning of a line that names jobs."""
    return f"Slurm still has jobs that no ReFrame watches: {', '.join(each.name for each in jobs)}"


def listed(folder: Path) -> list[LeftJob]:
    """Return this user's jobs that were submitted from a folder inside this one and have not ended;
    none where squeue is missing.

    Raises DeepbenchError where Slurm does not answer.
    """
    if shutil.which("squeue") is None:
        return []
    folder = folder.resolve()
    asked = ("--all", "--noheader", "--sort=i", f"--user={os.getuid()}", "--format=%i|%T|%r|%Z")
    rows = [
        line.split("|", maxsplit=3)
        for line in scheduler_answer.demanded("squeue", *asked).splitlines()
    ]
    return [
        LeftJob(row[0], row[1], _id(Path(row[3])), row[2] if row[1] == PENDING else "")
        for row in rows
        if len(row) == 4 and row[1] != ENDED and Path(row[3]).is_relative_to(folder)
    ]


def of_a_gone_run(folder: Path) -> list[LeftJob]:
    """Return the same for the folder of a plan's runs; none while a run is going on, which knows
    its jobs, and where Slurm does not answer or is not here."""
    if not folder.is_dir() or job_folder.is_locked(folder / locks.NAME):
        return []
    try:
        return listed(folder)
    except DeepbenchError:
        return []


def listed_in_the_end(folder: Path, say: Callable[[str], None]) -> list[LeftJob]:
    """Return the same, when Slurm answers again.

    say: prints a line. Raises DeepbenchError where Slurm has not answered for `SILENCE_SECONDS`.
    """
    until = time.monotonic() + SILENCE_SECONDS
    while True:
        try:
            return listed(folder)
        except DeepbenchError as reason:
            if time.monotonic() > until:
                raise DeepbenchError(
                    f"Slurm has not answered for {SILENCE_SECONDS:.0f} s ({reason}): its jobs go"
                    " on; when it answers, give the same command again"
                ) from None
            say(f"Slurm does not answer ({reason}): waiting up to {SILENCE_SECONDS:.0f} s for it")
        time.sleep(POLL_SECONDS)


def wait(
    folder: Path, jobs: Sequence[LeftJob], say: Callable[[str], None], meanwhile: Callable[[], None]
) -> None:
    """Wait until Slurm has none of these jobs, nor others of the folder, as long as it takes.

    say: prints a line that it has not printed yet, such as the one that a job is held. meanwhile:
    called again and again. Raises as `listed_in_the_end` does.
    """
    while jobs:
        say(f"{named(jobs)}: waiting for them")
        known = {each.number for each in jobs}
        while {each.number for each in jobs} & known:
            for line in filter(None, (each.release for each in jobs)):
                say(line)
            time.sleep(POLL_SECONDS)
            meanwhile()
            jobs = listed_in_the_end(folder, say)


def cancel(folder: Path, say: Callable[[str], None]) -> None:
    """Cancel the jobs; where that fails, say so, and how to do it later."""
    numbers: list[str] = []
    try:
        if numbers := [each.number for each in listed(folder)]:
            scheduler_answer.demanded("scancel", *numbers)
    except DeepbenchError as reason:
        mend = f"scancel {' '.join(numbers)}" if numbers else "scancel those that squeue --me lists"
        say(f"jobs may go on in Slurm, since cancelling failed ({reason}): {mend}")


def _id(place: Path) -> str:
    """Return the id of the job whose script is in a folder, "" for none."""
    try:
        for line in (place / SCRIPT).read_text("utf-8", "replace").splitlines():
            if f"-m {PROGRAM} " in line:
                words = shlex.split(line)
                return words[words.index(PROGRAM) + 2]
    except (OSError, ValueError, IndexError):
        pass
    return ""
