"""Name of the oneDNN primitive that computes a convolution, from oneDNN's log.

torch does not report the primitive. A release that is faster than the one before has often only
chosen another primitive. oneDNN can print its primitives on C's standard output, which is diverted
for a single call.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from deepbench_ops.backends.onednn_log import diverted_stdout

Call = Callable[[], torch.Tensor]
Operation = Callable[..., Any]

# Role of a tensor with the order and blocks of its axes: "src:f32:a:blocked:aBcd16b::f0", or
# "src_f32::blocked:aBcd16b:f0" before oneDNN 3.
_TENSOR = re.compile(r"\b(src|wei|dst)[:_]\w+:\w*:blocked:(\w+):")


def path(
    images: torch.Tensor, filters: torch.Tensor, stride: Sequence[int], padding: Sequence[int]
) -> str:
    """Return the library that torch chooses for a convolution: "oneDNN", cuDNN with its version,
    "torch's ..." on a GPU and "not oneDNN: ..." on the CPU for other code, or "unknown"."""
    try:
        select = torch._C._select_conv_backend
        chosen = select(
            images, filters, None, list(stride), list(padding), [1, 1], False, [0, 0], 1
        )
        name = str(chosen).rpartition(".")[2]
    except (AttributeError, RuntimeError, TypeError):  # a private function, free to change
        return "unknown"
    if name == "Cudnn":
        return f"cuDNN {torch.backends.cudnn.version()}, its benchmark mode choosing the algorithm"
    if images.device.type != "cpu":
        return f"torch's {name}"
    return {"Mkldnn": "oneDNN"}.get(name, f"not oneDNN: torch's {name}")


def of_cpu(run: Call, known: str) -> str:
    """Return the oneDNN primitives that `run` uses, as `summary` describes them.

    known: result of `path`. For other libraries than oneDNN it is returned and `run` is not called,
    because they print no log and may be slow. This function raises no errors: it returns "unknown:"
    and the reason.
    """
    if known.startswith("not oneDNN"):
        return known
    try:
        with diverted_stdout() as text, torch.backends.mkldnn.verbose(1):
            run()
    except Exception as error:
        return f"unknown: {type(error).__name__}: {error}"[:160]
    return summary(text[0]) or "not oneDNN: it printed nothing"


def summary(log: str) -> str:
    """Return the convolutions in oneDNN's log, with the number of reorders around them.

    For example "oneDNN jit:avx512_core src aBcd16b wei ABcd16b16a dst aBcd16b, 3 reorders"; "" for
    a log without convolutions.
    """
    ran = [line.split(",") for line in log.splitlines() if _ran(line)]
    found = [fields for fields in ran if "convolution" in fields]
    names = [
        " ".join([fields[fields.index("convolution") + 1], *_orders(",".join(fields))])
        for fields in found
    ]
    if not names:
        return ""
    reorders = sum("reorder" in fields for fields in ran)
    return f"oneDNN {'; '.join(names)}, {reorders} reorders"


def _ran(line: str) -> bool:
    return re.match(r"(onednn|dnnl)_verbose,(v\d,)?(primitive,)?exec,", line) is not None


def _orders(line: str) -> list[str]:
    return [f"{role} {order}" for role, order in _TENSOR.findall(line)]
