"""Convolutions in torch, without bias: torch.conv2d, and convolution_backward for one gradient.

Every call allocates its output, as it does for users: neither function can write into a given
tensor. Their `out` variants compute elsewhere and copy.
"""

from collections.abc import Mapping

import numpy as np
import torch

from deepbench_ops.backends.families import conv
from deepbench_ops.backends.families.conv import ConvInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.torch_backend import conv_int8, onednn_primitive
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.conv import Conv

ROUTES = {
    "forward": "torch.conv2d",
    "backward_data": "aten::convolution_backward, output_mask 100",
    "backward_weights": "aten::convolution_backward, output_mask 010",
}
DILATION = (1, 1)
GROUPS = 1

FASTEST, REPEATABLE = {"benchmark": True}, {"benchmark": False, "deterministic": True}
"""Settings of torch.backends.cudnn: the fastest of all algorithms; or, of those that give the same
bits in every call, the one that cuDNN's heuristics name. torch remembers one algorithm for each
convolution and value of `deterministic`."""

NOT_THE_FASTEST = "a repeatable algorithm: the fastest one rounds sums to 16 bits"
"""Note on cuDNN's algorithm where `_keeps_wide_sums` refuses the fastest one."""


def build(backend: TorchDevice, problem: Conv, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare one pass in any precision that this release has on this device."""
    inputs = conv.inputs(problem, precision, seed)
    if precision == "int8":
        compute, notes = conv_int8.prepared(backend, problem, inputs)
    else:
        compute, notes = _prepared(backend, problem, inputs, operation)
    choice = FASTEST
    if backend.device == "cuda" and precision in ("bfloat16", "float16"):
        _true_precision(precision, backend.device, choice)
        wide, _ = _prepared(backend, problem, inputs, operation, wide=True)
        if not _keeps_wide_sums(compute, wide):
            choice = REPEATABLE
            notes["primitive"] = f"cuDNN {torch.backends.cudnn.version()}, {NOT_THE_FASTEST}"
    held: list[torch.Tensor | None] = [None]

    def run() -> None:
        held[0] = compute()

    def reset() -> None:
        held[0] = None
        _true_precision(precision, backend.device, choice)

    def output() -> torch.Tensor:
        assert held[0] is not None, "the kernel has not run and has no output"
        return held[0]

    reset()
    if backend.device == "cpu":
        notes["primitive"] = onednn_primitive.of_cpu(compute, notes["primitive"])
    prepared = Prepared(
        run=run,
        reset=reset,
        output=output,
        notes={
            "layout": conv.LAYOUT_NOTES[backend.layout],
            "output": "allocated in every call",
            **notes,
        },
    )
    return assemble(backend, problem, precision, operation, inputs, prepared)


def _true_precision(precision: str, device: str, choice: Mapping[str, bool]) -> None:
    """Set the process-wide switches for the precision and the choice of algorithms."""
    true_precision(precision, device)
    if device == "cuda":
        torch.backends.cudnn.benchmark = choice.get("benchmark", False)
        torch.backends.cudnn.deterministic = choice.get("deterministic", False)


def _keeps_wide_sums(compute: onednn_primitive.Call, wide: onednn_primitive.Call) -> bool:
    """Return whether a pass in 16 bits rounds its results alone.

    The fastest algorithm of cuDNN may also round sums or transformed operands to 16 bits. compute,
    wide: the pass in 16 bits, and the same operands in float32. An entry may be off by half a unit
    in its last place, and by a small part of a usual entry's for sums in another order.
    """
    expected, found = wide(), compute()
    unit = torch.finfo(found.dtype).eps / 2
    usual = torch.linalg.vector_norm(expected) / expected.numel() ** 0.5
    more = ((found - expected).abs() - unit * expected.abs()).max()
    return bool(more <= 0.1 * unit * usual)


def _prepared(
    backend: TorchDevice, problem: Conv, inputs: ConvInputs, operation: str, wide: bool = False
) -> tuple[onednn_primitive.Call, dict[str, str]]:
    """Return a call of one pass in floating point, and notes for the record.

    wide: whether the call is in float32, on the same operands.
    """
    p = problem
    stride, padding = (p.stride_h, p.stride_w), (p.pad_h, p.pad_w)
    dtype = torch.float32 if wide else DTYPES[inputs.precision]

    def tensor(values: np.ndarray) -> torch.Tensor:
        return backend.tensor(conv.in_layout(values, backend.layout), dtype)

    filters = tensor(inputs.filters)
    if operation == "forward":
        images, conv2d = tensor(inputs.images), torch.conv2d

        def run() -> torch.Tensor:
            return conv2d(images, filters, None, stride, padding, DILATION, GROUPS)

    else:
        gradient = tensor(inputs.gradient)
        images = tensor(inputs.images)
        backward = torch.ops.aten.convolution_backward.default
        wanted = 0 if operation == "backward_data" else 1
        mask = [wanted == 0, wanted == 1, False]
        rest = (None, stride, padding, DILATION, False, (0, 0), GROUPS, mask)

        def run() -> torch.Tensor:
            return backward(gradient, images, filters, *rest)[wanted]

    path = onednn_primitive.path(images, filters, stride, padding)
    if operation != "forward" and backend.device == "cpu" and dtype != torch.float32:
        _refuse_16_bit_sums(inputs.precision, operation, path)
    return run, {"route": ROUTES[operation], "primitive": path}


def _refuse_16_bit_sums(precision: str, operation: str, path: str) -> None:
    """Raise Unsupported for a backward pass whose sums torch's own loops would round to 16 bits."""
    if path.startswith("not oneDNN"):
        raise Unsupported(
            f"torch {torch.__version__} has no {precision} {operation} on this processor that adds"
            f" up in 32 bits ({path}): it rounds sums of some products to 16 bits before it adds"
            " them to others"
        )
