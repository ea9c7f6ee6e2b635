"""Softmax of attention scores and, before sampling, of a vocabulary."""

from deepbench_ops.problems.softmax import Softmax
from modern_table_sources import Entry, Fact

KINDS = ("softmax",)

WITH_BACKWARD = ("softmax_4096x256", "softmax_4096x4096")
"""Lines whose backward pass this project also times; the list has no backward passes."""

ADDED = "backward added by this project"


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    problem = Softmax(fact.size("rows"), fact.size("cols"))
    sampling = fact.name.startswith("sampling")
    application = "sampling of the next token" if sampling else "attention scores"
    notes, timed = [fact.note, *fact.type_notes], list(fact.operations)
    if fact.name in WITH_BACKWARD:
        notes.append(ADDED)
        timed.append("backward")
    return [Entry(problem, fact.core, application, fact.source, tuple(notes), tuple(timed))]


OURS = ()
