"""All-to-alls of language models' tensors."""

from collective_rows import KINDS as KINDS
from collective_rows import entries_of, own

from deepbench_ops.problems.all_to_all import AllToAll
from modern_table_sources import Entry, Fact

APPLICATION = "tokens sent to experts on other ranks"


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line, none of another operation's."""
    return entries_of(AllToAll, fact, APPLICATION)


OURS = own(AllToAll, APPLICATION)
