"""Grouped products: experts of mixture-of-experts layers, and batches of equal products."""

import re

from deepbench_ops.problems.grouped_gemm import GroupedGemm
from modern_table_sources import OWN, Entry, Fact, LeftOut
from modern_table_sources.linear_layer import UNTURNED, WIDER

KINDS = ("grouped_gemm_moe", "gemm_llm")

SPLITS = {
    "decode": "single",
    "balanced": "balanced",
    "contiguous": "balanced",
    "masked": "balanced",
}

MODELS = {
    "llama4_scout": "Llama 4 Scout",
    "qwen2_57b_a14b": "Qwen2 57B A14B",
    "qwen3_30b_a3b": "Qwen3 30B A3B",
    "gpt_oss_20b": "gpt-oss 20B",
    "deepseek_v3": "DeepSeek-V3",
    "deepgemm": "DeepGEMM's test",
    "torch_scaled": "torch's benchmark of operators",
    "xpu": "Triton's benchmark for Intel GPUs",
}
PARTS = {"gate_up": "gate and up", "down": "down"}

BATCH = "published as a batch of equal products, one group for each"
DRAWN = "the source draws loads around this number of rows"


def entries(fact: Fact) -> list[Entry]:
    """Return the product of a line; for one grouped along k, the gradient of the weights. A line
    about a single product has none, one about a batch of products a group for each."""
    if fact.kind == "gemm_llm":
        return _batch(fact) if fact.size("b", 1) > 1 else []
    groups = _first_number(fact, "groups")
    notes = [fact.note, *fact.type_notes]
    if fact.operations == ("backward_weight",):
        if "k_per_group" in fact.dims:
            rows = groups * _first_number(fact, "k_per_group")
            notes.append(DRAWN)
        else:
            rows = fact.size("k")
        outputs = _first_number(fact, "m")
        inputs = fact.size("n")
        problem = GroupedGemm(groups, rows, outputs, inputs)
        return [_entry(fact, problem, notes, "backward_weight")]
    if "rows_per_group" in fact.dims:
        rows = groups * _first_number(fact, "rows_per_group")
        notes.append(DRAWN)
    else:
        rows = fact.size("rows")
    split = SPLITS[fact.dims["split"]]
    problem = GroupedGemm(groups, rows, fact.size("n"), fact.size("k"), split)
    return [_entry(fact, problem, notes, "forward")]


def _batch(fact: Fact) -> list[Entry]:
    batch, (m, n, k) = fact.size("b"), (fact.size(name) for name in "mnk")
    notes = [fact.note, BATCH, *fact.type_notes, UNTURNED, WIDER]
    return [_entry(fact, GroupedGemm(batch, batch * m, n, k), notes, "forward")]


def _entry(fact: Fact, problem: GroupedGemm, notes: list[str], operation: str) -> Entry:
    start = next(each for each in MODELS if fact.name.startswith(each))
    part = next((text for each, text in PARTS.items() if f"_{each}_" in fact.name), "")
    application = f"{MODELS[start]}: {part}" if part else MODELS[start]
    return Entry(problem, fact.core, application, fact.source, tuple(notes), (operation,))


def _first_number(fact: Fact, name: str) -> int:
    """Return a size that may be followed by a word, such as 8192(expected)."""
    found = re.match(r"\d+", fact.dims.get(name, ""))
    if found is None:
        raise LeftOut(f"{name} is {fact.dims.get(name, 'missing')}")
    return int(found[0])


def _own(groups: int, rows: int, n: int, k: int, why: str) -> Entry:
    problem = GroupedGemm(groups, rows, n, k, "skewed")
    source = "Qwen/Qwen3-30B-A3B config.json, with fewer experts"
    return Entry(problem, True, why, source, (OWN,), GroupedGemm.operations)


OURS = (
    _own(32, 128, 768, 2048, "Qwen3 30B A3B: gate, uneven loads and experts without rows"),
    _own(32, 128, 2048, 768, "Qwen3 30B A3B: down, uneven loads and experts without rows"),
)
"""Uneven loads, also in training; published loads are even, and their gradients too large."""
