"""Reduce-scatters of language models' tensors."""

from collective_rows import KINDS as KINDS
from collective_rows import entries_of, own

from deepbench_ops.problems.reduce_scatter import ReduceScatter
from modern_table_sources import Entry, Fact

APPLICATION = "partial sums of a model split over ranks"


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line, none of another operation's."""
    return entries_of(ReduceScatter, fact, APPLICATION)


OURS = own(ReduceScatter, APPLICATION)
