"""Quantised linear layers in torch: the kernels that take codes and scales, each by its name."""

from collections.abc import Callable

import torch

from deepbench_ops.backends.assembly import Prepared, assemble
from deepbench_ops.backends.families import quantised_linear as family
from deepbench_ops.backends.families.quantised_linear import QuantisedLinearInputs
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.torch_backend import quantised_operands as operands
from deepbench_ops.backends.torch_backend import quantised_products as products
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.problems.precision import result_type
from deepbench_ops.problems.quantised_linear import QuantisedLinear

Run = Callable[[], torch.Tensor]


def build(
    backend: TorchDevice, problem: QuantisedLinear, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare one layer; Unsupported where torch has no kernel for the format on this device."""
    drawn = family.inputs(problem, precision, seed)
    true_precision(result_type(precision), backend.device)
    make = {
        "forward": products.forward,
        "dequantised_forward": _dequantised,
        "fused_forward": products.fused,
    }[operation]
    run, notes = make(backend, problem, drawn, precision)
    newest = LatestOutput(run)

    def reset() -> None:
        newest.reset()
        true_precision(result_type(precision), backend.device)

    def output() -> torch.Tensor:
        assert newest.output is not None, "asked for the output of a kernel that has not run"
        found: torch.Tensor = newest.output
        return found

    notes = {"output": "allocated in every call", **notes}
    prepared = Prepared(run=newest.run, reset=reset, output=output, notes=notes)
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _dequantised(
    backend: TorchDevice, problem: QuantisedLinear, drawn: QuantisedLinearInputs, precision: str
) -> tuple[Run, dict[str, str]]:
    """Return the product of operands that every call widens, by torch.nn.functional.linear."""
    dtype = DTYPES[result_type(precision)]
    linear = torch.nn.functional.linear
    weights = operands.widening(backend, drawn.w, dtype)
    if precision in family.OF_ACTIVATIONS:
        x = operands.widening(backend, drawn.quantised_activations, dtype)
    else:
        fixed = backend.tensor(drawn.activations, dtype)

        def x() -> torch.Tensor:
            return fixed

    return lambda: linear(x(), weights()), {
        "route": f"codes and scales widened to {result_type(precision)} in every call, then"
        " torch.nn.functional.linear"
    }
