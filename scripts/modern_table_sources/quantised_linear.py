"""Linear layers with quantised operands: 8-bit, 4-bit and block-scaled products."""

from deepbench_ops.problems.quantised_linear import QuantisedLinear
from modern_table_sources import OWN, Entry, Fact, LeftOut
from modern_table_sources.linear_layer import application as layer

KINDS = ("gemm_int8", "gemm_int4_weight_only", "gemm_fp8_rowwise", "gemm_mxfp4", "gemm_llm")

GROUP = 32
"""The group size that tritonbench's int4_gemm sets; the list names none for it."""

TIMED = {"gemm_int8": ("forward", "fused_forward")}
"""Timed operations of kinds whose formats processors can multiply.

For other kinds only the product is timed. All operations are timed for the sizes of this project.
"""

APPLICATIONS = {
    "gemm_int8": "quantised product of language models",
    "gemm_fp8_rowwise": "tritonbench's fp8 product",
}
MODELS = {"llama3_8b": "Llama 3 8B", "deepseek_r1": "DeepSeek-R1", "gptj": "GPT-J"}


def entries(fact: Fact) -> list[Entry]:
    """Return the layer of a line; for DeepSeek-V3 and Llama, only that of lines in fp8."""
    if fact.kind == "gemm_llm" and not any("fp8" in each for each in fact.dtypes):
        return []
    if fact.operations != ("forward",):
        raise LeftOut("gradients of quantised layers are not measured")
    problem = QuantisedLinear(*(fact.size(name) for name in "mnk"), group=GROUP)
    notes = (fact.note, f"published in {', '.join(fact.dtypes)}", *_added(fact))
    timed = TIMED.get(fact.kind, ("forward",))
    return [Entry(problem, fact.core, _application(fact), fact.source, notes, timed)]


def _added(fact: Fact) -> tuple[str, ...]:
    return () if "fp32" in fact.dtypes else ("float32 activations added by this project",)


def _application(fact: Fact) -> str:
    if fact.kind in APPLICATIONS:
        return APPLICATIONS[fact.kind]
    if fact.kind == "gemm_mxfp4":
        return next(text for start, text in MODELS.items() if fact.name.startswith(start))
    return layer(fact.name)


def _own(m: int, n: int, k: int, group: int, why: str) -> Entry:
    source = "sizes of Llama 3.2 1B and Llama 3 8B, config.json of meta-llama"
    problem = QuantisedLinear(m, n, k, group)
    return Entry(problem, True, why, source, (OWN,), QuantisedLinear.operations)


OURS = (
    _own(1, 2048, 2048, 32, "one token, every format and route"),
    _own(64, 2048, 2048, 32, "some tokens, every format and route"),
    _own(1, 4096, 4096, 128, "one token, groups of 128 as in GPTQ and AWQ checkpoints"),
)
"""Published fp8 and mxfp4 sizes are for GPUs."""
