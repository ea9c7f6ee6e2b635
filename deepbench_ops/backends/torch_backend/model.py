"""Whole models in torch: inference of one batch or several at the same time, and training steps."""

import torch
from torch import Tensor, nn

from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.model_reference import (
    LossReference,
    TwinStepReference,
    change_errors,
    entries,
    gradients,
)
from deepbench_ops.backends.torch_backend.network import as_tensors, known_form, refuse, weighted
from deepbench_ops.backends.torch_backend.serving import BatchThreads, Serving
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision
from deepbench_ops.errors import Unsupported
from deepbench_ops.models.network_catalogue import RECIPE_NOTES
from deepbench_ops.models.training_steps import TrainingStep, mixed_type
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import compared, computed


def build(
    backend: TorchDevice, problem: Model, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare an inference or a training step, or the operations of one, each timed alone.

    Raises Unsupported for operations of several batches at the same time.
    """
    training = computed(operation) == "training_step"
    make = _training if training else _inference
    if compared(operation):
        kernel = make(backend, problem, precision, seed)
        if training and problem.whole:
            _first_step_done(kernel)
        return kernel
    if problem.threads > 1:
        raise Unsupported(
            f"operations are measured one after the other, not for {problem.threads} batches at"
            " once"
        )
    from deepbench_ops.backends.torch_backend import operator_timing  # not needed in most runs

    return operator_timing.kernel(make(backend, problem, precision, seed))


def _first_step_done(kernel: Kernel) -> None:
    """Run a step that is not timed.

    In a first step the optimiser makes its state and the library the primitives of all layers,
    which takes a tenth to a half of a step (bench/first_call.py) and happens once in a training.
    """
    kernel.reset()
    kernel.run()
    kernel.synchronise()
    kernel.reset()


def _inference(backend: TorchDevice, problem: Model, precision: str, seed: int) -> Kernel:
    available = backend.threads()
    if problem.threads > available:
        raise Unsupported(
            f"{problem.threads} batches at once on {available} threads would wait for each other"
        )
    serving = Serving(backend, problem, precision, seed)
    crew = None
    if problem.threads > 1:
        crew = BatchThreads(problem.threads, serving.threads["intra_op"], serving.served)

    def reset() -> None:
        serving.forget()
        true_precision(precision, backend.device)

    def clock(number: int) -> float:
        reset()
        assert crew is not None
        return crew.mean(number)

    def drift() -> dict[str, str]:
        return {"drift": f"{serving.relative_errors()[1]:.2g} of the typical output, from float64"}

    reset()
    prepared = Prepared(
        run=(lambda: crew.mean(1)) if crew else (lambda: serving.one(0)),
        reset=reset,
        output=serving.checked_output,
        reference=serving.reference,
        clock=clock if crew else None,
        outcome=drift if precision == "int8" else dict,
        notes={
            **_notes(backend, seed),
            "weights": f"random, {str(DTYPES[precision]).removeprefix('torch.')}",
            "batches at once": str(problem.threads),
            **{name: str(count) for name, count in serving.threads.items()},
            "route": serving.route,
        },
    )
    return assemble(backend, problem, precision, "forward", None, prepared)


def _training(backend: TorchDevice, problem: Model, precision: str, seed: int) -> Kernel:
    refuse(backend, problem, precision)
    known, form = known_form(problem)
    known.demand_trained()
    mixed = mixed_type(precision, backend.device)
    module = weighted(backend, problem, torch.float32, seed)
    if not problem.whole:
        _without_dropout(module)
    inputs = as_tensors(backend, form.inputs(problem.batch, seed), torch.float32)
    targets = as_tensors(backend, form.targets(problem.batch, seed), torch.float32)
    step = TrainingStep(module, known.loss, known.recipe, inputs, targets, mixed)
    held: list[Tensor] = []

    def run() -> None:
        held[:] = [step.step()]

    def reset() -> None:
        held.clear()
        step.restart(seed)
        true_precision(precision, backend.device)

    def checked_output() -> Tensor:
        loss = held[0].double().reshape(1)
        if problem.whole:
            return loss
        return torch.cat([loss, entries(gradients(module)), entries(change_errors(step))])

    reset()
    reference: LossReference | TwinStepReference = (
        LossReference(precision, step, seed)
        if problem.whole
        else TwinStepReference(precision, step, backend.device)
    )
    prepared = Prepared(
        run=run,
        reset=reset,
        output=checked_output,
        reference=reference,
        notes={
            **_notes(backend, seed),
            "weights": "random, float32" + (f"; autocast to {precision}" if mixed else ""),
            "optimiser": RECIPE_NOTES[known.recipe],
            "route": "eager, after a first step" if problem.whole else "eager",
        },
    )
    return assemble(backend, problem, precision, "training_step", None, prepared)


def _notes(backend: TorchDevice, seed: int) -> dict[str, str]:
    return {"inputs": f"synthetic, seed {seed}", "layout": backend.layout}


def _without_dropout(module: nn.Module) -> None:
    """Switch dropout off, since a step in float64 might drop other numbers."""
    for layer in module.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
