"""Parts of `history_proof.py`: its kernels, their rounds on disk, and the disturbing process.

Rounds are lines of JSON, written as soon as they are measured, so that a part that was interrupted
or ran out of time can be continued.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np

from deepbench_ops import process_lifetime
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import ensemble_round_json, ensemble_sweeps, preferred_state, threads
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.worker_control import Launch, LiveWorker
from deepbench_ops.problems import FAMILIES
from deepbench_ops.problems.selections import operations, select
from deepbench_ops.storage import atomic_write, ensemble_round_files, json_lines

LONGEST = 0.3
"""Longest call of a kernel, in seconds; longer ones are left out."""


@dataclass
class Budget:
    """The time for which a command may measure."""

    seconds: float
    began: float = field(default_factory=time.monotonic)

    @property
    def is_spent(self) -> bool:
        """Whether no further kernel should be begun."""
        return time.monotonic() - self.began > self.seconds

    @property
    def left(self) -> str:
        """The remaining minutes, as text."""
        return f"{max(0.0, self.seconds - (time.monotonic() - self.began)) / 60:.0f} min left"


@dataclass
class Rounds:
    """Rounds of kernels in a file, by kernel and number."""

    path: Path
    found: dict[KernelIdentity, dict[int, Round]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for entry in json_lines.read(self.path):
            task = KernelIdentity(*ensemble_round_files.kernel_of(entry))
            self.found.setdefault(task, {})[entry["number"]] = ensemble_round_json.round_of(
                entry, {}
            )

    def of(self, task: KernelIdentity, numbers: Sequence[int]) -> list[Round]:
        """Return the measured rounds of a kernel among these numbers."""
        mine = self.found.get(task, {})
        return [mine[number] for number in numbers if number in mine]

    def selected(self, task: KernelIdentity, numbers: Sequence[int]) -> list[Round]:
        """Return the rounds among these numbers in the most frequent state of the machine."""
        return preferred_state.select(self.of(task, numbers)).rounds

    def derive_states(self) -> None:
        """Set the states of all rounds."""
        preferred_state.derive([each for mine in self.found.values() for each in mine.values()])

    def measure(
        self,
        launches: Mapping[str, Launch],
        tasks: Sequence[KernelIdentity],
        number: int,
        budget: Budget,
    ) -> bool:
        """Measure the missing kernels of a round; return whether the round is complete now."""
        missing = [task for task in tasks if number not in self.found.get(task, {})]
        if not missing:
            return True
        if budget.is_spent:
            return False
        say(f"{self.path.stem}: round {number + 1}, {len(missing)} kernels, {budget.left}")
        with closing(ensemble_sweeps.run_round(launches, missing, number)) as measured:
            for task, taken in measured:
                self.found.setdefault(task, {})[number] = taken
                _, entry = ensemble_round_json.entry_of(task, taken)
                json_lines.append(self.path, [{**entry, "number": number}])
                if budget.is_spent:
                    break
        return all(number in self.found.get(task, {}) for task in tasks)

    def states(self) -> str:
        """Return a text with the number of rounds in each state of the machine."""
        return count_states([each for mine in self.found.values() for each in mine.values()])


def count_states(rounds: Sequence[Round]) -> str:
    """Return how many rounds have sweeps in each state of the machine."""
    preferred_state.derive(rounds)
    states = chain.from_iterable(preferred_state.parts(each) or ["no state"] for each in rounds)
    counts = Counter(name or "unknown" for name in states)
    return ", ".join(f"{number} {name}" for name, number in counts.most_common())


def kernels(launch: Launch, path: Path, count: int, shortest: float) -> list[KernelIdentity]:
    """Return headline kernels of all families whose calls take between `shortest` and LONGEST.

    They are found with one process of a release, and stored in a file for later calls. Families and
    their operations take turns.
    """
    if path.exists():
        return [KernelIdentity(**each) for each in json.loads(path.read_text())]
    found: list[KernelIdentity] = []
    worker = LiveWorker(launch, cores())
    try:
        for task in _candidates():
            if len(found) == count:
                break
            seconds = _call(worker, task)
            if seconds is not None and shortest <= seconds <= LONGEST:
                say(
                    f"chosen: {task.family} {task.operation} {task.problem}, {1e3 * seconds:.3g} ms"
                )
                found.append(task)
    finally:
        worker.close()
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write.write_text(path, json.dumps([asdict(task) for task in found], indent=1) + "\n")
    return found


def _candidates() -> Iterator[KernelIdentity]:
    """Yield the headline kernels in float32 that run in one process, operations in turns."""
    lists: dict[tuple[str, str], list[KernelIdentity]] = {}
    for family in FAMILIES:
        for member in select("headline", family):
            problem = member.problem
            if not problem.ranks and "float32" in problem.precisions:
                for operation in operations(problem):
                    task = KernelIdentity(family, problem.id, "float32", operation)
                    lists.setdefault((family, operation), []).append(task)
    for several in zip_longest(*(dict.fromkeys(each) for each in lists.values())):
        yield from (task for task in several if task is not None)


def _call(worker: LiveWorker, task: KernelIdentity) -> float | None:
    """Return the seconds of a call; None if the release has no such kernel."""
    try:
        return worker.ask(do="prepare", **asdict(task))["seconds"]
    except DeepbenchError:
        return None


def cores() -> set[int]:
    """Return the cores to which workers are pinned."""
    return set(sorted(os.sched_getaffinity(0))[: threads.wanted()])


@contextmanager
def neighbour(seed: int) -> Iterator[None]:
    """Keep the last core of the workers busy, half of the time, while the block runs."""
    program = [sys.executable, str(Path(__file__)), str(max(cores())), str(seed)]
    process = subprocess.Popen(process_lifetime.bound(program))
    try:
        yield
    finally:
        process.kill()
        process.wait()


def disturb(core: int, seed: int) -> None:
    """Alternate between 0.2 to 4 s of work on one core, products or copies, and as much sleep."""
    os.sched_setaffinity(0, {core})
    chance = random.Random(seed)
    left = np.ones((512, 512), dtype=np.float32)
    large = np.ones(2**23, dtype=np.float32)
    while True:
        copies = chance.random() < 0.5
        ends = time.monotonic() + chance.uniform(0.2, 4.0)
        while time.monotonic() < ends:
            large.copy() if copies else left @ left
        time.sleep(chance.uniform(0.2, 4.0))


def say(line: str) -> None:
    """Print a line about progress."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    disturb(int(sys.argv[1]), int(sys.argv[2]))
