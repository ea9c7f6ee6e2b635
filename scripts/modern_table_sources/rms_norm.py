"""RMSNorm of language models, with and without a residual."""

from deepbench_ops.problems.rms_norm import RmsNorm
from modern_table_sources import Entry, Fact

KINDS = ("rms_norm",)

APPLICATIONS = {
    "rmsnorm_32x4096": "decoding, 32 sequences",
    "fused_add_rmsnorm_32x4096": "decoding, 32 sequences",
    "rmsnorm_64x8192": "decoding, 64 sequences",
    "fused_add_rmsnorm_64x8192": "decoding, 64 sequences",
    "qk_norm_32x32x128": "queries of 32 heads, 32 sequences",
    "fused_add_rmsnorm_8x3584": "Qwen2.5 7B",
    "fused_add_rmsnorm_8192x3584": "Qwen2.5 7B",
}


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line."""
    kind = "add_rms_norm" if fact.size("residual", 0) else "rms_norm"
    problem = RmsNorm(kind, fact.size("rows"), fact.size("hidden"))
    application = APPLICATIONS.get(fact.name, "language models in training")
    notes = (fact.note, *fact.type_notes)
    return [Entry(problem, fact.core, application, fact.source, notes, fact.operations)]


OURS = ()
