"""KL divergence, the loss of distillation."""

from deepbench_ops.problems.kl_div import KlDiv
from modern_table_sources import OWN, Entry, Fact, LeftOut

KINDS = ("cross_entropy",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    if not fact.name.startswith("kl_div"):
        raise LeftOut("another loss, of another family")
    problem = KlDiv(fact.size("tokens"), fact.size("vocab"))
    notes = (fact.note, *fact.type_notes)
    return [Entry(problem, fact.core, "distillation", fact.source, notes, fact.operations)]


def _own(tokens: int, vocabulary: int) -> Entry:
    return Entry(KlDiv(tokens, vocabulary), True, "distillation", "this project", (OWN,))


OURS = (_own(512, 32000), _own(4096, 4096))
"""The published problem needs more memory than a small machine has."""
