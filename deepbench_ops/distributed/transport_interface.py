"""Transports of messages between ranks: their interface, and questions to one by its name.

A library is imported only when its transport is loaded.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from deepbench_ops.distributed import transports
from deepbench_ops.distributed.collectives import CollectiveModule
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.suggestions import unknown

NAMES = tuple(transports.found())


@dataclass(frozen=True)
class Bound:
    """A collective operation on arrays in host memory, bound to a transport."""

    run: Callable[[], object]
    """Carry out the operation once; on a GPU this may only enqueue it."""
    synchronise: Callable[[], object]
    """Return once everything enqueued has been done."""
    load: Callable[[], object]
    """Copy the host's values to the transport's memory; does nothing on a CPU."""
    store: Callable[[], object]
    """Copy the result back to the host's array; does nothing on a CPU."""


class Transport(ABC):
    """One rank's connection to all others."""

    name: str
    rank: int
    size: int

    @classmethod
    @abstractmethod
    def join(cls, rank: int, size: int, meeting: Path, timeout: float) -> "Transport":
        """Connect to the other ranks of a local group.

        meeting: path of a file that does not exist yet, the same for all ranks, in a folder that
        only this user can access.
        """

    @classmethod
    @abstractmethod
    def join_launched(cls, timeout: float) -> "Transport":
        """Connect to the other ranks that the same launcher (torchrun, mpirun) has started."""

    @abstractmethod
    def bind(self, collective: CollectiveModule, operand: np.ndarray, result: np.ndarray) -> Bound:
        """Prepare a collective operation on arrays in host memory.

        For an operation in place, operand and result are the same array. bfloat16 is stored as
        uint16. Raises Unsupported if the library does not have the operation.
        """

    def lacks(self, fault: Exception) -> str:
        """Return the library's message for a call that it does not have; "" for other failures."""
        return ""

    @abstractmethod
    def barrier(self) -> None:
        """Return once every rank has called this."""

    @abstractmethod
    def broadcast(self, text: str) -> str:
        """Return rank 0's text on every rank."""

    @abstractmethod
    def gather(self, text: str) -> list[str]:
        """Return the texts of all ranks in order on rank 0, [] on other ranks."""

    @abstractmethod
    def missing(self, seconds: float) -> list[int]:
        """Call the roll after a fault; return the ranks that do not answer within `seconds`.

        All running ranks call this at about the same time, from any thread.
        """

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return the versions and settings of the libraries that decide the speed."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection without errors on other ranks."""


def load(name: str) -> type[Transport]:
    """Import the library of the transport `name` and return its class.

    Raises DeepbenchError for an unknown name, Unsupported if the library is missing or broken.
    """
    declared = declaration(name)
    demand(name)
    try:
        found: type[Transport] = getattr(import_module(declared.module), declared.kind)
    except (ImportError, RuntimeError) as broken:
        why = " ".join(str(broken).split())
        raise Unsupported(f"{library(name)} cannot be imported for {name}: {why}") from None
    return found


def wants_mpirun(name: str) -> bool:
    """Return whether the ranks of a transport are started and connected by mpirun."""
    return declaration(name).wants_mpirun


def has_bfloat16(name: str) -> bool:
    """Return whether a transport can sum bfloat16; others can only move its bits."""
    return declaration(name).sums_bfloat16


def library_copies(name: str, in_place: bool) -> int:
    """Return the number of further copies of a vector that the library may need in main memory.

    in_place: whether operand and result are one buffer.
    """
    declared = declaration(name)
    return declared.copies_in_place if in_place else declared.copies


def check(name: str) -> str:
    """Return the name of a transport; raise DeepbenchError for an unknown one."""
    if name not in NAMES:
        raise unknown("transport", name, NAMES)
    return name


def declaration(name: str) -> transports.Declaration:
    """Return the declaration of a transport; raise DeepbenchError for an unknown one."""
    return transports.found()[check(name)]


def library(name: str) -> str:
    """Return the name of a transport's library."""
    return declaration(name).library


def demand(name: str) -> None:
    """Raise Unsupported if the library of a transport is not installed; imports nothing."""
    needed = library(name)
    if find_spec(needed) is None:
        raise Unsupported(
            f"{name} needs {needed}, which is not installed here: pip install {needed}"
        )
