"""LayerNorm of language models and of an image network."""

from deepbench_ops.problems.layer_norm import LayerNorm
from modern_table_sources import Entry, Fact

KINDS = ("layer_norm",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    problem = LayerNorm(fact.size("rows"), fact.size("hidden"))
    convnext = fact.name.startswith("convnext")
    application = "ConvNeXt-B in training" if convnext else "language models in training"
    notes = (fact.note, *fact.type_notes)
    return [Entry(problem, fact.core, application, fact.source, notes, fact.operations)]


OURS = ()
