"""Convolutions in groups in torch: torch.conv2d, and convolution_backward for one gradient."""

import numpy as np
import torch

from deepbench_ops.backends.families import conv
from deepbench_ops.backends.families import grouped_conv as family
from deepbench_ops.backends.families.grouped_conv import GroupedConvInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend import onednn_primitive
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.grouped_conv import GroupedConv

ROUTES = {
    "forward": "torch.conv2d",
    "backward_data": "aten::convolution_backward, output_mask 100",
    "backward_weights": "aten::convolution_backward, output_mask 010",
}
DILATION = (1, 1)


def build(
    backend: TorchDevice, problem: GroupedConv, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare one pass, with all tensors in channels_last layout.

    Raises Unsupported for a backward pass whose sums torch would round to 16 bits.
    """
    drawn = family.inputs(problem, precision, seed)
    _switch(precision, backend.device)
    run = _call(backend, problem, drawn, operation)
    notes = {"route": f"{ROUTES[operation]}, groups", "output": "allocated in every call"}
    if backend.device == "cpu":
        notes["primitive"] = onednn_primitive.of_cpu(run, "oneDNN")
        if operation != "forward" and precision != "float32" and "not oneDNN" in notes["primitive"]:
            raise Unsupported(
                f"torch {torch.__version__} has no {precision} {operation} in groups on this"
                " processor that adds up in 32 bits: its own loops round sums to 16 bits"
            )
    newest = LatestOutput(run)

    def reset() -> None:
        newest.reset()
        _switch(precision, backend.device)

    prepared = Prepared(run=newest.run, reset=reset, output=newest.value, notes=notes)
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _switch(precision: str, device: str) -> None:
    true_precision(precision, device)
    if device == "cuda":
        torch.backends.cudnn.benchmark = True


def _call(
    backend: TorchDevice, p: GroupedConv, drawn: GroupedConvInputs, operation: str
) -> onednn_primitive.Call:
    dtype = DTYPES[drawn.precision]

    def tensor(values: np.ndarray) -> torch.Tensor:
        return backend.tensor(conv.in_layout(values, "channels_last"), dtype)

    images, filters = tensor(drawn.images), tensor(drawn.filters)
    stride, padding = (p.stride, p.stride), (p.pad, p.pad)
    if operation == "forward":
        return lambda: torch.conv2d(images, filters, None, stride, padding, DILATION, p.groups)
    gradient = tensor(drawn.gradient)
    backward = torch.ops.aten.convolution_backward.default
    wanted = 0 if operation == "backward_data" else 1
    mask = [wanted == 0, wanted == 1, False]
    rest = (None, stride, padding, DILATION, False, (0, 0), p.groups, mask)

    def run() -> torch.Tensor:
        found: torch.Tensor = backward(gradient, images, filters, *rest)[wanted]
        return found

    return run
