"""Steps of torch.optim's SGD, AdamW and Muon, with the state of earlier steps."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from deepbench_ops.backends.families import optimizer_step
from deepbench_ops.backends.families.optimizer_step import (
    BETAS,
    DECAY,
    EPSILON,
    MOMENTUM,
    MUON_DECAY,
    MUON_EPSILON,
    RATE,
    STATES,
    STEPS_BEFORE,
)
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.optimizer_step import OptimizerStep

WAYS: Mapping[str, Mapping[str, bool]] = {
    "step": {},
    "foreach_step": {"foreach": True},
    "fused_step": {"fused": True},
}
"""Settings of the optimisers, by operation."""

NAMES = {
    "momentum": "momentum_buffer",
    "first_moment": "exp_avg",
    "second_moment": "exp_avg_sq",
}
"""torch's names of the parts of the state."""


def build(
    backend: TorchDevice, problem: OptimizerStep, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a step; raise Unsupported for variants that this release of torch does not have."""
    drawn = optimizer_step.inputs(problem, precision, seed)
    shape = (problem.width,) if problem.height == 1 else (problem.height, problem.width)

    def drawn_tensors(name: str) -> list[torch.Tensor]:
        whole = backend.tensor(drawn[name], DTYPES[precision])
        return [each.reshape(shape) for each in whole]

    def tensors(name: str) -> list[torch.Tensor]:
        return [each.clone() for each in drawn_tensors(name)]

    parameters, states = tensors("parameters"), STATES[problem.algorithm]
    for parameter, gradient in zip(parameters, tensors("gradients"), strict=True):
        parameter.requires_grad_().grad = gradient
    optimizer, made = _optimizer(problem.algorithm, operation, parameters)
    held = {"": parameters, **{name: tensors(name) for name in states}}
    for number, parameter in enumerate(parameters):
        for name in states:
            optimizer.state[parameter][NAMES[name]] = held[name][number]
        if problem.algorithm == "adamw":
            count = torch.tensor(0.0, device=backend.device if operation == "fused_step" else "cpu")
            optimizer.state[parameter]["step"] = count
    sources = {name: drawn_tensors(name or "parameters") for name in held}

    def reset() -> None:
        true_precision(precision, backend.device)
        with torch.no_grad():
            for name, values in held.items():
                for value, source in zip(values, sources[name], strict=True):
                    value.copy_(source)
            for parameter in parameters:
                if "step" in optimizer.state[parameter]:
                    optimizer.state[parameter]["step"].fill_(STEPS_BEFORE)

    def whole(values: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack(values).detach().reshape(drawn["parameters"].shape)

    reset()
    prepared = Prepared(
        run=optimizer.step,
        reset=reset,
        output=partial(whole, parameters),
        further={name: partial(whole, held[name]) for name in states},
        notes={"route": f"{made}.step", "output": "parameters and state changed in place"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _optimizer(
    algorithm: str, operation: str, parameters: list[torch.Tensor]
) -> tuple[torch.optim.Optimizer, str]:
    """Return the optimiser, and the text of its construction for the record."""
    way = WAYS[operation]
    settings: dict[str, Any] = {"lr": RATE, **way}
    if algorithm == "sgd":
        settings["momentum"], name = MOMENTUM["sgd"], "SGD"
    elif algorithm == "adamw":
        settings |= {"betas": BETAS, "eps": EPSILON, "weight_decay": DECAY}
        name = "AdamW"
    else:
        name = "Muon"
        if way:
            raise Unsupported("torch's Muon has one way to step: tensor by tensor")
        if not hasattr(torch.optim, name):
            raise Unsupported(f"torch {torch.__version__} has no Muon")
        settings |= {"momentum": MOMENTUM["muon"], "weight_decay": MUON_DECAY}
        settings["eps"] = MUON_EPSILON
    try:
        made = getattr(torch.optim, name)(parameters, **settings)
    except TypeError as unknown:  # a variant that this release does not have
        raise Unsupported(f"torch {torch.__version__}: {unknown}") from None
    except RuntimeError as refusal:  # a variant that it does not have on this device
        if "fused" not in way:
            raise
        raise Unsupported(f"torch {torch.__version__}: {refusal}") from None
    shown = ", ".join(f"{key}=True" for key in way)
    return made, f"torch.optim.{name}({shown})"
