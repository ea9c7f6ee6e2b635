"""All-reduces of language models' tensors, next to DeepBench's."""

from collective_rows import KINDS as KINDS
from collective_rows import entries_of

from deepbench_ops.problems.all_reduce import AllReduce
from modern_table_sources import Entry, Fact

APPLICATION = "sums of a model split over ranks"


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line, none of another operation's."""
    return entries_of(AllReduce, fact, APPLICATION)


OURS = ()
"""DeepBench's own sizes suit processors."""
