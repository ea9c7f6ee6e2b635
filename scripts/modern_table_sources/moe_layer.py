"""Whole layers with a mixture of experts."""

from deepbench_ops.problems.moe_layer import MoeLayer
from modern_table_sources import OWN, Entry, Fact

KINDS = ("moe_layer",)

MODELS = {
    "qwen3_30b": "Qwen3 30B A3B",
    "qwen3.6_35b": "Qwen3.6 35B A3B",
    "nemotron_30b": "Nemotron 30B A3B",
    "deepseek_v3": "DeepSeek-V3, a rank of eight",
}
ONE_RANK = "one rank of eight: of the 8 experts of a token, of 256, one of the 32 here on average"


def entries(fact: Fact) -> list[Entry]:
    """Return the layer of a line; for a line about one rank, the part that the rank computes."""
    experts, top_k, notes = fact.size("experts"), fact.size("topk"), [fact.note, *fact.type_notes]
    if "local_experts" in fact.dims:
        here = fact.size("local_experts")
        experts, top_k = here, top_k * here // experts
        notes.append(ONE_RANK)
    activation = fact.dims.get("act", "swiglu")
    sizes = fact.size("tokens"), experts, fact.size("hidden"), fact.size("intermediate")
    name = next(text for start, text in MODELS.items() if fact.name.startswith(start))
    problem = MoeLayer(*sizes, top_k, activation)
    return [Entry(problem, fact.core, name, fact.source, tuple(notes), fact.operations)]


def _own(tokens: int, experts: int, top_k: int, activation: str, why: str) -> Entry:
    sizes = (2048, 768) if activation == "swiglu" else (2688, 1856)
    problem = MoeLayer(tokens, experts, *sizes, top_k, activation)
    timed = ("forward",) if tokens == 1 else MoeLayer.operations
    return Entry(problem, True, why, "config.json of the model, with fewer experts", (OWN,), timed)


OURS = (
    _own(128, 32, 8, "swiglu", "Qwen3 30B A3B, a quarter of its experts, a prompt"),
    _own(1, 32, 8, "swiglu", "Qwen3 30B A3B, a quarter of its experts, one token"),
    _own(64, 16, 6, "relu2", "Nemotron 30B A3B, an eighth of its experts, some tokens"),
)
"""Published layers have a gigabyte of weights or more."""
