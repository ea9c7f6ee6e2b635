"""8-bit convolutions in torch: the sums of oneDNN's quantised convolution.

torch.conv2d takes int8 tensors but adds up in 8 bits, which is another operation.
`onednn::qconv2d_pointwise` adds up in 32-bit integers. With all scales 1 and float32 output it
returns these sums, exact up to a magnitude of 2^24, far more than sums of random operands reach. It
takes images as unsigned bytes only. Signed images are therefore shifted by 128, which is the zero
point that the operation subtracts.
"""

import numpy as np
import torch

from deepbench_ops.backends import vnni
from deepbench_ops.backends.families import conv
from deepbench_ops.backends.families.conv import ConvInputs
from deepbench_ops.backends.torch_backend import onednn_primitive
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.conv import Conv
from deepbench_ops.random_operands import aligned_empty

SHIFT = 128
"""Zero point of the images."""

DILATION = (1, 1)
GROUPS = 1


def prepared(
    backend: TorchDevice, problem: Conv, inputs: ConvInputs
) -> tuple[onednn_primitive.Call, dict[str, str]]:
    """Return a call of the forward pass, and notes for the record.

    Raises Unsupported where torch has no int8 convolution with 32-bit sums.
    """
    if backend.device != "cpu":
        raise Unsupported(
            "torch has no int8 convolution that returns 32-bit sums on"
            f" {backend.device}: the quantised one there returns 8 bits"
        )
    if not vnni.adds_in_32_bits():
        raise Unsupported(
            "oneDNN adds pairs of 8-bit products in 16 bits on x86 processors without VNNI, where"
            " they overflow"
        )
    prepack, convolve = _operations()
    p = problem
    stride, padding = (p.stride_h, p.stride_w), (p.pad_h, p.pad_w)
    unsigned = aligned_empty(inputs.images.shape, np.uint8)
    np.bitwise_xor(inputs.images.view(np.uint8), np.uint8(SHIFT), out=unsigned)
    images = torch.from_numpy(conv.in_layout(unsigned, backend.layout))
    filters = torch.from_numpy(inputs.filters)
    one, nothing = torch.ones(1), torch.zeros(1, dtype=torch.int32)
    shape = list(images.shape)
    sizes = (stride, padding, DILATION, GROUPS)
    packed = prepack(filters, one, 1.0, SHIFT, *sizes, shape)
    # Scale, zero point and type of the output; no fused operation.
    asked: tuple[object, ...] = (1.0, 0, torch.float32, "none", [], "")

    def run() -> torch.Tensor:
        found: torch.Tensor = convolve(
            images, 1.0, SHIFT, packed, one, nothing, None, *sizes, *asked
        )
        return found

    return run, {
        "route": "onednn::qconv2d_pointwise, images as unsigned bytes with zero point 128,"
        " filters packed beforehand, 32-bit sums handed out as float32",
        "output": "allocated in every call, channels last whatever the layout",
        "primitive": "oneDNN",
    }


def _operations() -> tuple[onednn_primitive.Operation, onednn_primitive.Operation]:
    """Return the operations for packing filters and for the convolution.

    Raises Unsupported where this release does not have them.
    """
    try:
        convolve = torch.ops.onednn.qconv2d_pointwise.default
        prepack = torch.ops.onednn.qconv_prepack.default
    except (AttributeError, RuntimeError):
        convolve = None
    if convolve is None or "output_dtype" not in {a.name for a in convolve._schema.arguments}:
        raise Unsupported(
            f"torch {torch.__version__} has no int8 convolution that returns 32-bit sums:"
            " onednn::qconv2d_pointwise is missing or returns 8 bits"
        )
    return prepack, convolve
