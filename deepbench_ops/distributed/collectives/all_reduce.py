"""All-reduce: the vector of each rank is replaced by the sum of all vectors."""

from functools import partial
from typing import Any

from deepbench_ops.distributed.collectives import Call
from deepbench_ops.distributed.initial_vectors import Piece, Vectors

IN_PLACE = True
SUMS = True
RESULT = "sum"


def initial(vectors: Vectors, elements: int, rank: int) -> list[Piece]:
    """Return the rank's own vector."""
    return [Piece(vectors.addend(rank), 0, elements)]


def expected(vectors: Vectors, elements: int, rank: int) -> list[Piece]:
    """Return the sum of all, on every rank."""
    return [Piece(vectors.total(), 0, elements)]


def over_torch(dist: Any, operand: Any, result: Any) -> Call:
    """Return a call of `all_reduce` in place, as in a training loop."""
    return partial(dist.all_reduce, result)


def over_mpi(mpi: Any, world: Any, operand: Any, result: Any) -> Call:
    """Return a call of `Allreduce` in place."""
    return partial(world.Allreduce, mpi.IN_PLACE, result, mpi.SUM)
