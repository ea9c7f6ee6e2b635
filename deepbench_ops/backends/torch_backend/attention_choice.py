"""The implementations of torch's attention: enabled one by one, and the one that torch chooses."""

from typing import Any

import torch
from torch.nn import functional

from deepbench_ops.errors import Unsupported

SWITCHES = {
    "flash": "enable_flash_sdp",
    "memory-efficient": "enable_mem_efficient_sdp",
    "math": "enable_math_sdp",
    "cuDNN": "enable_cudnn_sdp",
}
"""Functions of torch.backends.cuda that enable an implementation, on the cpu too."""

NONE = -1
NUMBERED = {0: "math", 1: "flash", 2: "memory-efficient", 3: "cuDNN", 4: "a vendor's"}
"""Implementations by torch's numbers (`SDPBackend`); math is products and a softmax."""

NONE_WORDS = ("No viable backend", "No available kernel")
"""Words of torch's errors where no implementation that is enabled can take the operands."""

UNKNOWN = "unknown"

ALL = ""
"""Stands for letting torch choose."""


def enable(implementation: str = ALL) -> None:
    """Let torch choose one implementation alone, or any; Unsupported where it has no switch."""
    found = {name: getattr(torch.backends.cuda, each, None) for name, each in SWITCHES.items()}
    if implementation != ALL and found.get(implementation) is None:
        raise Unsupported(f"this torch has no switch for {implementation} attention")
    for name, switch in found.items():
        if switch is not None:
            switch(implementation in (ALL, name))


def of(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **more: Any) -> str:
    """Return the implementation that torch chooses for these arguments of its attention.

    It is asked by the function that attention itself asks; UNKNOWN where a release has none.
    Unsupported where no implementation that is enabled can take them.
    """
    try:
        number = _of_described(q, k, v, more) if _described(more) else _asked(q, k, v, more)
    except (AttributeError, TypeError):  # private functions, free to change
        return UNKNOWN
    if number == NONE:
        raise Unsupported("torch has no such implementation of attention for these operands")
    return NUMBERED.get(number, UNKNOWN)


def _asked(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, more: dict[str, Any]) -> int:
    try:
        return int(torch._fused_sdp_choice(q, k, v, **more))
    except RuntimeError as error:
        if any(words in str(error) for words in NONE_WORDS):
            return NONE
        raise


def _described(more: dict[str, Any]) -> bool:
    """Return whether the mask is torch's description of one, which it looks at in Python."""
    return "attn_mask" in more and type(more["attn_mask"]) is not torch.Tensor


def _of_described(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, more: dict[str, Any]) -> int:
    """Return the choice for a described mask: flash, memory-efficient, or that of a made mask."""
    cuda = torch.backends.cuda
    groups = more.get("enable_gqa", False)
    asked = cuda.SDPAParams(q, k, v, None, 0.0, False, groups)
    if cuda.can_use_flash_attention(asked):
        return 1
    if cuda.can_use_efficient_attention(asked):
        return 2
    made = more["attn_mask"]._materialize(q.device)
    return _asked(q, k, v, {**more, "attn_mask": made})


def has_groups() -> bool:
    """Return whether fewer heads of keys than of queries can be had (torch 2.5 and later)."""
    return "enable_gqa" in (functional.scaled_dot_product_attention.__doc__ or "")
