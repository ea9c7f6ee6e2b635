"""Whole models in torch: inference on one thread or several at once, and training steps.

The truth of an inference is the same network in float64, on the first and the last item. Of a
training step it is, for the small twin, the loss and some gradients in float64; for the network
itself the loss that a forward pass alone gives, since a step in float64 would take minutes.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from threading import Barrier
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from deepbench_ops.backends.families.model import ENTRIES, GRADIENTS, Judge
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.torch_backend import execution
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.quantised import CALIBRATING
from deepbench_ops.backends.torch_backend.tensors import DTYPES, true_precision, widened
from deepbench_ops.errors import Unsupported
from deepbench_ops.models.catalogue import RECIPE_NOTES, Network, network
from deepbench_ops.models.data import Form, dimmed
from deepbench_ops.models.training import TrainingStep, doubled, mixed_type
from deepbench_ops.models.weights import filled
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import compared, computed

TOLERANCE = {"float32": 2e-5, "tf32": 2e-2, "bfloat16": 0.15, "float16": 0.03, "int8": 0.6}
"""How far an output may be off, as a part of the typical one (root mean square). Many layers add up
their rounding; docs/method.md has what was found, and what it is to be less than."""

GRADIENT_TOLERANCE = {"float32": 0.02, "tf32": 0.2, "bfloat16": 1.0, "float16": 0.2}
"""The same of a gradient's entries. Where rounding moves a number across a ReLU's corner, what
passes there is all or nothing: in float32 that happens once in some networks, in bfloat16 in every
one. A gradient that is missing, or another layer's, is off by more."""

SMALL_GRADIENT = 0.1
"""Gradients smaller than so much of the largest one are what rounding makes of zeros: those of the
keys' biases, which the softmax behind them takes no notice of."""


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
    from deepbench_ops.backends.torch_backend import alone  # most runs have no need of it

    return alone.kernel(make(backend, problem, precision, seed))


def _first_step_done(kernel: Kernel) -> None:
    """Run a step that nobody times: making what the optimiser remembers and the primitives of all
    layers takes a tenth to a half of a step (bench/first_call.py), and is done once in a training.
    """
    kernel.reset()
    kernel.run()
    kernel.synchronise()
    kernel.reset()


def _refuse(backend: TorchDevice, problem: Model, precision: str) -> None:
    """Raise Unsupported for a precision or layout that a network does not have."""
    if precision == "tf32":
        backend.demand_tf32()
    if backend.layout != "channels_last":
        return
    if not _form(problem)[1].pictures:
        raise Unsupported(f"{problem.name} is given no pictures whose channels could lie inside")
    if backend.execution == "onnxruntime":
        raise Unsupported("ONNX's convolutions take pictures whose channels lie outside")


def _form(problem: Model) -> tuple[Network, Form]:
    known = network(problem.name)
    return known, known.whole if problem.whole else known.small


def _asked(problem: Model) -> Form:
    """Return the form of an inference, in whose twin one item's answer is not like another's."""
    _, form = _form(problem)
    return form if problem.whole else dimmed(form)


def _module(backend: TorchDevice, problem: Model, dtype: torch.dtype, seed: int) -> nn.Module:
    known, form = _form(problem)
    module = filled(lambda: known.make(form), seed)
    if backend.layout == "channels_last":
        module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return module.to(device=backend.device, dtype=dtype)


def _tensors(
    backend: TorchDevice, arrays: Sequence[np.ndarray], dtype: torch.dtype
) -> list[Tensor]:
    """Return arrays on the device, the real ones as `dtype`, pictures in the backend's layout."""
    found = []
    for values in arrays:
        real = values.dtype == np.float32
        tensor = backend.tensor(values, dtype if real else torch.int64)
        if backend.layout == "channels_last" and tensor.dim() == 4:
            tensor = tensor.contiguous(memory_format=torch.channels_last)
        found.append(tensor)
    return found


