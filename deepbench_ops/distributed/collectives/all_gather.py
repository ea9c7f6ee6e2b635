"""All-gather: every rank gets the parts of all ranks, in the order of the ranks."""

from functools import partial
from typing import Any

from deepbench_ops.distributed.collectives import Call, newest
from deepbench_ops.distributed.initial_vectors import Piece, Vectors

IN_PLACE = False
SUMS = False
RESULT = "gathered vector"


def initial(vectors: Vectors, elements: int, rank: int) -> list[Piece]:
    """Return the rank's part of the vector."""
    part = elements // vectors.ranks
    return [Piece(vectors.own(0), rank * part, part)]


def expected(vectors: Vectors, elements: int, rank: int) -> list[Piece]:
    """Return the whole vector, on every rank."""
    return [Piece(vectors.own(0), 0, elements)]


def over_torch(dist: Any, operand: Any, result: Any) -> Call:
    """Return a call of `all_gather_single`, in older releases `all_gather_into_tensor`."""
    return partial(newest(dist, "all_gather_single", "all_gather_into_tensor"), result, operand)


def over_mpi(mpi: Any, world: Any, operand: Any, result: Any) -> Call:
    """Return a call of `Allgather`."""
    return partial(world.Allgather, operand, result)
