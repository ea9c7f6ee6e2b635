"""GELU of single vectors and of an image network."""

from deepbench_ops.problems.gelu import Gelu
from modern_table_sources import Entry, Fact

KINDS = ("gelu",)

CONVNEXT = (32 * 14 * 14, 2048)
"""Rows and columns of the line that names only a number of elements."""


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    elements = fact.size("elements", 0)
    rows, columns = CONVNEXT if elements else (fact.size("rows"), fact.size("cols"))
    assert elements in (0, rows * columns)
    application = "ConvNeXt-B in training" if elements else "activation of a layer"
    notes = (fact.note, *fact.type_notes)
    problem = Gelu(rows, columns)
    return [Entry(problem, fact.core, application, fact.source, notes, fact.operations)]


OURS = ()
