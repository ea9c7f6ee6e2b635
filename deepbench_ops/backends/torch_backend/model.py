"""Whole models in torch: inference on one thread or several at once, and training steps."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from deepbench_ops.backends.families.model import Judge
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.model_reference import (
    LossJudge,
    StepJudge,
    entries,
    gradients,
)
from deepbench_ops.backends.torch_backend.network import as_tensors, known_form, refuse, weighted
from deepbench_ops.backends.torch_backend.serving import Crew, Serving
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision, widened
from deepbench_ops.errors import Unsupported
from deepbench_ops.models.catalogue import RECIPE_NOTES
from deepbench_ops.models.training import TrainingStep, mixed_type
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import compared, computed


def build(
    backend: TorchDevice, problem: Model, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare an inference or a training step, or the operations of one, each alone."""
    training = computed(operation) == "training_step"
    make = _training if training else _inference
    if compared(operation):
        kernel = make(backend, problem, precision, seed)
        if training and problem.whole:
            _first_step_done(kernel)
        return kernel
    if problem.threads > 1:
        raise Unsupported(
            f"operations are measured one after the other, not those of {problem.threads} batches"
            " at once"
        )
    from deepbench_ops.backends.torch_backend import operator_timing  # most runs have no need of it

    return operator_timing.kernel(make(backend, problem, precision, seed))


def _first_step_done(kernel: Kernel) -> None:
    """Run a step that nobody times: making what the optimiser remembers and the primitives of all
    layers takes a tenth to a half of a step (bench/first_call.py), and is done once in a training.
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
        crew = Crew(problem.threads, serving.threads["intra_op"], serving.served)

    def reset() -> None:
        serving.forget()
        true_precision(precision, backend.device)

    def clock(number: int) -> float:
        reset()
        assert crew is not None
        return crew.mean(number)

    def drift() -> dict[str, str]:
        return {"drift": f"{serving.off()[1]:.2g} of the typical output, beside float64"}

    reset()
    return _kernel(
        backend,
        problem,
        precision,
        "forward",
        seed,
        run=(lambda: crew.mean(1)) if crew else (lambda: serving.one(0)),
        reset=reset,
        judged=serving.judged,
        judge=serving.judge,
        clock=clock if crew else None,
        outcome=drift if precision == "int8" else dict,
        notes={
            "weights": f"random, {str(DTYPES[precision]).removeprefix('torch.')}",
            "batches at once": str(problem.threads),
            **{name: str(count) for name, count in serving.threads.items()},
            "route": serving.route,
        },
    )


def _training(backend: TorchDevice, problem: Model, precision: str, seed: int) -> Kernel:
    refuse(backend, problem, precision)
    known, form = known_form(problem)
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

    def judged() -> Tensor:
        loss = held[0].double().reshape(1)
        return loss if problem.whole else torch.cat([loss, entries(gradients(module))])

    reset()
    return _kernel(
        backend,
        problem,
        precision,
        "training_step",
        seed,
        run=run,
        reset=reset,
        judged=judged,
        judge=LossJudge(precision, step, seed) if problem.whole else StepJudge(precision, step),
        notes={
            "weights": "random, float32" + (f"; autocast to {precision}" if mixed else ""),
            "optimiser": RECIPE_NOTES[known.recipe],
            "route": "eager, after a first step" if problem.whole else "eager",
        },
    )


def _without_dropout(module: nn.Module) -> None:
    """Let everything through, since float64 might draw other numbers to leave out."""
    for layer in module.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0


def _kernel(
    backend: TorchDevice,
    problem: Model,
    precision: str,
    operation: str,
    seed: int,
    *,
    run: Callable[[], object],
    reset: Callable[[], object],
    judged: Callable[[], Tensor],
    judge: Judge,
    notes: dict[str, str],
    clock: Callable[[int], float] | None = None,
    outcome: Callable[[], dict[str, str]] = dict,
) -> Kernel:
    return Kernel(
        label=f"torch {backend.device} {precision} {operation} {problem.id}",
        run=run,
        synchronise=backend.synchronise,
        reset=reset,
        result=lambda: widened(judged()),
        peek=lambda index: widened(judged())[index],
        reference=judge,
        flops=problem.flops_of(operation),
        bytes=problem.bytes_of(precision, operation),
        notes={
            "inputs": f"synthetic, seed {seed}",
            "layout": backend.layout,
            **notes,
        },
        clock=clock,
        outcome=outcome,
    )
