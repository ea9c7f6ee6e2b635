"""Batches of modern networks, as rows of deepbench_ops/problems/model.csv."""

from deepbench_ops.models.network_catalogue import NETWORKS
from deepbench_ops.problems.model import Model

TODAY = {
    "llama_1b_prefill_128": ((1,), (4,), ("forward",)),
    "llama_1b_decode_512": ((1,), (8,), ("forward",)),
    "llama_1b_4layers_128": ((1,), (4,), ("training_step",)),
    "qwen3_30b_a3b_layer_128": ((1,), (4,), ("forward",)),
    "vit_b16": ((1, 8), (32,), ("forward", "training_step")),
}
"""Today's networks: batches in the set modern, batches in modern_full, timed operations."""

_LLAMA, _LLAMA_SIZES = "Llama 3.2 1B", "meta-llama/Llama-3.2-1B config.json"
APPLICATIONS = {
    "llama_1b_prefill_128": _LLAMA,
    "llama_1b_decode_512": _LLAMA,
    "llama_1b_4layers_128": f"{_LLAMA}, 4 of its 16 layers",
    "qwen3_30b_a3b_layer_128": "Qwen3 30B A3B, one layer",
    "vit_b16": "ViT-B/16",
}
SIZES = {
    "llama_1b_prefill_128": _LLAMA_SIZES,
    "llama_1b_decode_512": _LLAMA_SIZES,
    "llama_1b_4layers_128": _LLAMA_SIZES,
    "qwen3_30b_a3b_layer_128": "Qwen/Qwen3-30B-A3B config.json",
    "vit_b16": "arXiv:2010.11929, table 1",
}


def rows() -> list[dict[str, object]]:
    """Return a row for each network and batch, on one thread."""
    return [
        {
            "id": Model(name=name, batch=batch).id,
            "name": name,
            "batch": batch,
            "threads": 1,
            "modern": int(batch in modern),
            "modern_full": int(batch not in modern),
            "application": APPLICATIONS[name],
            "source": f"{SIZES[name]}; batches are our own",
            "note": NETWORKS[name].note,
            "timed": "; ".join(timed),
        }
        for name, (modern, full, timed) in TODAY.items()
        for batch in sorted(modern + full, reverse=True)
    ]
