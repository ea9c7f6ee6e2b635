"""Jobs of a run that Slurm keeps in its queue and never starts: they are cancelled, with a reason.

Either too few nodes are left that a job may use, since the others are down or drained, or a limit
of the cluster forbids it. A job that waits for busy nodes is left alone, as long as it takes.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deepbench_ops.fleet import scheduler_answer

LOOK_SECONDS = 10.0
"""Seconds between two looks at the queue."""

OUT_OF_USE = ("down", "drained", "fail", "inval")
"""States of nodes, in sinfo's words, that end only when an administrator resumes the node. A node
that does not respond is waited for: Slurm sets it down if it remains so."""

PLAIN_MARKS = "*$-+"
"""Marks after a state that change nothing here. After the others a node comes back by itself: it
saves energy, or is starting."""

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

AGAIN = "when that is mended, give the same command again"


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
    _next_look: float = 0.0

    def look(self) -> None:
        """Cancel the jobs that will never start, and say why; at most every `LOOK_SECONDS`."""
        if time.monotonic() < self._next_look:
            return
        jobs = waiting(self.folder.resolve())
        nodes = node_states({job.partition for job in jobs})
        for job in jobs:
            if reason := why_never(job, nodes.get(job.partition, {})):
                self.say(reason)
                scheduler_answer.of("scancel", "--state=PENDING", job.id)
                self.cancelled.add(job.id)
        self._next_look = time.monotonic() + LOOK_SECONDS


def waiting(folder: Path) -> list[PendingJob]:
    """Return this user's pending jobs that were submitted from a folder inside this one."""
    asked = ("--states=PENDING", f"--user={os.getuid()}", "--format=%i|%D|%n|%P|%r|%Z")
    found = []
    for id, nodes, named, partition, reason, place in _rows(6, "squeue", *asked):
        if Path(place).is_relative_to(folder) and nodes.isdecimal():
            found.append(PendingJob(id, int(nodes), named, partition, reason))
    return found


def node_states(partitions: set[str]) -> dict[str, dict[str, str]]:
    """Return the state of each node by its name, by partition; "" where jobs may wait for it.

    Of other nodes it has sinfo's word and the administrator's reason. partitions: as squeue names
    those of a job, with commas between several.
    """
    found: dict[str, dict[str, str]] = {each: {} for each in partitions}
    if not partitions:
        return found
    asked = ("--Node", f"--partition={','.join(sorted(partitions))}")
    for name, partition, state, reason in _rows(4, "sinfo", *asked, "--format=%N|%R|%T|%E"):
        word = state.rstrip(PLAIN_MARKS)
        said = f"{word} ({reason})" if word in OUT_OF_USE else ""
        for each in partitions:
            if partition in each.split(","):
                found[each][name] = said
    return found


def why_never(job: PendingJob, states: Mapping[str, str]) -> str:
    """Return a line with the reason why a job will never start, and the mend; "" where it may.

    states: those of the nodes of its partition, from `node_states`.
    """
    if mend := FORBIDDEN.get(job.reason.partition(",")[0]):
        return f"Slurm starts no such job in {job.partition} ({job.reason}): {mend}"
    if job.named:
        for name in _names(job.named):
            if said := states.get(name):
                return f"{name} of {job.partition} is {said}: left out; {AGAIN}"
        return ""
    usable = sum(not said for said in states.values())
    if states and usable < job.nodes:
        out = ", ".join(f"{name} is {said}" for name, said in sorted(states.items()) if said)
        return (
            f"a job needs {job.nodes} nodes, and {job.partition} has {usable} that can be used"
            f"{f' ({out})' if out else ''}: {AGAIN}"
        )
    return ""


def _names(nodes: str) -> list[str]:
    """Return the names in a list of nodes, such as node[1-3]."""
    if "[" not in nodes:
        return nodes.split(",")
    return scheduler_answer.of("scontrol", "show", "hostnames", nodes).split()


def _rows(columns: int, *command: str) -> list[list[str]]:
    """Return the rows of a table of Slurm, without lines of another kind."""
    lines = scheduler_answer.of(*command, "--noheader").splitlines()
    rows = [line.split("|", maxsplit=columns - 1) for line in lines]
    return [row for row in rows if len(row) == columns]
