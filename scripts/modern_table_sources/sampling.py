"""Sampling of the next token."""

from deepbench_ops.problems.sampling import Sampling
from modern_table_sources import OWN, Entry, Fact

KINDS = ("sampling",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    problem = Sampling(fact.size("rows"), fact.size("cols"), float(fact.dims["p"]))
    notes = (fact.note, *fact.type_notes)
    application = "Llama 3, 32 sequences"
    return [Entry(problem, fact.core, application, fact.source, notes, fact.operations)]


OURS = (Entry(Sampling(1, 128256, 0.95), True, "Llama 3, one sequence", "this project", (OWN,)),)
"""A single sequence, the usual case on a processor."""
