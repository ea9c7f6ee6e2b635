"""Top-k of samplers and of routers to experts."""

from deepbench_ops.problems.topk import TopK
from modern_table_sources import Entry, Fact

KINDS = ("topk",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    problem = TopK(fact.size("rows"), fact.size("cols"), fact.size("k"))
    gate = fact.size("cols") <= 256
    application = "gate of a mixture of experts" if gate else "candidates of a sampler"
    notes = (fact.note, *fact.type_notes)
    return [Entry(problem, fact.core, application, fact.source, notes, fact.operations)]


OURS = ()
