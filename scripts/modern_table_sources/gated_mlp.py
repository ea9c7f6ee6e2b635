"""Whole MLPs with a gate."""

from deepbench_ops.problems.gated_mlp import GatedMlp
from modern_table_sources import OWN, Entry, Fact

KINDS = ("swiglu_mlp",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    tokens = fact.size("b") * fact.size("s")
    activation = fact.name.partition("_")[0]
    problem = GatedMlp(activation, tokens, fact.size("hidden"), fact.size("intermediate"))
    notes = (fact.note, *fact.type_notes)
    return [Entry(problem, fact.core, "Llama 2 7B", fact.source, notes, fact.operations)]


def _own(activation: str) -> Entry:
    problem = GatedMlp(activation, 128, 2048, 8192)
    source = "meta-llama/Llama-3.2-1B config.json"
    return Entry(problem, True, "Llama 3.2 1B, 128 tokens", source, (OWN,))


OURS = (_own("swiglu"), _own("geglu"))
"""All published MLPs are too large for two processor cores."""
