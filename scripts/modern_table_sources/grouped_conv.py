"""Convolutions of modern image networks: depthwise, and of patches."""

from deepbench_ops.problems.grouped_conv import GroupedConv
from modern_table_sources import OWN, Entry, Fact

KINDS = ("conv_depthwise", "conv_patchify")

SIZES = ("groups", "w", "h", "c", "n", "k", "r", "s", "pad", "stride")


def entries(fact: Fact) -> list[Entry]:
    """Return the convolution of a line. The first layer has no gradient of the images."""
    problem = GroupedConv(*(fact.size(name) for name in SIZES))
    timed = ("forward", "backward_weights") if problem.c <= 3 else GroupedConv.operations
    name = "ConvNeXt-B: patches" if fact.kind == "conv_patchify" else "ConvNeXt-B: depthwise"
    return [Entry(problem, fact.core, name, fact.source, (fact.note, *fact.type_notes), timed)]


OURS = (
    Entry(
        GroupedConv(1, 224, 224, 3, 1, 768, 16, 16, 0, 16),
        True,
        "ViT-B/16: patches, one image",
        "Dosovitskiy et al., 2021 (arXiv 2010.11929), table 1",
        (OWN,),
        ("forward", "backward_weights"),
    ),
)
"""The patches of a vision transformer, which no published line has."""
