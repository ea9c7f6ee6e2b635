"""Processes of this host that may still submit jobs to Slurm: ReFrame, and each sbatch that it
started, which outlives a ReFrame that is killed while the controller is slow.

They are known by a variable of their environment, which names the folder of the run. Jobs have it
too, since sbatch passes it on; a job has a number of its own in Slurm, and so is none of them.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from deepbench_ops.errors import DeepbenchError

VARIABLE = "DEEPBENCH_FLEET_SUBMITS"
JOB_NUMBER = "SLURM_JOB_ID"

PROCESSES = Path("/proc")
"""Where Linux shows the environment of each process; elsewhere no process is found."""

SECONDS = 180.0
"""How long they may take: sbatch gives up after about two minutes of trying again, and a ReFrame
that cancels its jobs gets as long."""

POLL_SECONDS = 0.2


def mark(folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that marks processes which submit for the run in a folder.

    environ: of the run, which may be in a job itself.
    """
    return {VARIABLE: f"{environ.get(JOB_NUMBER, '')} {folder.resolve()}"}


def submitting(folder: Path) -> list[str]:
    """Return number and name, such as "123 (sbatch)", of each process of this user and host that
    may still submit jobs for the run in a folder."""
    found = []
    for process in PROCESSES.glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            variables = (process / "environ").read_bytes().decode(errors="surrogateescape")
            own = dict(each.partition("=")[::2] for each in variables.split("\0"))
            if VARIABLE in own and mark(folder, own)[VARIABLE] == own[VARIABLE]:
                name = (process / "comm").read_text(errors="replace").strip()
                found.append(f"{process.name} ({name})")
    return sorted(found, key=lambda each: int(each.split()[0]))


def wait(folder: Path, say: Callable[[str], None]) -> None:
    """Wait until no process of this host submits for the run in a folder.

    say: prints a line. Raises DeepbenchError where one still does after `SECONDS`.
    """
    until = time.monotonic() + SECONDS
    announced = False
    while processes := submitting(folder):
        named = f"processes on this host may still submit jobs: {', '.join(processes)}"
        if time.monotonic() > until:
            raise DeepbenchError(f"{named}: end them, and give the same command again")
        if not announced:
            say(f"{named}: waiting up to {SECONDS:.0f} s for their end")
            announced = True
        time.sleep(POLL_SECONDS)
