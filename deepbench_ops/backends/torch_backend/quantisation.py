"""Quantisation in torch: largest magnitudes, quotients, and casts to the narrow types."""

from collections.abc import Callable

import numpy as np
import torch

from deepbench_ops.backends.families import low_precision as formats
from deepbench_ops.backends.families import quantisation as family
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.quantisation import BLOCKS, Quantisation

QuantisedAndScale = tuple[torch.Tensor, torch.Tensor]

ROUTES = {
    "int8": "abs, amax, div, round, Tensor.to(int8)",
    "fp8": "abs, amax, div, Tensor.to(float8_e4m3fn)",
    "fp4": "abs, amax, frexp, div, bucketize, two codes packed in a byte",
}


def build(
    backend: TorchDevice, problem: Quantisation, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the quantisation, for norm_forward with the norm before it.

    Raises Unsupported for norm_forward in a release without rms_norm.
    """
    drawn = family.inputs(problem, precision, seed)
    x = backend.tensor(drawn.x, torch.bfloat16)
    quantise = _quantiser(problem, precision, backend.device)
    norm, route = "", ROUTES[family.KINDS[precision]]
    if operation == "norm_forward":
        weight = backend.tensor(drawn.weight, torch.bfloat16)
        normalise = getattr(torch.nn.functional, "rms_norm", None)
        if normalise is None:
            raise Unsupported(f"torch {torch.__version__} has no rms_norm")
        newest = LatestOutput(lambda: quantise(normalise(x, (problem.n,), weight, family.EPSILON)))
        norm = "torch.nn.functional.rms_norm, then "
    else:
        newest = LatestOutput(lambda: quantise(x))

    def scales() -> torch.Tensor:
        found: torch.Tensor = newest.value()[1]
        return found.float().view(problem.m, -1)

    def numbers() -> torch.Tensor:
        each = scales().repeat_interleave(BLOCKS[precision] or problem.n, 1)
        return _widened(newest.output[0], problem, precision) * each

    prepared = Prepared(
        run=newest.run,
        reset=newest.reset,
        output=numbers,
        further={family.SCALES: scales},
        notes={"route": f"{norm}{route}", "output": "allocated in every call"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _quantiser(
    problem: Quantisation, precision: str, device: str
) -> Callable[[torch.Tensor], QuantisedAndScale]:
    """Return a function from x to codes and scales."""
    kind, across = family.KINDS[precision], BLOCKS[precision] or problem.n
    blocks = (problem.m, problem.n // across, across)
    largest = formats.LARGEST[kind]
    bounds = torch.from_numpy(formats.FP4_BOUNDS).to(device)

    def scales(x: torch.Tensor) -> torch.Tensor:
        size = x.abs().amax(2, keepdim=True).float()
        if not precision.startswith("mx"):
            return size / largest
        exponent = torch.frexp(size).exponent - (1 + formats.GREATEST_EXPONENT[kind])
        return torch.ldexp(torch.ones_like(size), exponent)

    def run(x: torch.Tensor) -> QuantisedAndScale:
        grouped = x.view(blocks)
        scale = scales(grouped)
        quotient = grouped / scale
        if kind == "int8":
            codes = quotient.round_().to(torch.int8)
        elif kind == "fp8":
            codes = quotient.clamp_(-largest, largest).to(torch.float8_e4m3fn)
        else:
            places = torch.bucketize(quotient.abs(), bounds, out_int32=True).to(torch.uint8)
            signed = (places | (torch.signbit(quotient).to(torch.uint8) << 3)).view(-1, 2)
            codes = signed[:, 0] | (signed[:, 1] << 4)
        kept = scale.to(torch.float8_e8m0fnu) if precision.startswith("mx") else scale
        return codes.view(problem.m, -1), kept

    return run


def _widened(codes: torch.Tensor, problem: Quantisation, precision: str) -> torch.Tensor:
    """Return the numbers that codes stand for, not multiplied by the scales; for checks."""
    if family.KINDS[precision] != "fp4":
        return codes.view(problem.m, problem.n).float()
    table = torch.from_numpy(np.asarray(formats.VALUES["fp4"])).to(codes.device)
    both = torch.stack([codes & 15, codes >> 4], dim=2)
    return table[both.int()].view(problem.m, problem.n)
