"""All-gathers of language models' tensors."""

from collective_rows import KINDS as KINDS
from collective_rows import entries_of, own

from deepbench_ops.problems.all_gather import AllGather
from modern_table_sources import Entry, Fact

APPLICATION = "activations of a model split over ranks"


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line, none of another operation's."""
    return entries_of(AllGather, fact, APPLICATION)


OURS = own(AllGather, APPLICATION)
