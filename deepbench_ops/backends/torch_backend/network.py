"""Networks of the catalogue on a device: weights and inputs."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.models.batches import Form, dimmed
from deepbench_ops.models.network_catalogue import Network, network
from deepbench_ops.models.torch_weights import filled
from deepbench_ops.problems.model import Model


def refuse(backend: TorchDevice, problem: Model, precision: str) -> None:
    """Raise Unsupported for a precision or layout that the network, device or execution does not
    have."""
    if precision == "tf32":
        backend.demand_tf32()
    if backend.layout != "channels_last":
        return
    if not known_form(problem)[1].pictures:
        raise Unsupported(f"{problem.name} has no pictures as input, so no channels_last layout")
    if backend.execution == "onnxruntime":
        raise Unsupported("ONNX's convolutions have no channels_last layout")


def known_form(problem: Model) -> tuple[Network, Form]:
    """Return the network and its form: that of full size, or that of the small twin."""
    known = network(problem.name)
    return known, known.whole if problem.whole else known.small


def inference_form(problem: Model) -> Form:
    """Return the form of an inference; in a small twin the outputs of items differ clearly."""
    _, form = known_form(problem)
    return form if problem.whole else dimmed(form)


def weighted(backend: TorchDevice, problem: Model, dtype: torch.dtype, seed: int) -> nn.Module:
    """Return the network on the device, with weights drawn from a seed."""
    known, form = known_form(problem)
    module = filled(lambda: known.make(form), seed)
    if backend.layout == "channels_last":
        module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return module.to(device=backend.device, dtype=dtype)


def as_tensors(
    backend: TorchDevice, arrays: Sequence[np.ndarray], dtype: torch.dtype
) -> list[Tensor]:
    """Return arrays as tensors on the device: float32 as `dtype`, others as int64, and pictures in
    the backend's layout."""
    found = []
    for values in arrays:
        real = values.dtype == np.float32
        tensor = backend.tensor(values, dtype if real else torch.int64)
        if backend.layout == "channels_last" and tensor.dim() == 4:
            tensor = tensor.contiguous(memory_format=torch.channels_last)
        found.append(tensor)
    return found
