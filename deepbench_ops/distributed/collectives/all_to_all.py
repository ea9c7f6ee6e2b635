"""All-to-all: part i of rank j's vector becomes part j of rank i's."""

from functools import partial
from typing import Any

from deepbench_ops.distributed.collectives import Call
from deepbench_ops.distributed.initial_vectors import Piece, Vectors

IN_PLACE = False
SUMS = False
RESULT = "exchanged vector"


def initial(vectors: Vectors, elements: int, rank: int) -> list[Piece]:
    """Return the rank's own vector: a part for each rank."""
    return [Piece(vectors.own(rank), 0, elements)]


def expected(vectors: Vectors, elements: int, rank: int) -> list[Piece]:
    """Return this rank's part of every rank's vector."""
    part = elements // vectors.ranks
    return [Piece(vectors.own(other), rank * part, part) for other in range(vectors.ranks)]


def over_torch(dist: Any, operand: Any, result: Any) -> Call:
    """Return a call of `all_to_all_single`."""
    return partial(dist.all_to_all_single, result, operand)


def over_mpi(mpi: Any, world: Any, operand: Any, result: Any) -> Call:
    """Return a call of `Alltoall`."""
    return partial(world.Alltoall, operand, result)
