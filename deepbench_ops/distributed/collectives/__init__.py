"""The collective operations between ranks: a module for each, named after its family of problems.

A module has the attributes of `CollectiveModule`: contents of each rank before and after the call,
and the call of each library. The number of bytes and the bandwidth factor belong to the problem. A
new collective operation consists of such a module and a family derived from
`problems.collective.Collective`.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from deepbench_ops.distributed.initial_vectors import Piece, Vectors

Call = Callable[[], object]


class CollectiveModule(Protocol):
    """Attributes of a module in this package."""

    IN_PLACE: bool
    """Whether the result replaces the operand; each call then starts from the previous result."""
    SUMS: bool
    """Whether numbers are added up and not only moved."""
    RESULT: str
    """Name of the result, for messages."""

    def initial(self, vectors: Vectors, elements: int, rank: int) -> Sequence[Piece]:
        """Return the contents of a rank's operand before the call, in order."""

    def expected(self, vectors: Vectors, elements: int, rank: int) -> Sequence[Piece]:
        """Return the correct contents of a rank's result after the call, in order."""

    def over_torch(self, dist: Any, operand: Any, result: Any) -> Call:
        """Return a call of `torch.distributed` on these tensors, in its default group.

        Raises AttributeError for a release of torch without the function.
        """

    def over_mpi(self, mpi: Any, world: Any, operand: Any, result: Any) -> Call:
        """Return a call of mpi4py's communicator `world` on these [array, type] pairs."""


def load(family: str) -> CollectiveModule:
    """Return the module of a family of collective operations."""
    return cast(CollectiveModule, import_module(f"{__name__}.{family}"))


def newest(module: Any, *names: str) -> Any:
    """Return the function with the first of these names that exists in `module`; releases rename
    functions."""
    known = [name for name in names if hasattr(module, name)]
    return getattr(module, known[0] if known else names[-1])
