"""Embedding bags of DLRM-v2 with tables of the Criteo data."""

from deepbench_ops.problems.embedding_bag import EmbeddingBag
from modern_table_sources import Entry, Fact

KINDS = ("embedding_bag",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    p = [fact.size(name) for name in ("batch", "pooling", "rows", "dim")]
    notes = (fact.note, *fact.type_notes)
    application = f"DLRM-v2, {fact.name.removeprefix('dlrm_v2_')}"
    problem = EmbeddingBag(*p)
    return [Entry(problem, fact.core, application, fact.source, notes, fact.operations)]


OURS = ()
