"""Convolutions in MindSpore: Conv2D and its two gradients, NCHW."""

from typing import Any

from mindspore import ops
from mindspore.ops.operations import _grad_ops

from deepbench_ops.backends.families.conv import LAYOUT_NOTES, ConvInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.conv import Conv


def function(
    backend: MindSporeDevice, problem: Conv, drawn: ConvInputs, precision: str, operation: str
) -> Function:
    """Return one pass; raise Unsupported for int8."""
    if precision == "int8":
        raise Unsupported("mindspore has no convolution of int8 on the cpu")
    p = problem
    options: dict[str, Any] = {
        "out_channel": p.k,
        "kernel_size": (p.r, p.s),
        "pad_mode": "pad",
        "pad": (p.pad_h, p.pad_h, p.pad_w, p.pad_w),
        "stride": (p.stride_h, p.stride_w),
    }
    if operation == "forward":
        name, convolve = "Conv2D", ops.Conv2D(**options)
        operands = backend.tensors(precision, drawn.images, drawn.filters)
    elif operation == "backward_data":
        name, backward = "Conv2DBackpropInput", ops.operations.Conv2DBackpropInput(**options)
        operands = backend.tensors(precision, drawn.gradient, drawn.filters)
        sizes = (p.n, p.c, p.h, p.w)

        def convolve(gradient: Any, filters: Any) -> Any:
            return backward(gradient, filters, sizes)

    else:
        options["pad_list"] = options["pad"]
        name, backward = "Conv2DBackpropFilter", _grad_ops.Conv2DBackpropFilter(**options)
        operands = backend.tensors(precision, drawn.gradient, drawn.images)
        sizes = (p.k, p.c, p.r, p.s)

        def convolve(gradient: Any, images: Any) -> Any:
            return backward(gradient, images, sizes)

    return Function(
        compile=backend.called(convolve, operands),
        read=lambda output: output.asnumpy(),
        notes={"layout": LAYOUT_NOTES["published"], "route": f"ops.{name}"},
    )
