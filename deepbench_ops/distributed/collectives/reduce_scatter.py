"""Reduce-scatter: the vectors of all ranks are summed, and rank i gets part i of the sum."""

from functools import partial
from typing import Any

from deepbench_ops.distributed.collectives import Call, newest
from deepbench_ops.distributed.initial_vectors import Piece, Vectors

IN_PLACE = False
SUMS = True
RESULT = "part of the sum"


def initial(vectors: Vectors, elements: int, rank: int) -> list[Piece]:
    """Return the rank's own vector, whole."""
    return [Piece(vectors.addend(rank), 0, elements)]


def expected(vectors: Vectors, elements: int, rank: int) -> list[Piece]:
    """Return the rank's part of the sum."""
    part = elements // vectors.ranks
    return [Piece(vectors.total(), rank * part, part)]


def over_torch(dist: Any, operand: Any, result: Any) -> Call:
    """Return a call of `reduce_scatter_single`, in older releases `reduce_scatter_tensor`."""
    return partial(newest(dist, "reduce_scatter_single", "reduce_scatter_tensor"), result, operand)


def over_mpi(mpi: Any, world: Any, operand: Any, result: Any) -> Call:
    """Return a call of `Reduce_scatter_block`, whose parts are equal."""
    return partial(world.Reduce_scatter_block, operand, result, mpi.SUM)
