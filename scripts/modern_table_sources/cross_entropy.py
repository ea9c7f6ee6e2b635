"""Cross-entropy of logits, without the layer that computes them."""

from deepbench_ops.problems.cross_entropy import CrossEntropy
from modern_table_sources import OWN, Entry, Fact, LeftOut

KINDS = ("cross_entropy",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    if not fact.name.startswith("ce_"):
        raise LeftOut("another loss, of another family")
    problem = CrossEntropy(fact.size("tokens"), fact.size("vocab"))
    notes = (fact.note, *fact.type_notes)
    application = "language models in training"
    return [Entry(problem, fact.core, application, fact.source, notes, fact.operations)]


OURS = (
    Entry(
        CrossEntropy(512, 128256),
        True,
        "Llama 3, 512 tokens",
        "meta-llama/Llama-3.2-1B config.json",
        (OWN,),
    ),
)
"""The published problem with a large vocabulary needs more memory than a small machine has."""