class Serving:
    """A network in inference, with a batch of its own for each thread, run as the backend says.

    route: what runs it, in words. threads: of each batch within an operation (intra_op) and
    between operations (inter_op).
    """

    def __init__(self, backend: TorchDevice, problem: Model, precision: str, seed: int = 0) -> None:
        _refuse(backend, problem, precision)
        true_precision(precision, backend.device)  # compiled code is for the switches as they are
        int8 = precision == "int8"
        dtype = torch.float32 if int8 else DTYPES[precision]
        form = _asked(problem)
        self.module = _module(backend, problem, dtype, seed).eval()
        self.inputs = _tensors(backend, form.inputs(problem.items, seed), dtype)
        split = (each.split(problem.batch) for each in self.inputs)
        self._batches = list(zip(*split, strict=True))
        each = max(1, backend.threads() // problem.threads)
        others = _calibrating(backend, problem, seed) if int8 else None
        self._calls, self.route = execution.prepared(
            self.module, self._batches[0], backend.execution, each, problem.threads, others
        )
        self.threads = _threads(backend, each)
        self._judge = InferenceJudge(precision, backend, problem, seed)
        self._batch = problem.batch
        self._held: list[Any] = [None] * problem.threads
        self._streams = [
            torch.cuda.Stream() if backend.device == "cuda" else None for _ in self._held
        ]

    def one(self, place: int) -> None:
        """Run the batch of one thread; on a GPU, enqueue it."""
        with torch.inference_mode():
            self._held[place] = self._calls[place](*self._batches[place])

    def served(self, place: int) -> None:
        """Run the batch of one thread and wait for it: on a GPU in a stream of the thread's own."""
        stream = self._streams[place]
        if stream is None:
            self.one(place)
            return
        with torch.cuda.stream(stream):
            self.one(place)
        stream.synchronize()

    def forget(self) -> None:
        """Drop the outputs."""
        self._held[:] = [None] * len(self._held)

    @property
    def judge(self) -> "InferenceJudge":
        """The judge of what comes out."""
        return self._judge

    def judged(self) -> Tensor:
        """Return what came out for the first and for the last item."""
        first, last = self._held[0], self._held[-1]
        assert first is not None and last is not None, "asked for the output before it has run"
        return torch.stack([_items(first, self._batch)[0], _items(last, self._batch)[-1]])

    def errors(self) -> np.ndarray:
        """Return how far each entry of what came out is from float64."""
        return abs(widened(self.judged()) - self.judge.everywhere()[0])

    def off(self) -> tuple[float, float]:
        """Return the same as a part of the typical entry: of the furthest one, and in root mean
        square, which is the drift."""
        errors, typical = self.errors(), _root_mean_square(self.judge.everywhere()[0])
        return float(errors.max()) / typical, _root_mean_square(errors) / typical


def _calibrating(backend: TorchDevice, problem: Model, seed: int) -> list[tuple[Tensor, ...]]:
    """Return batches that are neither timed nor judged, of CALIBRATING items or more in all."""
    count = -(-CALIBRATING // problem.batch)
    drawn = _asked(problem).inputs(count * problem.batch, seed + 1)
    split = (each.split(problem.batch) for each in _tensors(backend, drawn, torch.float32))
    return list(zip(*split, strict=True))


def _threads(backend: TorchDevice, each: int) -> dict[str, int]:
    """Return how many threads each of the batches at once has within and between operations."""
    exported = backend.execution == "onnxruntime"
    between = execution.ONNX_INTER_OP if exported else backend.inter_op()
    return {"intra_op": each, "inter_op": between}


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
    _refuse(backend, problem, precision)
    known, form = _form(problem)
    mixed = mixed_type(precision, backend.device)
    module = _module(backend, problem, torch.float32, seed)
    if not problem.whole:
        _without_dropout(module)
    inputs = _tensors(backend, form.inputs(problem.batch, seed), torch.float32)
    targets = _tensors(backend, form.targets(problem.batch, seed), torch.float32)
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
        return loss if problem.whole else torch.cat([loss, _entries(_gradients(module))])

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


class Crew:
    """Threads that run one batch each, all at once, with torch's threads shared out among them."""

    def __init__(self, count: int, each: int, one: Callable[[int], None]) -> None:
        """each: threads of torch that every one of them has for itself."""
        self._each = each
        self._one = one
        self._count = count
        self._start = Barrier(count)
        self._pool = ThreadPoolExecutor(count)

    def mean(self, number: int) -> float:
        """Run so many batches on every thread; return the mean seconds of one."""
        taken = self._all(lambda done, since: done >= number)
        return statistics.fmean(sum(each) / number for each in taken)

    def latencies(self, seconds: float, fewest: int = 1) -> list[float]:
        """Run batches on every thread for so long, and so many at least; return the seconds of
        each."""

        def enough(done: int, since: float) -> bool:
            return done >= fewest and time.perf_counter() - since >= seconds

        taken = self._all(enough)
        return [latency for each in taken for latency in each]

    def _all(self, enough: Callable[[int, float], bool]) -> list[list[float]]:
        before = torch.get_num_threads()
        torch.set_num_threads(self._each)
        try:
            work = self._pool.map(lambda place: self._many(place, enough), range(self._count))
            return list(work)
        finally:
            torch.set_num_threads(before)

    def _many(self, place: int, enough: Callable[[int, float], bool]) -> list[float]:
        torch.set_num_threads(self._each)  # a thread has a number of its own
        self._start.wait()
        begun = last = time.perf_counter()
        taken: list[float] = []
        while not enough(len(taken), begun):
            self._one(place)
            now = time.perf_counter()
            taken.append(now - last)
            last = now
        return taken


@dataclass(frozen=True)
class TorchJudge(Judge):
    """A judge that allows what a precision explains."""

    precision: str

    def allowing(self, expected: Tensor, scale: Tensor | float) -> tuple[np.ndarray, np.ndarray]:
        """Return (expected, allowed) of entries that are typically as large as `scale`."""
        allowed = torch.as_tensor(TOLERANCE[self.precision] * scale).expand(expected.shape)
        return widened(expected), widened(allowed)


@dataclass(frozen=True)
class InferenceJudge(TorchJudge):
    """The network in float64 on the first and the last item: (2, numbers that come out).

    From newly drawn weights and inputs of float32, not from what runs: what is lost where these
    are rounded to 16 or 8 bits is part of what a precision is off.
    """

    backend: TorchDevice
    problem: Model
    seed: int = 0

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        given = _asked(self.problem).inputs(self.problem.items, self.seed)
        drawn = (each[[0, -1]] for each in given)
        ends = _tensors(self.backend, list(drawn), torch.float32)
        exact = _module(self.backend, self.problem, torch.float32, self.seed).double().eval()
        with torch.inference_mode():
            expected = _items(exact(*doubled(ends)), 2)
        return self.allowing(expected, _typical(expected))


@dataclass(frozen=True)
class LossJudge(TorchJudge):
    """The loss of a forward pass alone, from the same weights and with the same dropout."""

    step: TrainingStep
    seed: int

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        self.step.restart(self.seed)
        with torch.no_grad():
            loss = self.step.loss().double().reshape(1)
        return self.allowing(loss, _typical(loss))


@dataclass(frozen=True)
class StepJudge(TorchJudge):
    """The loss and some gradients of the same step in float64."""

    step: TrainingStep

    @cached_property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        exact = self.step.exact()
        loss = exact.loss().reshape(1)
        loss.backward()
        gradients = _gradients(exact.module)
        typical = torch.stack([g.square().mean().sqrt() for g in gradients])
        least = SMALL_GRADIENT * typical.max()
        of_gradients = GRADIENT_TOLERANCE[self.precision] * typical.clamp(min=least)
        of_loss = TOLERANCE[self.precision] * _typical(loss.detach())
        allowed = torch.cat([of_loss.reshape(1), of_gradients.repeat_interleave(ENTRIES)])
        return widened(torch.cat([loss.detach(), _entries(gradients)])), widened(allowed)


def _items(output: Tensor | tuple[Tensor, ...], batch: int) -> Tensor:
    """Return all that comes out of a network, a row for each item."""
    tensors = output if isinstance(output, tuple) else (output,)
    return torch.cat([tensor.reshape(batch, -1) for tensor in tensors], 1)


def _typical(values: Tensor) -> Tensor:
    """Return the root of the mean square."""
    return values.square().mean().sqrt()


def _root_mean_square(values: np.ndarray) -> float:
    return float((values**2).mean()) ** 0.5


def _gradients(module: nn.Module) -> list[Tensor]:
    """Return the gradients of GRADIENTS parameters from all over the network, in float64."""
    found = [p.grad for p in module.parameters() if p.grad is not None]
    places = np.linspace(0, len(found) - 1, GRADIENTS).astype(int)
    return [(g.to_dense() if g.is_sparse else g).double() for g in (found[i] for i in places)]


def _entries(gradients: Sequence[Tensor]) -> Tensor:
    """Return ENTRIES entries of each gradient, from its first to its last."""
    flat = [gradient.reshape(-1) for gradient in gradients]
    return torch.cat([g[torch.linspace(0, g.numel() - 1, ENTRIES).long()] for g in flat])


def _without_dropout(module: nn.Module) -> None:
    """Let everything through, since float64 might draw other numbers to leave out."""
    for layer in module.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
