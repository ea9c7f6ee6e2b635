"""Linear attention of decoding and of prompts."""

from deepbench_ops.problems.linear_attention import LinearAttention
from modern_table_sources import OWN, Entry, Fact

KINDS = ("linear_attention",)

OPEN_BATCH = 64
"""Batch where the list leaves it open: that of the published step of Mamba-2."""


def entries(fact: Fact) -> list[Entry]:
    """Return the decoding step of a line: of Mamba-2, whose state has `dim` x `dstate` numbers, or
    of the gated delta rule."""
    if "dstate" in fact.dims:
        sizes = ("ngroups", "nheads", "dstate", "dim")
        rule, batch, text = "gated", fact.size("b"), "Mamba-2"
    else:
        sizes = ("qk_heads", "v_heads", "d", "d")
        rule, batch, text = "gated_delta", OPEN_BATCH, "Qwen3-Next"
    problem = LinearAttention(rule, batch, 1, *(fact.size(name) for name in sizes))
    opened = (f"batch of {OPEN_BATCH} by this project",) if rule == "gated_delta" else ()
    notes = (fact.note, f"published in {', '.join(fact.dtypes)}", *opened)
    return [Entry(problem, fact.core, f"{text}: a step of decoding", fact.source, notes)]


def _own(rule: str, batch: int, length: int, sizes: tuple[int, ...], why: str) -> Entry:
    source = "flashinfer-ai/flashinfer-bench and flashinfer, as the sizes of modern_full"
    problem = LinearAttention(rule, batch, length, *sizes)
    return Entry(problem, True, why, source, (f"{OWN}: heads as published",))


_QWEN, _MAMBA = (16, 32, 128, 128), (8, 64, 128, 128)

OURS = (
    _own("gated_delta", 1, 1, _QWEN, "Qwen3-Next: a step of decoding"),
    _own("gated_delta", 1, 128, _QWEN, "Qwen3-Next: a prompt"),
    _own("gated", 4, 1, _MAMBA, "Mamba-2: a step of decoding"),
)
"""The published batches of 64 are for GPUs, and these for processors."""
