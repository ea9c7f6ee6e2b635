"""Jobs of a run that Slurm keeps in its queue and never starts: they are cancelled, with a reason.

Either too few nodes are left that a job may use, since the others are down or drained, or a limit
of the cluster forbids it. A job that waits for busy nodes is left alone, as long as it takes, and
so is one that is held, which a line names.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deepbench_ops.fleet import scheduler_answer, slurm_nodes

LOOK_SECONDS = 10.0
"""Seconds between two looks at the queue."""

SHORTER = "give a shorter time limit, such as deepbench fleet run -- -S time_limit=30m"
OTHER_OPTIONS = "correct the options of sbatch in access of ReFrame's configuration"

FORBIDDEN = {
    "PartitionTimeLimit": SHORTER,
    "AssocMaxWallDurationPerJobLimit": SHORTER,
    "QOSMaxWallDurationPerJobLimit": SHORTER,
    "PartitionNodeLimit": OTHER_OPTIONS,
    "BadConstraints": OTHER_OPTIONS,
    "InvalidAccount": OTHER_OPTIONS,
    "InvalidQOS": OTHER_OPTIONS,
}
"""Squeue's reasons of jobs that never start, with the mend."""

TOO_LARGE = "PartitionConfig"
"""Squeue's reason of jobs that need more than a partition has: nodes that are out of use, or more
processors than its nodes have."""

SETTLED_SECONDS = 90.0
"""Seconds for which a job has to have `TOO_LARGE` as its reason before that is believed: Slurm also
gives it to new jobs that break another limit, and corrects it when it looks at the queue, which it
does each minute."""

HELD = "held"
"""Part of squeue's reasons of a job that waits until it is released: JobHeldUser, JobHeldAdmin."""

FEWER = "its nodes have too few processors: plan fewer --ranks-per-node"


@dataclass(frozen=True)
class PendingJob:
    """A job that waits.

    nodes: how many it needs; named: those that it must have, "" for any of its partition.
    """

    id: str
    nodes: int
    named: str
    partition: str
    reason: str


@dataclass
class PendingJobs:
    """The jobs that one run has in Slurm's queue, known by their folders.

    folder: that of the run. say: prints a line. cancelled: numbers of the cancelled jobs.
    """

    folder: Path
    say: Callable[[str], None]
    cancelled: set[str] = field(default_factory=set)
    _too_large_since: dict[str, float] = field(default_factory=dict)
    _next_look: float = 0.0

    def look(self) -> None:
        """Cancel the jobs that will never start, and say why; at most every `LOOK_SECONDS`.

        Jobs that are held are named, with the mend.
        """
        if time.monotonic() < self._next_look:
            return
        jobs = waiting(self.folder.resolve())
        nodes = slurm_nodes.states({job.partition for job in jobs})
        now = time.monotonic()
        since = self._too_large_since
        self._too_large_since = {
            job.id: since.get(job.id, now) for job in jobs if job.reason == TOO_LARGE
        }
        for job in jobs:
            if line := release_line(job.id, job.reason):
                self.say(line)
                continue
            settled = now - self._too_large_since.get(job.id, now) >= SETTLED_SECONDS
            if reason := why_never(job, nodes.get(job.partition, {}), settled):
                self.say(reason)
                scheduler_answer.of("scancel", "--state=PENDING", job.id)
                self.cancelled.add(job.id)
        self._next_look = time.monotonic() + LOOK_SECONDS


def release_line(number: str, reason: str) -> str:
    """Return the line with the mend of a job that waits for such a reason, "" unless it is held."""
    if HELD not in reason.lower():
        return ""
    return (
        f"job {number} is held ({reason}): let it start with scontrol release {number}, or give it"
        f" up with scancel {number}"
    )


def waiting(folder: Path) -> list[PendingJob]:
    """Return this user's pending jobs that were submitted from a folder inside this one."""
    asked = ("--all", "--states=PENDING", f"--user={os.getuid()}", "--format=%i|%D|%n|%P|%r|%Z")
    found = []
    for id, nodes, named, partition, reason, place in slurm_nodes.rows(6, "squeue", *asked):
        if Path(place).is_relative_to(folder) and nodes.isdecimal():
            found.append(PendingJob(id, int(nodes), named, partition, reason))
    return found


def why_never(job: PendingJob, states: Mapping[str, str], settled: bool) -> str:
    """Return a line with the reason why a job will never start, and the mend; "" where it may.

    states: those of the nodes of its partition, from `slurm_nodes.states`. settled: whether the
    job has had the reason `TOO_LARGE` for `SETTLED_SECONDS`.
    """
    if mend := FORBIDDEN.get(job.reason.partition(",")[0]):
        return f"Slurm starts no such job in {job.partition} ({job.reason}): {mend}"
    if job.named:
        for name in slurm_nodes.names(job.named):
            if said := states.get(name):
                return slurm_nodes.left_out(name, job.partition, said)
        return ""
    usable = sum(not said for said in states.values())
    if states and usable < job.nodes:
        out = ", ".join(f"{name} is {said}" for name, said in sorted(states.items()) if said)
        return (
            f"a job needs {job.nodes} nodes, and {job.partition} has {usable} that can be used"
            f"{f' ({out})' if out else ''}: {slurm_nodes.AGAIN}"
        )
    if states and settled:
        return f"Slurm starts no such job in {job.partition} ({job.reason}): {FEWER}"
    return ""
