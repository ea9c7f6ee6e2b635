"""Ranks on several nodes: how many on each, the program that starts them, and their network.

A job of a fleet that has several nodes gives this to its processes in an environment variable.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deepbench_ops.errors import DeepbenchError

VARIABLE = "DEEPBENCH_RANK_PLACEMENT"
"""Environment variable with a placement as JSON; not set where ranks run on one machine."""

LAUNCHERS = {"srun": "Slurm", "torchrun": "torchrun", "mpirun": "Open MPI"}
"""Programs that start ranks, and the launcher of each in `launcher_variables`."""

USUAL_LAUNCHER = "srun"
"""The launcher of clusters, which names of placements leave out."""

LOOPBACK = "loopback"
"""The interconnect of ranks that all run on one machine, to try a plan."""

NAME = re.compile("[a-z0-9][a-z0-9._]{0,39}")


@dataclass(frozen=True)
class RankPlacement:
    """Ranks on several nodes.

    launcher: one of `LAUNCHERS`. interconnect: its name by the user, such as hdr200. hosts: of
    torchrun over ssh and of mpirun, the first is that of rank 0; () where the scheduler knows them.
    Raises DeepbenchError for values that no ranks can have.
    """

    nodes: int
    ranks_per_node: int
    launcher: str
    interconnect: str
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.nodes < 2 or self.ranks_per_node < 1:
            raise DeepbenchError(
                f"{self.nodes} nodes with {self.ranks_per_node} ranks each: give 2 nodes or more,"
                " with 1 rank or more"
            )
        if self.launcher not in LAUNCHERS:
            raise DeepbenchError(
                f"the launcher is {self.launcher!r}: give one of {', '.join(LAUNCHERS)}"
            )
        if not NAME.fullmatch(self.interconnect):
            raise DeepbenchError(
                f"the interconnect is {self.interconnect!r}: give a name of lower-case letters,"
                " digits, dots and underscores, such as hdr200"
            )
        if self.hosts and len(self.hosts) != self.nodes:
            raise DeepbenchError(
                f"the hosts are {', '.join(self.hosts)}: give one for each of {self.nodes} nodes"
            )
        if self.launcher == "torchrun" and not self.hosts and self.interconnect != LOOPBACK:
            raise DeepbenchError(
                "torchrun needs the names of the hosts, which it reaches by ssh; only with the"
                f" interconnect {LOOPBACK} do all of its ranks run on this machine"
            )

    @property
    def ranks(self) -> int:
        """Number of ranks on all nodes together."""
        return self.nodes * self.ranks_per_node

    @property
    def name(self) -> str:
        """Name such as 2x4-hdr200 or 2x4-hdr200-torchrun: nodes, ranks of each, interconnect, and
        a launcher that is not the usual one, since times by two of them are not the same."""
        usual = self.launcher == USUAL_LAUNCHER
        return self.former_name if usual else f"{self.former_name}-{self.launcher}"

    @property
    def former_name(self) -> str:
        """Name without the launcher, as plans of earlier versions have it for all of them."""
        return f"{self.nodes}x{self.ranks_per_node}-{self.interconnect}"

    @property
    def on_one_machine(self) -> bool:
        """Whether all ranks run on this machine, to try a plan; srun has nodes also then."""
        return self.interconnect == LOOPBACK and self.launcher != "srun"

    def demand_nodes(self, names: Sequence[str]) -> None:
        """Raise DeepbenchError where ranks are on fewer nodes than the placement has.

        names: the node of each rank.
        """
        found = sorted({*names})
        if len(found) < (1 if self.on_one_machine else self.nodes):
            raise DeepbenchError(
                f"the {self.ranks} ranks run on {', '.join(found)}, and not on {self.nodes} nodes"
            )

    def facts(self) -> dict[str, str]:
        """Return the conditions of measurements, for their records."""
        return {
            "nodes": str(self.nodes),
            "ranks_per_node": str(self.ranks_per_node),
            "launcher": self.launcher,
            "interconnect": self.interconnect,
        }

    def variables(self) -> dict[str, str]:
        """Return the environment variable that gives it to a process."""
        return {VARIABLE: json.dumps(asdict(self))}


def asked(environ: Mapping[str, str] = os.environ) -> RankPlacement | None:
    """Return the placement of this process's job, None for ranks on one machine.

    Raises DeepbenchError for a variable that holds none.
    """
    text = environ.get(VARIABLE)
    if not text:
        return None
    try:
        return of(json.loads(text))
    except (ValueError, TypeError) as wrong:
        raise DeepbenchError(f"{VARIABLE} holds no placement of ranks: {wrong}") from None


def of(content: Mapping[str, Any]) -> RankPlacement:
    """Return a placement from its JSON. Raises TypeError and DeepbenchError for other content."""
    if not isinstance(content, dict):
        raise TypeError(f"{content!r} is no object")
    return RankPlacement(**{**content, "hosts": tuple(content.get("hosts", ()))})
