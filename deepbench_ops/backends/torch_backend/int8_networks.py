"""Networks in int8, quantised by the tool of each framework.

torch: torchao quantises the exported network for compilation (PT2E, its quantiser for x86).
Convolutions and linear layers then take int8, and so do operations between them that can. ONNX
Runtime: its own quantisation, static for convolutional networks and dynamic for others, as its
documentation recommends. Static quantisation is calibrated on inputs of the same kind as the timed
ones, but not on these. On processors that would cut off large sums (`vnni`), both tools recommend 7
bits instead of 8, torchao for activations and ONNX Runtime for weights, and the networks have 7
bits there.
"""

import logging
import platform
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deepbench_ops.backends import vnni
from deepbench_ops.backends.torch_backend.optional_packages import NEEDED, require
from deepbench_ops.errors import Unsupported

Batches = Sequence[Sequence[Tensor]]
"""Batches of a network's inputs."""

CALIBRATING = 16
"""Number of items that shows the range of intermediate numbers in most networks."""

MOST_CALIBRATING, CHEAP_FLOPS = 512, 1e9
"""Largest number of items, and of floating-point operations, to calibrate a network of few FLOPs.
Some of these have a hundred intermediate numbers or fewer, whose range 16 items do not show."""

LARGEST_SINGLE_FILE = 2**31
"""Size of weights in bytes from which on an ONNX file cannot contain them."""

PRODUCTS = ("MatMul", "Gemm")
"""Operators of ONNX that multiply matrices."""


def for_compiling(module: nn.Module, batches: Batches) -> nn.Module:
    """Return the network, calibrated on batches, for which torch.compile makes int8 kernels.

    Raises Unsupported without torchao, on a GPU, and on processors other than x86.
    """
    if batches[0][0].device.type != "cpu" or platform.machine() not in ("x86_64", "AMD64"):
        raise Unsupported("compiled networks have int8 kernels on x86 processors only")
    logging.getLogger("torchao").setLevel(logging.CRITICAL)  # about kernels for other processors
    require(*NEEDED["compiled"])
    try:
        from torchao.quantization.pt2e import quantize_pt2e
        from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86
    except ImportError as missing:
        raise Unsupported(f"this release of torchao cannot quantise for x86: {missing}") from None

    quantiser = x86.X86InductorQuantizer()
    quantiser.set_global(
        x86.get_default_x86_inductor_quantization_config(reduce_range=not vnni.adds_in_32_bits())
    )
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about torchao's own code
        exported = torch.export.export(module, tuple(batches[0])).module()
        observed = quantize_pt2e.prepare_pt2e(exported, quantiser)
        for batch in batches:
            observed(*batch)
        return quantize_pt2e.convert_pt2e(observed)  # type: ignore[no-any-return]


def packed() -> Any:
    """Return the context in which torch.compile packs weights once, as int8 kernels require."""
    from torch._inductor import config

    return config.patch(freezing=True)


def of_file(network: Path, batches: Batches) -> tuple[Path, str]:
    """Quantise an ONNX file, calibrated on batches.

    Return the new file, in the same folder, and the kind of quantisation (see `kind`).

    Raises Unsupported for networks of 2 GB or more, which ONNX Runtime's tool cannot take.
    """
    import onnx
    from onnxruntime.quantization import quantize_dynamic, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    whole, ready, result = (network.with_stem(stem) for stem in ("whole", "ready", "int8"))
    model = onnx.load(network)
    if sum(len(weights.raw_data) for weights in model.graph.initializer) >= LARGEST_SINGLE_FILE:
        raise Unsupported("ONNX Runtime's quantisation takes networks of up to 2 GB")
    del model.graph.value_info[:]  # torch leaves shapes from before its simplifications
    onnx.save(model, whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quant_pre_process(whole, ready, skip_symbolic_shape=True)
        weights = {"per_channel": True, "reduce_range": not vnni.adds_in_32_bits()}
        chosen = kind(Counter(node.op_type for node in model.graph.node))
        if chosen == "static":
            names = [each.name for each in model.graph.input]
            feeds = [
                dict(zip(names, (each.numpy() for each in batch), strict=True)) for batch in batches
            ]
            quantize_static(ready, result, CalibrationFeeds(feeds), **weights)
        else:
            quantize_dynamic(ready, result, **weights)
    return result, chosen


def kind(operators: Mapping[str, int]) -> str:
    """Return the kind of quantisation, "static" or "dynamic", that ONNX Runtime's documentation
    recommends for a network of so many operators of each name: static for convolutional networks,
    which have more convolutions than products of matrices."""
    products = sum(operators.get(name, 0) for name in PRODUCTS)
    return "static" if operators.get("Conv", 0) > products else "dynamic"


def bits() -> str:
    """Return the number of bits that both tools use on this processor, in words."""
    return "8 bits" if vnni.adds_in_32_bits() else "7 of 8 bits, for want of VNNI"


class CalibrationFeeds:
    """Reader of calibration data for ONNX Runtime, which returns batches and then None."""

    def __init__(self, feeds: Sequence[dict[str, Any]]) -> None:
        self._left = iter(feeds)

    def get_next(self) -> dict[str, Any] | None:
        """Return the next batch, None after the last."""
        return next(self._left, None)
