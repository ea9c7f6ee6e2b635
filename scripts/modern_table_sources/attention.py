"""Attention of many queries at once, from benchmarks of attention kernels."""

from deepbench_ops.problems.attention import Attention
from modern_table_sources import OWN, Entry, Fact, LeftOut

KINDS = ("attention_prefill",)

APPLICATIONS = {
    "fa_": "FlashAttention's benchmark",
    "sdpa_": "PyTorch's benchmark of attention",
    "gqa80_": "a language model of 80 query heads",
    "gqa64_8_": "a language model of 64 query heads",
    "gqa8_1_": "a language model of 64 query heads, a rank of eight",
    "llama3.1_70b": "Llama 3.1 70B",
    "deepseek_r1": "DeepSeek-R1",
    "stable_diffusion": "Stable Diffusion",
    "bert_large": "BERT large",
    "phi3_mini": "Phi-3 mini",
    "xpu_": "Triton's benchmark for Intel GPUs",
}
"""Application by the beginning of a line's name."""

EVERY_IMPLEMENTATION = ("llama3.1_70b_b1_s1024", "bert_large_b20_s384")
"""Lines whose problems are timed with each implementation that a framework can be set to use."""


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line; a cache before the queries counts as keys."""
    if "topk" in fact.dims:
        raise LeftOut("attention to chosen keys alone: no framework here has it")
    queries = fact.size("sq")
    keys = fact.size("skv", queries + fact.size("cache", 0))
    heads = (fact.size("hq"), fact.size("hkv"))
    sizes = (fact.size("d"), fact.size("dv"))
    problem = Attention(fact.size("b"), *heads, queries, keys, *sizes, fact.dims["causal"] == "1")
    timed = () if fact.name in EVERY_IMPLEMENTATION else fact.operations
    notes = (fact.note, *fact.type_notes)
    return [Entry(problem, fact.core, application(fact.name), fact.source, notes, timed)]


def application(name: str) -> str:
    """Return the model or the benchmark that a line comes from."""
    return next(words for start, words in APPLICATIONS.items() if name.startswith(start))


OURS = (
    Entry(
        Attention(1, 16, 16, 512, 512, 192, 128, causal=True),
        True,
        "DeepSeek-R1",
        "flashinfer-ai/flashinfer benchmarks/samples/sample_testlist.txt",
        (f"{OWN}: heads of the published sizes, batch, heads and tokens fewer",),
        ("forward", "backward"),
    ),
)
"""Latent attention with values shorter than keys; the published size is too large for two cores."""
