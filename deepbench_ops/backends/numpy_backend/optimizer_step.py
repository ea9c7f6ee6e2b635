"""Steps of SGD and AdamW in numpy, in place, one tensor after the other."""

from functools import partial
from typing import Any

import numpy as np

from deepbench_ops.backends.families import optimizer_step
from deepbench_ops.backends.families.optimizer_step import (
    BETAS,
    DECAY,
    EPSILON,
    MOMENTUM,
    RATE,
    STATES,
    STEPS_BEFORE,
)
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.optimizer_step import OptimizerStep


def build(
    backend: Any, problem: OptimizerStep, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a step; raise Unsupported for Muon, whose products are in bfloat16, and for other
    variants of a step."""
    plain.refuse_unsuitable(precision)
    if problem.algorithm == "muon":
        raise Unsupported("numpy has no bfloat16, in which Muon multiplies")
    if operation != "step":
        raise Unsupported("numpy has one way to step: tensor by tensor")
    drawn = optimizer_step.inputs(problem, precision, seed)
    states = STATES[problem.algorithm]
    held = {name: drawn[name or "parameters"].copy() for name in ("", *states)}
    gradients = drawn["gradients"]
    time = [STEPS_BEFORE]
    one = _sgd if problem.algorithm == "sgd" else _adamw

    def run() -> None:
        time[0] += 1
        for number, gradient in enumerate(gradients):
            one(time[0], gradient, *(held[name][number] for name in ("", *states)))

    def reset() -> None:
        time[0] = STEPS_BEFORE
        for name, values in held.items():
            np.copyto(values, drawn[name or "parameters"])

    prepared = Prepared(
        run=run,
        reset=reset,
        output=partial(held.__getitem__, ""),
        further={name: partial(held.__getitem__, name) for name in states},
        notes={"route": "numpy expressions, a tensor at a time", "output": "changed in place"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _sgd(time: int, gradient: Any, parameter: Any, momentum: Any) -> None:
    momentum *= np.float32(MOMENTUM["sgd"])
    momentum += gradient
    parameter -= np.float32(RATE) * momentum


def _adamw(time: int, gradient: Any, parameter: Any, first: Any, second: Any) -> None:
    one, two = BETAS
    parameter *= np.float32(1 - RATE * DECAY)
    first += np.float32(1 - one) * (gradient - first)
    second *= np.float32(two)
    second += np.float32(1 - two) * gradient * gradient
    root = np.sqrt(second * np.float32(1 / (1 - two**time))) + np.float32(EPSILON)
    parameter -= np.float32(RATE / (1 - one**time)) * first / root
