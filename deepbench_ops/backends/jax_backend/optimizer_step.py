"""Steps of SGD, AdamW and Muon in jax: one compiled program for all tensors, with donated state.

jax has no optimisers of its own. The expressions are those that users write without another
library.
"""

from collections.abc import Callable
from functools import partial
from math import log
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from deepbench_ops.backends.families import optimizer_step as family
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.optimizer_step import (
    BETAS,
    COEFFICIENTS,
    DECAY,
    EPSILON,
    MOMENTUM,
    MUON_DECAY,
    MUON_EPSILON,
    RATE,
    STATES,
    STEPS_BEFORE,
)
from deepbench_ops.backends.jax_backend import xla_names
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.optimizer_step import NEWTON_SCHULZ_STEPS, OptimizerStep


def build(
    backend: JaxDevice, problem: OptimizerStep, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a step; raise Unsupported for the variants that only torch's optimisers have."""
    if operation != "step":
        raise Unsupported("jax has one way to step: a compiled program for all tensors")
    drawn = family.inputs(problem, precision, seed)
    names = ("", *STATES[problem.algorithm])
    gradients = _tensors(backend, problem, precision, drawn, "gradients")
    step = STEPS[problem.algorithm]

    def stepped(held: Any, gradients: Any) -> Any:
        time, tensors = held
        made = [step(time + 1, *each) for each in zip(gradients, *tensors, strict=True)]
        return time + 1, tuple(list(each) for each in zip(*made, strict=True))

    jitted = jax.jit(stepped, donate_argnums=0)
    held: list[Any] = []

    def reset() -> None:
        held.clear()
        tensors = (
            _tensors(backend, problem, precision, drawn, name or "parameters") for name in names
        )
        held.append((backend.array(np.array(STEPS_BEFORE), precision), tuple(tensors)))
        jax.block_until_ready(held[0])

    def run() -> None:
        held[0] = jitted(held[0], gradients)
        if backend.device == "cpu":
            jax.block_until_ready(held[0])

    def implementation() -> str:
        return xla_names.of(jitted.lower(held[0], gradients).compile().as_text() or "")

    def output(number: int) -> np.ndarray:
        return np.stack(held[0][1][number]).reshape(drawn["parameters"].shape)

    reset()
    run()  # compiles
    reset()
    prepared = Prepared(
        run=run,
        reset=reset,
        output=partial(output, 0),
        further={name: partial(output, place) for place, name in enumerate(names) if place},
        synchronise=lambda: jax.block_until_ready(held[0]),
        notes={
            "route": "jax.jit of jax.numpy expressions for all tensors, parameters and state"
            " donated",
            "output": "in the memory of the parameters and state before the call",
        },
        implementation=implementation,
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)


def _tensors(
    backend: JaxDevice, problem: OptimizerStep, precision: str, drawn: Operands, name: str
) -> list[Any]:
    """Return the tensors of operand `name`, each in a new array on the device."""
    shape = (problem.width,) if problem.height == 1 else (problem.height, problem.width)
    return [backend.array(each.reshape(shape).copy(), precision) for each in drawn[name]]


def _sgd(time: Any, gradient: Any, parameter: Any, momentum: Any) -> tuple[Any, ...]:
    momentum = MOMENTUM["sgd"] * momentum + gradient
    return parameter - RATE * momentum, momentum


def _adamw(time: Any, gradient: Any, parameter: Any, first: Any, second: Any) -> tuple[Any, ...]:
    one, two = BETAS
    first = one * first + (1 - one) * gradient
    second = two * second + (1 - two) * jnp.square(gradient)
    root = jnp.sqrt(second / _corrected(two, time)) + EPSILON
    step = RATE / _corrected(one, time) * first / root
    return parameter * (1 - RATE * DECAY) - step, first, second


def _corrected(beta: float, time: Any) -> Any:
    """Return 1 - beta ** time, computed without the cancellation of digits in that difference."""
    return -jnp.expm1(time * log(beta))


def _muon(time: Any, gradient: Any, parameter: Any, momentum: Any) -> tuple[Any, ...]:
    kept = MOMENTUM["muon"]
    momentum = kept * momentum + (1 - kept) * gradient
    update = _orthogonal((1 - kept) * gradient + kept * momentum)
    height, width = parameter.shape
    scale = RATE * max(1.0, height / width) ** 0.5
    return parameter * (1 - RATE * MUON_DECAY) - scale * update.astype(jnp.float32), momentum


def _orthogonal(update: Any) -> Any:
    """Return a matrix after Muon's Newton-Schulz iteration.

    Products of bfloat16 are added up in float32, because the coefficients of the polynomial have
    only two digits in bfloat16.
    """
    a, b, c = COEFFICIENTS
    narrow, wide = jnp.bfloat16, jnp.float32
    product = partial(jnp.matmul, preferred_element_type=wide)
    x = (update / jnp.maximum(jnp.linalg.norm(update), MUON_EPSILON)).astype(narrow)
    turned = x.shape[0] > x.shape[1]
    x = x.T if turned else x
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = product(x, x.T).astype(narrow)
        polynomial = (b * gram.astype(wide) + c * product(gram, gram)).astype(narrow)
        x = (a * x.astype(wide) + product(polynomial, x)).astype(narrow)
    return x.T if turned else x


STEPS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "sgd": _sgd,
    "adamw": _adamw,
    "muon": _muon,
}
"""Step by algorithm: a function of step number, gradient, parameter and state that returns the new
parameter and state."""
