"""Attention of a decoding step, from benchmarks of attention kernels."""

from deepbench_ops.problems.attention_decode import AttentionDecode
from modern_table_sources import OWN, Entry, Fact, LeftOut

KINDS = ("attention_decode",)

APPLICATIONS = {
    "llama3.1_70b": "Llama 3.1 70B",
    "llama4_tp8": "Llama 4, a rank of eight",
    "gqa80_": "a language model of 80 query heads",
    "gla128_": "FlashAttention's benchmark of latent attention",
    "mla128_": "FlashAttention's benchmark of latent attention",
    "flashmla_": "DeepSeek-V3",
}
"""Application by the beginning of a line's name."""

EVERY_IMPLEMENTATION = (
    "attention_decode_b16_h64_kv8_q1_s1024_d128_v128",
    "attention_decode_b16_h5_kv1_q1_s8190_d128_v128",
)
"""Problems that are timed with each implementation that a framework can be set to use."""


def entries(fact: Fact) -> list[Entry]:
    """Return the problem of a line. In a line with shorter values, these are a part of the keys."""
    if "topk" in fact.dims:
        raise LeftOut("attention to chosen keys alone: no framework here has it")
    sizes = [fact.size(name) for name in ("b", "hq", "hkv", "sq", "skv", "d", "dv")]
    problem = AttentionDecode(*sizes, latent=fact.size("dv") < fact.size("d"))
    words = next(words for start, words in APPLICATIONS.items() if fact.name.startswith(start))
    timed = () if problem.id in EVERY_IMPLEMENTATION else ("forward",)
    return [Entry(problem, fact.core, words, fact.source, (fact.note, *fact.type_notes), timed)]


OURS = (
    Entry(
        AttentionDecode(2, 128, 1, 1, 2048, 576, 512, latent=True),
        True,
        "DeepSeek-V3",
        "deepseek-ai/FlashMLA tests/test_flash_mla_dense_decoding.py",
        (f"{OWN}: heads as published, batch and cache smaller",),
        ("forward",),
    ),
)
"""Latent attention; all published sizes are too large for two processor cores."""
