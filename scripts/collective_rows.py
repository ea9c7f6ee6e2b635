"""Published sizes of collective operations, for the modules of `modern_table_sources`."""

from modern_table_sources import OWN, Entry, Fact, LeftOut

from deepbench_ops.problems.collective import Collective

KINDS = ("collective",)

OWN_SIZES = {
    16 * 2048: "16 tokens of a decoding step",
    2048 * 2048: "2048 tokens of a prompt",
}
"""Elements of the whole vector: 2048 for each token of Llama 3.2 1B."""


def entries_of(kind: type[Collective], fact: Fact, application: str) -> list[Entry]:
    """Return the problem of a line. The whole vector has tokens * hidden size elements.

    As in nccl-tests, the published program gives the size of the whole vector for each operation.
    """
    if "topk" in fact.dims:
        raise LeftOut(
            "each token goes to the ranks of its own experts, so the parts differ in size: those of"
            " collective operations here are equal"
        )
    if kind.family not in fact.operations:
        return []
    problem = kind(fact.size("tokens") * fact.size("hidden"))
    ranks = f"published for {fact.size('ranks')} ranks"
    notes = (ranks, fact.note, *fact.type_notes)
    return [Entry(problem, fact.core, application, fact.source, notes)]


def own(kind: type[Collective], application: str) -> tuple[Entry, ...]:
    """Return sizes of this project, which lie between the published ones."""
    source = "meta-llama/Llama-3.2-1B config.json"
    return tuple(
        Entry(kind(elements), True, f"{application}: {tokens}", source, (OWN,))
        for elements, tokens in OWN_SIZES.items()
    )
