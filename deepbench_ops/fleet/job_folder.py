"""The folder of a job: its project folder on the node, and the files that say how far it is.

It lies in `jobs/` next to the plan, on a disk that all nodes share. While a job runs it holds the
lock of its folder, so that one that is submitted twice is measured once. `outcome.json` is written
last; a job without it was interrupted, and goes on from its journal when it is started again.
"""

import fcntl
import json
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deepbench_ops.fleet.fleet_plan import LONGEST, MOST_POINTS, Job, Plan
from deepbench_ops.storage import atomic_write, bounded_read, locks

JOBS = "jobs"
OUTCOME, BEGUN, COLLECTED = "outcome.json", "begun.json", "collected.json"

LEFT, RUNNING, INTERRUPTED = "left", "running", "interrupted"
MEASURED, FAILED = "measured", "failed"
STATES = (MEASURED, RUNNING, INTERRUPTED, FAILED, LEFT)
"""States of a job, in the order of tables."""

DAMAGE = (ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""Exceptions for files that are not as they were written."""

AT_NODE = "@"
"""Between the number of a shard and the node, where every node runs the job."""

DONE = "deepbench fleet: done:"
"""Begins the last line of a job that is measured."""


@dataclass(frozen=True)
class Outcome:
    """The end of a job: whether it was measured, else the reason; on which node, in how long.

    failed_kernels: how many failed while others have times; those are in its results.
    """

    measured: bool
    node: str
    seconds: float
    reason: str = ""
    failed_kernels: int = 0

    @property
    def has_times(self) -> bool:
        """Whether there are times in the job's results."""
        return self.measured or self.failed_kernels > 0


@dataclass(frozen=True)
class JobFolder:
    """The folder of a job, on one node where every node runs it."""

    job: Job
    path: Path

    @property
    def results(self) -> Path:
        """Its folder of results."""
        return self.path / "results"

    @property
    def name(self) -> str:
        """The job's name, with the node where every node runs it."""
        return f"{self.job.id}{AT_NODE}{self.node}" if self.node else self.job.id

    @property
    def node(self) -> str:
        """The node of a job that every node runs, else ""."""
        return self.path.name.partition(AT_NODE)[2]

    def outcome(self) -> Outcome | None:
        """Return how the job ended; None where it has not.

        Of a damaged file the outcome is a failure with that reason; the job is measured again.
        """
        return _read(self.path / OUTCOME)

    def end(self, outcome: Outcome) -> None:
        """Write how the job ended. Raises OSError."""
        atomic_write.write_text(self.path / OUTCOME, json.dumps(asdict(outcome)) + "\n")

    def begin(self, node: str) -> None:
        """Note that the job is running, and forget how it ended before, but for the number of
        kernels that failed. Raises OSError."""
        outcome = self.outcome()
        failed = outcome.failed_kernels if outcome else self.failed_before
        about = {"node": node, "at": round(time.time(), 1), "failed_kernels": failed}
        atomic_write.write_text(self.path / BEGUN, json.dumps(about) + "\n")
        (self.path / OUTCOME).unlink(missing_ok=True)

    @property
    def begun_at(self) -> float:
        """Seconds since 1970 at which the job began, 0 where that is not known."""
        return self._begun("at")

    @property
    def failed_before(self) -> int:
        """Number of kernels that failed when the job, now begun again, had measured the others."""
        return int(self._begun("failed_kernels"))

    def _begun(self, name: str) -> float:
        """Return a number that was noted when the job began, 0 where there is none."""
        try:
            return float(json.loads((self.path / BEGUN).read_text("utf-8"))[name])
        except (OSError, *DAMAGE):
            return 0.0

    def state(self) -> str:
        """Return its state, one of `STATES`."""
        outcome = self.outcome()
        if outcome is not None:
            return MEASURED if outcome.measured else FAILED
        if not self.path.is_dir():
            return LEFT
        return RUNNING if is_locked(self.path / locks.NAME) else INTERRUPTED

    def end_merge(self, outcome: Outcome, times: int = 0, refused: str = "") -> None:
        """Note how many times of a job that ended so are in the results of the project now, or the
        reason why they are refused there. Raises OSError."""
        note = {"times": times, "refused": refused, "outcome": asdict(outcome)}
        atomic_write.write_text(self.path / COLLECTED, json.dumps(note) + "\n")

    @property
    def awaits_merge(self) -> bool:
        """Whether it has times that are not in the results of the project."""
        outcome = self.outcome()
        if outcome is None or not outcome.has_times:
            return False
        merge = self._merge_of(outcome)
        return not merge or bool(merge["refused"])

    @property
    def refusal(self) -> str:
        """The reason why the results of the project refused its times, "" for none."""
        outcome = self.outcome()
        return str(self._merge_of(outcome).get("refused", "")) if outcome else ""

    def _merge_of(self, outcome: Outcome) -> dict[str, Any]:
        """Return the note of the merge after this end of the job, empty for none.

        Notes of earlier versions name no end of the job, and were written for merged times alone.
        """
        try:
            note = json.loads(bounded_read.read_text(self.path / COLLECTED, bounded_read.SMALL))
            same = note.get("outcome", asdict(outcome)) == asdict(outcome)
        except (OSError, AttributeError, *DAMAGE):
            return {}
        return {"refused": "", **note} if same else {}


def done_pattern(id: str, digest: str) -> str:
    """Return the regular expression of the last line of a job of the plan with this digest, on any
    node, by which its ReFrame test knows that it is measured."""
    return rf"^{DONE} {re.escape(id)}({AT_NODE}\S+)? of the plan {digest}\b"


def folder_of(plan: Plan, path: Path, job: Job, node: str) -> JobFolder:
    """Return the folder of a job on a node; path: that of the plan."""
    own = f"{AT_NODE}{node}" if plan.every_node else ""
    return JobFolder(job, path.parent / JOBS / f"{job.id}{own}")


def folders(plan: Plan, path: Path) -> Iterator[JobFolder]:
    """Yield the folders of all jobs, also those that are not there yet; path: that of the plan.

    Of a job that every node runs there is one for each node on which any job of its machine began.
    """
    places = [(job, path.parent / JOBS / job.id) for job in plan.jobs]
    nodes: dict[str, set[str]] = {}
    for job, own in places if plan.every_node else ():
        begun = own.parent.glob(f"{own.name}{AT_NODE}*")
        nodes.setdefault(job.machine, set()).update(
            each.name.partition(AT_NODE)[2] for each in begun
        )
    for job, own in places:
        for node in sorted(nodes.get(job.machine, ())) or [""]:
            yield JobFolder(job, own.with_name(f"{own.name}{AT_NODE}{node}") if node else own)


def _read(path: Path) -> Outcome | None:
    """Return an outcome from its file, None where there is none."""
    try:
        found = json.loads(bounded_read.read_text(path, bounded_read.SMALL))
        outcome = Outcome(**found)
        if not isinstance(outcome.measured, bool) or not 0 <= outcome.seconds <= LONGEST:
            raise ValueError("this is no end of a job")
        if not 0 <= int(outcome.failed_kernels) <= MOST_POINTS:
            raise ValueError("this is no end of a job")
        " ".join([outcome.node, outcome.reason])
    except FileNotFoundError:
        return None
    except DAMAGE as wrong:
        return Outcome(False, "", 0.0, f"{path} is not whole ({wrong}): the next run goes on")
    return outcome


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock file, which may be another user's; False where this
    user may not read it."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (FileNotFoundError, PermissionError):
        return False
    return False
