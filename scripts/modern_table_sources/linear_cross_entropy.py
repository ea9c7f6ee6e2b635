"""Cross-entropy together with the linear layer that computes the logits."""

from deepbench_ops.problems.linear_cross_entropy import LinearCrossEntropy
from modern_table_sources import OWN, Entry, Fact, LeftOut

KINDS = ("cross_entropy",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    if not fact.name.startswith("fused_linear_ce"):
        raise LeftOut("a loss without a linear layer, of another family")
    problem = LinearCrossEntropy(fact.size("tokens"), fact.size("hidden"), fact.size("vocab"))
    notes = (fact.note, *fact.type_notes)
    return [Entry(problem, fact.core, "Llama 3 8B in training", fact.source, notes)]


def _own(tokens: int, hidden: int, vocabulary: int, application: str, source: str) -> Entry:
    problem = LinearCrossEntropy(tokens, hidden, vocabulary)
    return Entry(problem, True, application, source, (OWN,))


OURS = (
    _own(128, 2048, 128256, "Llama 3.2 1B, 128 tokens", "meta-llama/Llama-3.2-1B config.json"),
    _own(512, 1024, 32000, "a small language model in training", "this project"),
)
"""All published problems are too large for two processor cores."""
