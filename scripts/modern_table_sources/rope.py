"""Rotary position embedding of prompts and of decoding."""

from deepbench_ops.problems.rope import Rope
from modern_table_sources import Entry, Fact

KINDS = ("rope",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    if "q" in fact.dims:
        length, start = fact.size("q"), fact.size("cache")
        application = "decoding after 10240 tokens"
    else:
        length, start, application = fact.size("s"), 0, "prompt"
    problem = Rope(fact.size("b"), length, fact.size("hq"), fact.size("hkv"), fact.size("d"), start)
    notes = (fact.note, *fact.type_notes)
    timed = tuple(name.partition(" ")[0] for name in fact.operations)
    return [Entry(problem, fact.core, application, fact.source, notes, timed)]


OURS = ()
