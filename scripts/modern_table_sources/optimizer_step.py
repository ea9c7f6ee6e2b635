"""Steps of SGD, AdamW and Muon."""

from deepbench_ops.problems.optimizer_step import OptimizerStep
from modern_table_sources import Entry, Fact

KINDS = ("optimizer_step",)


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    algorithm = fact.name.partition("_")[0]
    vector = "elements" in fact.dims
    height, width = (1, fact.size("elements")) if vector else (fact.size("rows"), fact.size("cols"))
    problem = OptimizerStep(algorithm, fact.size("tensors"), height, width)
    notes = (fact.note, *fact.type_notes)
    return [Entry(problem, fact.core, "training", fact.source, notes)]


OURS = ()
