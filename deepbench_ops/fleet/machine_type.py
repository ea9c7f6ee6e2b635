"""A machine type of a fleet: the files that its nodes share, on a disk that all of them see.

`machines/<type>/` next to the plan holds asv's entry of the type, its profile, and one environment
for each release. The first job on a node of the type makes the missing ones; others wait for it.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from deepbench_ops.asv_adapter import machine_entry, result_files
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import node_process
from deepbench_ops.machine import machine_facts, machine_profile
from deepbench_ops.measure import threads, yardstick
from deepbench_ops.storage import atomic_write, bounded_read, locks

ALIKE = ("arch", "cpu", "num_cpu", "accelerator")
"""Keys of asv's entry in which all nodes of a type agree."""


@dataclass(frozen=True)
class MachineType:
    """The shared folder of a machine type."""

    name: str
    path: Path

    @property
    def machine_file(self) -> Path:
        """asv's list of machines for jobs on this type, in place of that in the home folder.

        Its folder is its own, since its writers lock that.
        """
        return self.path / "asv" / "machine.json"

    @property
    def environments(self) -> Path:
        """The folder of the releases' environments."""
        return self.path / "environments"

    @property
    def results(self) -> Path:
        """Folder with the description and the profile of the type, like a folder of results."""
        return self.path / "results"

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables of the commands that run on its nodes."""
        return {machine_entry.FILE_VARIABLE: str(self.machine_file)}

    def describe(self, results: Path, node: str) -> None:
        """Make description and profile where they are missing: from a project's results, and by
        `deepbench machine` on this node where these have no yardsticks.

        Raises DeepbenchError where that fails, and where this node is of another type.
        """
        with locks.in_turn(self.path, doing=f"describing {self.name}"):
            known = machine_entry.of_results(results, self.name)
            if not self._is_described() and known and machine_profile.read(results, self.name):
                self._take_over(results, known)
            if not self._is_described() or not self._has_readings():
                self._survey()
            entry = machine_entry.of_results(self.results, self.name)
        self._demand_alike(entry, node)

    def give_profile(self, results: Path) -> None:
        """Put description and profile into the folder of results of a job."""
        shutil.copytree(self.results / self.name, results / self.name, dirs_exist_ok=True)

    def _is_described(self) -> bool:
        """Whether the entry and the profile are there; a kill may leave one of them alone."""
        return (
            self.machine_file.exists() and machine_profile.read(self.results, self.name) is not None
        )

    def _has_readings(self) -> bool:
        """Whether the profile has yardsticks for the threads of its jobs: two jobs that took them
        at the same time would calibrate by different ones."""
        known = machine_profile.read(self.results, self.name)
        return known is not None and bool(known.nominal(threads.wanted(), yardstick.VERSION))

    def _take_over(self, results: Path, entry: dict[str, str]) -> None:
        for name in ("machine.json", machine_profile.FILE_NAME):
            content = bounded_read.read_bytes(results / self.name / name, bounded_read.SMALL)
            atomic_write.write_bytes(self.results / self.name / name, content)
        machine_entry.write_file(self.machine_file, entry)

    def _survey(self) -> None:
        command = ("-m", "deepbench_ops.cli", "machine", "--yes", "--name", self.name)
        where = ("--results", str(self.results.resolve()))
        done = node_process.run((*command, *where), self.path, self.variables)
        if done.status:
            raise DeepbenchError(f"{self.name} could not be described: {done.last_line}")
        entry = machine_entry.in_file(self.machine_file)[self.name]
        result_files.write_machine(self.results / self.name / "machine.json", entry)

    def _demand_alike(self, entry: dict[str, str], node: str) -> None:
        here = machine_facts.identity(self.name)
        other = {key for key in ALIKE if entry.get(key, here[key]) != here[key]}
        if other:
            key = sorted(other)[0]
            raise DeepbenchError(
                f"{node} is no {self.name}: {key} is {here[key]!r} there and {entry[key]!r} in"
                f" {self.name}'s description; give such nodes a partition of their own"
            )


def type_of(plan: Path, name: str) -> MachineType:
    """Return a machine type; plan: path of the plan's file."""
    return MachineType(name, plan.parent / "machines" / name)
