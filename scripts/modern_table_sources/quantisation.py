"""Quantisation of activations."""

from deepbench_ops.problems.quantisation import Quantisation
from modern_table_sources import OWN, Entry, Fact

KINDS = ("quantize",)

NORM = "rmsnorm"
ROW_SCALES = "the source is given one scale; here each row makes its own"


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line, with the norm if the line has one."""
    columns = fact.size("cols", fact.size("hidden", 0))
    normalised = fact.name.startswith(NORM)
    operation = "norm_forward" if normalised else "forward"
    notes = [fact.note, f"published in {', '.join(fact.dtypes)}", ROW_SCALES if normalised else ""]
    problem = Quantisation(fact.size("rows"), columns)
    return [Entry(problem, fact.core, "flashinfer's test", fact.source, tuple(notes), (operation,))]


def _own(m: int, n: int, why: str) -> Entry:
    problem = Quantisation(m, n)
    source = "hidden sizes of Llama 3 8B and Llama 3.2 1B, config.json of meta-llama"
    return Entry(problem, True, why, source, (OWN,), Quantisation.operations)


OURS = (
    _own(16, 4096, "activations of some tokens"),
    _own(512, 2048, "activations of a prompt"),
)
