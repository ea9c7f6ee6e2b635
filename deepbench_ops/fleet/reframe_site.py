"""The site of a fleet: the partitions of a ReFrame configuration, each of one machine type.

A partition's machine type is its name, or the extra `deepbench_machine` that the configuration
gives it. ReFrame itself reads the configuration, so that everything it accepts is accepted here.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.suggestions import unknown

LOCAL = Path(__file__).with_name("local_reframe_configuration.py")
LOCAL_PARTITION = "here:local"

MACHINE_EXTRA = "deepbench_machine"
"""Key in a partition's `extras` that names its machine type."""

SUBMITTERS = {
    "flux": "flux",
    "lsf": "bsub",
    "oar": "oarsub",
    "pbs": "qsub",
    "sge": "qsub",
    "slurm": "sbatch",
    "squeue": "sbatch",
    "ssh": "ssh",
    "torque": "qsub",
}
"""The command by which ReFrame submits to a scheduler."""

PROGRAM = """\
import tempfile
from reframe.frontend.cli import main
with tempfile.TemporaryDirectory() as tempfile.tempdir:
    main()
"""
"""ReFrame, without the logs that each start leaves in the folder of temporary files, which its jobs
still have."""

SLURM_PARTITION = re.compile(r"(^|\s)(?:--partition[= ]\s*|-p\s*)([^\s,]+)(?!\S)")
"""The option of sbatch that names one partition."""

LIST_NODES = ("local", "slurm", "squeue", "ssh")
"""Schedulers whose nodes ReFrame can list."""


@dataclass(frozen=True)
class Partition:
    """A partition: its full name in ReFrame, such as site:cpu, its machine type and scheduler.

    access: options of the scheduler's command.
    """

    name: str
    machine: str
    scheduler: str
    access: tuple[str, ...] = ()

    @property
    def of_slurm(self) -> str:
        """Name of the partition in Slurm that its options ask for, "" for none."""
        found = SLURM_PARTITION.search(" ".join(self.access))
        return found[2] if found else ""


@dataclass(frozen=True)
class Site:
    """System that jobs run on.

    config: path of ReFrame's configuration, "" for ReFrame's own choice.
    """

    system: str
    config: str
    partitions: tuple[Partition, ...]

    @property
    def machines(self) -> tuple[str, ...]:
        """The machine types."""
        return tuple(dict.fromkeys(each.machine for each in self.partitions))

    def partition_of(self, machine: str) -> Partition:
        """Return the first partition of a machine type, or the partition of that name.

        Raises DeepbenchError where there is none.
        """
        for names in (
            {each.machine: each for each in reversed(self.partitions)},
            {each.name.partition(":")[2]: each for each in self.partitions},
        ):
            if machine in names:
                return names[machine]
        raise unknown(f"machine type of {self.system}", machine, self.machines)

    def demand_node_lists(self) -> None:
        """Raise DeepbenchError where ReFrame cannot list the nodes of a partition: for a test on
        every node it asks all of them."""
        for each in self.partitions:
            if each.scheduler not in LIST_NODES:
                raise DeepbenchError(
                    f"--every-node: ReFrame lists no nodes of {each.name}, which is scheduled by"
                    f" {each.scheduler}, but of {', '.join(LIST_NODES)}: name another --system"
                )

    def demand_schedulers(self, machines: Sequence[str]) -> None:
        """Raise DeepbenchError where the scheduler of a machine type is not on this host."""
        for each in map(self.partition_of, machines):
            command = SUBMITTERS.get(each.scheduler)
            if command and shutil.which(command) is None:
                raise DeepbenchError(
                    f"{each.name} is scheduled by {each.scheduler}, and this host has no"
                    f" {command}: run it where jobs are submitted, or make a plan without --system"
                    " to measure here"
                )


def here(machine: str) -> Site:
    """Return the site of this machine alone, without a scheduler."""
    return Site("here", str(LOCAL), (Partition(LOCAL_PARTITION, machine, "local"),))


def read(system: str, config: str) -> Site:
    """Return a site of ReFrame's configuration.

    Raises DeepbenchError where ReFrame is not installed, or refuses system or configuration.
    """
    options = [f"--system={system}", "--show-config=systems"]
    done = subprocess.run(
        [*command(), *(["-C", config] if config else []), *options],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    try:
        _, bracket, rest = done.stdout.partition("[")
        systems = json.loads(bracket + rest)
        partitions = tuple(
            partition(each["name"], part) for each in systems for part in each["partitions"]
        )
    except (ValueError, TypeError, KeyError):
        said = [*done.stdout.splitlines(), *done.stderr.splitlines()]
        raise DeepbenchError(f"{config or 'ReFrame'}: {_reason(said)}") from None
    return Site(system, config, partitions)


def command() -> list[str]:
    """Return the command line that starts ReFrame. Raises DeepbenchError where it is missing."""
    if importlib.util.find_spec("reframe") is None:
        raise DeepbenchError(
            "ReFrame is missing, which runs fleets: pip install 'asv_bench_deepbench[fleet]'"
        )
    return [sys.executable, "-c", PROGRAM]


def partition(system: str, part: Mapping[str, Any]) -> Partition:
    """Return a partition of a system from its entry in ReFrame's configuration."""
    name = str(part["name"])
    machine = part.get("extras", {}).get(MACHINE_EXTRA, name)
    access = tuple(map(str, part.get("access", ())))
    return Partition(f"{system}:{name}", str(machine), str(part["scheduler"]), access)


def _reason(lines: Sequence[str]) -> str:
    """Return the line with ReFrame's reason from its output."""
    said = [line.strip() for line in lines if line.strip()]
    errors = [line for line in said if "error" in line.lower()]
    return (errors or said or ["ReFrame printed nothing"])[-1]
