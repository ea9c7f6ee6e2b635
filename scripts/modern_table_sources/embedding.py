"""Embeddings of tokens, with tables that fit into a cache and larger ones."""

from deepbench_ops.problems.embedding import Embedding
from modern_table_sources import Entry, Fact

KINDS = ("embedding",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    problem = Embedding(fact.size("indices"), fact.size("rows"), fact.size("dim"))
    notes = (fact.note, *fact.type_notes)
    application = "language models in training"
    return [Entry(problem, fact.core, application, fact.source, notes, fact.operations)]


OURS = ()
