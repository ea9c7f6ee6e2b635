"""Linear layers of language models and of diffusion models."""

from deepbench_ops.problems.linear_layer import LinearLayer
from modern_table_sources import OWN, Entry, Fact, LeftOut

KINDS = ("gemm_llm",)

MODELS = {
    "llama3_8b": "Llama 3 8B",
    "llama3_70b": "Llama 3 70B",
    "llama2_70b_tp8": "Llama 2 70B, a rank of eight",
    "qwen2.5_7b": "Qwen2.5 7B",
    "deepseek_v3": "DeepSeek-V3",
    "xpu": "Triton's benchmark for Intel GPUs",
    "stable_diffusion": "Stable Diffusion",
}
"""Application by the beginning of a line's name."""

PARTS = {
    "qkv": "queries, keys and values",
    "o": "output of attention",
    "gate_up": "gate and up",
    "down": "down",
    "lm_head": "vocabulary",
    "gate": "router of experts",
}

UNTURNED = "published with the weight stored as inputs x outputs"
WIDER = "published with a float32 result of bfloat16 operands"


def entries(fact: Fact) -> list[Entry]:
    """Return the layer of a line; for the product of a gradient, the layer with that gradient."""
    if fact.size("b", 1) > 1:
        raise LeftOut("a batch of products is a grouped product, not a linear layer")
    operation, _, bias = fact.operations[0].partition("+")
    m, n, k = (fact.size(name) for name in "mnk")
    sizes = {
        "forward": (m, n, k),
        "backward_input": (m, k, n),
        "backward_weight": (k, m, n),
    }[operation]
    notes = [fact.note, *fact.type_notes]
    if fact.dims["layout"] == "NN" and operation == "forward":
        notes.append(UNTURNED)
    if "bf16->fp32" in fact.dtypes:
        notes.append(WIDER)
    problem = LinearLayer(*sizes, bias=bool(bias))
    return [
        Entry(problem, fact.core, application(fact.name), fact.source, tuple(notes), (operation,))
    ]


def application(name: str) -> str:
    """Return the model, and the layer if the name of the line tells it."""
    start = max((each for each in MODELS if name.startswith(each)), key=len)
    words = name.removeprefix(start).strip("_")
    part = max((each for each in PARTS if words.startswith(f"{each}_")), key=len, default="")
    return f"{MODELS[start]}: {PARTS[part]}" if part else MODELS[start]


def _own(n: int, k: int, part: str) -> Entry:
    """Return a layer of Llama 3.2 1B in a training step of 512 tokens."""
    source = "meta-llama/Llama-3.2-1B config.json"
    return Entry(LinearLayer(512, n, k), True, f"Llama 3.2 1B: {part}", source, (OWN,))


OURS = (_own(2048, 2048, "output of attention"), _own(8192, 2048, "gate"), _own(2048, 8192, "down"))
"""Layers in training; all published ones are too large for two processor cores."""
