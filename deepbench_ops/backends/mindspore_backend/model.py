"""Training steps of a paper's networks in MindSpore.

The reference of a small twin is torch's loss and gradients in float64
(`models.recorded_training_steps`). The reference of the network itself is the loss of a separate
forward pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import mindspore as ms
import numpy as np

from deepbench_ops.backends.families.model import (
    ENTRIES,
    GRADIENTS,
    ModelReference,
    TrainingStepReference,
)
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.mindspore_backend.device import MindSporeDevice
from deepbench_ops.errors import Unsupported
from deepbench_ops.models import recorded_training_steps
from deepbench_ops.models.mindspore.training_steps import RECIPES, TrainingStep, filled, tensors
from deepbench_ops.models.network_catalogue import RECIPE_NOTES, network
from deepbench_ops.problems.model import Model

LOSS_TOLERANCE = 2e-5
"""Allowed relative error of a loss."""

DROPOUT_LOSS_TOLERANCE = 0.1
"""Allowed relative difference of a loss with dropout, which is drawn again at each call."""


def build(
    backend: MindSporeDevice, problem: Model, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare a training step in float32; raise Unsupported for everything else."""
    if operation != "training_step":
        raise Unsupported("the networks in mindspore are measured in training, not in inference")
    if precision != "float32":
        raise Unsupported("the networks in mindspore are trained in float32 only")
    if backend.layout != "published":
        raise Unsupported(backend.lacking_layouts[backend.layout])
    known = network(problem.name)
    if known.recipe not in RECIPES:
        raise Unsupported(
            f"{known.name} is trained by {RECIPE_NOTES[known.recipe]}, which this project does"
            " not have in mindspore"
        )
    if not problem.whole and (problem.batch, seed) != (recorded_training_steps.BATCH, 0):
        raise Unsupported(
            "the reference of a small twin is recorded for"
            f" {recorded_training_steps.BATCH} items of seed 0 only"
        )
    backend.settle()
    form = known.whole if problem.whole else known.small
    cell = filled(known, form, seed)
    batch = problem.batch
    step = TrainingStep(
        cell, known, tensors(form.inputs(batch, seed)), tensors(form.targets(batch, seed))
    )
    if not problem.whole:
        step.without_dropout()
    held: list[ms.Tensor] = []

    def run() -> None:
        held[:] = [step.step()]

    def reset() -> None:
        held.clear()
        step.restart(seed)

    def result() -> np.ndarray:
        loss = held[0].asnumpy().astype(np.float64).reshape(1)
        return loss if problem.whole else np.concatenate([loss, _entries(step.gradients)])

    run()  # compiles now: a long kernel is timed from its first call on
    ms.runtime.synchronize()
    reset()
    prepared = Prepared(
        run=run,
        synchronise=ms.runtime.synchronize,
        reset=reset,
        output=result,
        reference=LossReference(step, seed) if problem.whole else TwinReference(problem.name),
        notes={
            "inputs": f"synthetic, seed {seed}",
            "layout": "published",
            "weights": "random, float32",
            "optimiser": RECIPE_NOTES[known.recipe],
            "route": "loss and gradients as one graph (ms.jit), then the optimiser",
        },
    )
    return assemble(backend, problem, precision, operation, None, prepared)


def _entries(gradients: Sequence[ms.Tensor]) -> np.ndarray:
    """Return ENTRIES entries of each of GRADIENTS gradients (`models.recorded_training_steps`)."""
    places = np.linspace(0, len(gradients) - 1, GRADIENTS).astype(int)
    flat = [gradients[place].asnumpy().astype(np.float64).reshape(-1) for place in places]
    return np.concatenate([g[np.linspace(0, g.size - 1, ENTRIES).astype(int)] for g in flat])


@dataclass(frozen=True)
class TwinReference(TrainingStepReference):
    """The recorded loss and gradients of a small twin's step, in float64."""

    name: str

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        return recorded_training_steps.recorded(self.name)


@dataclass(frozen=True)
class LossReference(ModelReference):
    """The loss of a forward pass with the same weights."""

    step: TrainingStep
    seed: int

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        self.step.restart(self.seed)
        loss = self.step.loss().asnumpy().astype(np.float64).reshape(1)
        tolerance = DROPOUT_LOSS_TOLERANCE if self.step.drops else LOSS_TOLERANCE
        return loss, np.maximum(abs(loss), 1.0) * tolerance
