"""Transports of messages between ranks: their interface, and the list of them.

A library is imported when its transport is loaded and never before, so that asking for a list
of transports costs nothing and needs nothing installed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from deepbench_ops.distributed.collectives import CollectiveModule
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.suggestions import unknown

_CLASSES = {
    "gloo": ("torch", "deepbench_ops.distributed.torch_transport", "GlooTransport"),
    "nccl": ("torch", "deepbench_ops.distributed.torch_transport", "NcclTransport"),
    "mpi": ("mpi4py", "deepbench_ops.distributed.mpi_transport", "MpiTransport"),
}
NAMES = tuple(_CLASSES)

_STARTED_BY_MPIRUN = ("mpi",)
_WITHOUT_BFLOAT16 = ("mpi",)


@dataclass(frozen=True)
class Bound:
    """A collective operation on arrays in host memory, bound to a transport."""

    run: Callable[[], object]
    """Carry it out once; on a GPU this may only enqueue it."""
    synchronise: Callable[[], object]
    """Return once everything enqueued has been done."""
    load: Callable[[], object]
    """Bring the host's values to where the transport has them; nothing to do on a CPU."""
    store: Callable[[], object]
    """Bring the result back."""


class Transport(ABC):
    """One rank's connection to all others."""

    name: str
    rank: int
    size: int

    @classmethod
    @abstractmethod
    def join(cls, rank: int, size: int, meeting: Path, timeout: float) -> "Transport":
        """Meet the other ranks of a local group.

        meeting: a file that is not there yet, the same for all, in a folder of this user alone.
        """

    @classmethod
    @abstractmethod
    def join_launched(cls, timeout: float) -> "Transport":
        """Meet the other ranks that the same launcher (torchrun, mpirun) has started."""

    @abstractmethod
    def bind(self, collective: CollectiveModule, operand: np.ndarray, result: np.ndarray) -> Bound:
        """Prepare a collective operation on arrays that stay the host's copies.

        Of one in place both are the same array. bfloat16 is stored as uint16. Raises Unsupported
        where the library has no such operation.
        """

    def lacks(self, fault: Exception) -> str:
        """Return the library's message for a call that it does not have; "" for other failures."""
        return ""

    @abstractmethod
    def barrier(self) -> None:
        """Return once every rank has come here."""

    @abstractmethod
    def broadcast(self, text: str) -> str:
        """Return rank 0's text on every rank."""

    @abstractmethod
    def gather(self, text: str) -> list[str]:
        """Return every rank's text in order on rank 0, [] elsewhere."""

    @abstractmethod
    def missing(self, seconds: float) -> list[int]:
        """Call the roll after something went wrong; return the ranks that do not answer in time.

        All running ranks call this at about the same time, from any thread.
        """

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return the versions and settings of the libraries that decide the speed."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection without errors on the other ranks."""


def load(name: str) -> type[Transport]:
    """Return the transport called `name`, importing its library.

    Raises DeepbenchError for an unknown name, Unsupported where the library is missing or broken.
    """
    _, module, kind = _CLASSES[check(name)]
    demand(name)
    try:
        found: type[Transport] = getattr(import_module(module), kind)
    except (ImportError, RuntimeError) as broken:
        why = " ".join(str(broken).split())
        raise Unsupported(f"{library(name)} cannot be imported for {name}: {why}") from None
    return found


def wants_mpirun(name: str) -> bool:
    """Return whether ranks of that transport are started by mpirun, through which they meet."""
    return check(name) in _STARTED_BY_MPIRUN


def has_bfloat16(name: str) -> bool:
    """Return whether the transport can sum bfloat16; others can only move its bits."""
    return check(name) not in _WITHOUT_BFLOAT16


def library_copies(name: str, in_place: bool) -> int:
    """Return how many more copies of a vector the library may need in main memory.

    MPI libraries sum into a second vector; gloo copies where there are two buffers.
    """
    return {"gloo": int(not in_place), "nccl": 0, "mpi": 1}[check(name)]


def check(name: str) -> str:
    """Return the name; DeepbenchError when there is no such transport."""
    if name not in _CLASSES:
        raise unknown("transport", name, NAMES)
    return name


def library(name: str) -> str:
    """Return the library that carries it."""
    return _CLASSES[check(name)][0]


def demand(name: str) -> None:
    """Raise Unsupported when the library of that transport is not installed; imports nothing."""
    needed = library(name)
    if find_spec(needed) is None:
        raise Unsupported(
            f"{name} needs {needed}, which is not installed here: pip install {needed}"
        )
