"""The collective operations between ranks: a module for each, named after its family of problems.

A module holds what `CollectiveModule` lists: the contents of each rank before and after the call,
and the call of each library. Number of bytes and bandwidth factor belong to the problem. A new
collective is such a module and a family derived from `problems.collective.Collective`.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from deepbench_ops.distributed.initial_vectors import Piece, Vectors

Call = Callable[[], object]


class CollectiveModule(Protocol):
    """The contents of a module here."""

    IN_PLACE: bool
    """Whether the result replaces the operand. Then each call starts from the last one's result."""
    SUMS: bool
    """Whether numbers are added up, and not only moved."""
    RESULT: str
    """The result in a word, for messages."""

    def initial(self, vectors: Vectors, elements: int, rank: int) -> Sequence[Piece]:
        """Return what a rank holds before the call, in order."""

    def expected(self, vectors: Vectors, elements: int, rank: int) -> Sequence[Piece]:
        """Return what it must hold afterwards, in order."""

    def over_torch(self, dist: Any, operand: Any, result: Any) -> Call:
        """Return the call of `torch.distributed` on these tensors, of its default group.

        Raises AttributeError where a release of torch has no such function.
        """

    def over_mpi(self, mpi: Any, world: Any, operand: Any, result: Any) -> Call:
        """Return the call of a communicator of mpi4py's `MPI` on these [array, type] pairs."""


def load(family: str) -> CollectiveModule:
    """Return the module of a family of collective operations."""
    return cast(CollectiveModule, import_module(f"{__name__}.{family}"))


def newest(module: Any, *names: str) -> Any:
    """Return the function of the first of these names that there is: releases rename them."""
    known = [name for name in names if hasattr(module, name)]
    return getattr(module, known[0] if known else names[-1])
