"""Networks in int8, by each framework's own tool.

torch: quantised where it is exported, for compiling (PT2E of torchao, its quantiser for x86);
convolutions and linear layers take int8, and what lies between them that can. ONNX Runtime: its own
quantisation, static for pictures and dynamic for all else, as its documentation recommends. Static
quantisation is calibrated on inputs of the same kind, which are not those that are timed. Both
tools recommend 7 bits instead of 8, of activations here and of weights there, for processors that
would otherwise cut sums off (`vnni`), and are set so there.
"""

import logging
import platform
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deepbench_ops.backends.torch_backend import vnni
from deepbench_ops.backends.torch_backend.optional_packages import NEEDED, needed
from deepbench_ops.errors import Unsupported

Batches = Sequence[Sequence[Tensor]]

CALIBRATING = 16
"""Items that are enough to show how large numbers become on the way in most networks."""

MOST_CALIBRATING, CHEAP_FLOPS = 512, 1e9
"""Items and floating-point operations of calibrating a network of few FLOPs. Some of these have a
hundred numbers or fewer on the way, whose range 16 items do not show."""

LARGEST_SINGLE_FILE = 2**31
"""Bytes of weights from which a file of ONNX cannot hold them itself."""

PICTURES = 4
"""Dimensions of an input that is a batch of pictures."""


def for_compiling(module: nn.Module, batches: Batches) -> nn.Module:
    """Return a network, calibrated on batches, that torch.compile turns into int8 kernels.

    Raises Unsupported where there are none: without torchao, on a GPU, or on other processors.
    """
    if batches[0][0].device.type != "cpu" or platform.machine() not in ("x86_64", "AMD64"):
        raise Unsupported("compiled networks have int8 kernels on x86 processors alone")
    logging.getLogger("torchao").setLevel(logging.CRITICAL)  # of kernels for other processors
    needed(*NEEDED["compiled"])
    try:
        from torchao.quantization.pt2e import quantize_pt2e
        from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86
    except ImportError as missing:
        raise Unsupported(f"this torchao cannot quantise for x86: {missing}") from None

    quantiser = x86.X86InductorQuantizer()
    quantiser.set_global(
        x86.get_default_x86_inductor_quantization_config(reduce_range=not vnni.adds_in_32_bits())
    )
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tool to itself
        exported = torch.export.export(module, tuple(batches[0])).module()
        observed = quantize_pt2e.prepare_pt2e(exported, quantiser)
        for batch in batches:
            observed(*batch)
        return quantize_pt2e.convert_pt2e(observed)  # type: ignore[no-any-return]


def packed() -> Any:
    """Return the context in which weights are packed once, which int8 kernels ask for."""
    from torch._inductor import config

    return config.patch(freezing=True)


def of_file(network: Path, batches: Batches) -> Path:
    """Return the file of the quantised network, calibrated on batches, in the folder of the ONNX
    file.

    Raises Unsupported for one that the tool cannot take in one piece.
    """
    import onnx
    from onnxruntime.quantization import quantize_dynamic, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    whole, ready, result = (network.with_stem(stem) for stem in ("whole", "ready", "int8"))
    model = onnx.load(network)
    if sum(len(weights.raw_data) for weights in model.graph.initializer) >= LARGEST_SINGLE_FILE:
        raise Unsupported("ONNX Runtime's quantisation takes networks of up to 2 GB")
    del model.graph.value_info[:]  # torch leaves shapes of before its own simplifications
    onnx.save(model, whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quant_pre_process(whole, ready, skip_symbolic_shape=True)
        weights = {"per_channel": True, "reduce_range": not vnni.adds_in_32_bits()}
        if kind(batches[0]) == "static":
            names = [each.name for each in model.graph.input]
            feeds = [
                dict(zip(names, (each.numpy() for each in batch), strict=True)) for batch in batches
            ]
            quantize_static(ready, result, CalibrationFeeds(feeds), **weights)
        else:
            quantize_dynamic(ready, result, **weights)
    return result


def kind(inputs: Sequence[Tensor]) -> str:
    """Return how ONNX Runtime's documentation recommends to quantise a network of such inputs."""
    return "static" if any(each.dim() == PICTURES for each in inputs) else "dynamic"


def bits() -> str:
    """Return the number of bits that either tool quantises to, in words."""
    return "8 bits" if vnni.adds_in_32_bits() else "7 of 8 bits, for want of VNNI"


class CalibrationFeeds:
    """Reader of calibration data for ONNX Runtime: one batch after the other, and then None."""

    def __init__(self, feeds: Sequence[dict[str, Any]]) -> None:
        self._left = iter(feeds)

    def get_next(self) -> dict[str, Any] | None:
        """Return the next batch, None after the last."""
        return next(self._left, None)
