"""Networks in inference: one batch, or several batches at the same time, each on its own thread."""

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deepbench_ops.backends.kernel import widened
from deepbench_ops.backends.torch_backend import execution
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.int8_networks import (
    CALIBRATING,
    CHEAP_FLOPS,
    MOST_CALIBRATING,
)
from deepbench_ops.backends.torch_backend.model_reference import (
    InferenceReference,
    items,
    root_mean_square,
)
from deepbench_ops.backends.torch_backend.network import (
    as_tensors,
    inference_form,
    refuse,
    weighted,
)
from deepbench_ops.backends.torch_backend.tensors import DTYPES, on_host, true_precision
from deepbench_ops.problems.model import Model


class Serving:
    """A network in inference, with a batch for each thread, in the backend's execution.

    route: description of the execution for the record. threads: number of threads of each batch
    within an operation (intra_op) and between operations (inter_op).
    """

    def __init__(self, backend: TorchDevice, problem: Model, precision: str, seed: int = 0) -> None:
        refuse(backend, problem, precision)
        true_precision(precision, backend.device)  # before compilation, which depends on it
        int8 = precision == "int8"
        dtype = torch.float32 if int8 else DTYPES[precision]
        form = inference_form(problem)
        self.module = weighted(backend, problem, dtype, seed).eval()
        self.inputs = as_tensors(backend, form.inputs(problem.inputs, seed), dtype)
        split = (each.split(problem.batch) for each in self.inputs)
        self._batches = list(zip(*split, strict=True))
        each = max(1, backend.threads() // problem.threads)
        others = _calibrating(backend, problem, seed) if int8 else None
        self._calls, self.route = execution.prepared(
            self.module, self._batches[0], backend.execution, each, problem.threads, others
        )
        self.threads = _threads(backend, each)
        self._reference = InferenceReference(precision, backend, problem, seed)
        self._batch = problem.batch
        self._held: list[Any] = [None] * problem.threads
        self._streams = [
            torch.cuda.Stream() if backend.device == "cuda" else None for _ in self._held
        ]

    def one(self, place: int) -> None:
        """Run the batch of thread `place`; on a GPU, enqueue it."""
        with torch.inference_mode():
            self._held[place] = self._calls[place](*self._batches[place])

    def served(self, place: int) -> None:
        """Run the batch of thread `place` and wait for it; on a GPU in a stream of its own."""
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
    def reference(self) -> "InferenceReference":
        """The reference of the output."""
        return self._reference

    def checked_output(self) -> Tensor:
        """Return the outputs of the first and of the last item, (2, outputs of an item)."""
        first, last = self._held[0], self._held[-1]
        assert first is not None and last is not None, "the network has not run and has no output"
        return torch.stack([items(first, self._batch)[0], items(last, self._batch)[-1]])

    def errors(self) -> np.ndarray:
        """Return the absolute difference of each entry of `checked_output` from float64."""
        return abs(widened(on_host(self.checked_output())) - self.reference.everywhere()[0])

    def relative_errors(self) -> tuple[float, float]:
        """Return the largest error and the root mean square error (the output drift), both divided
        by the root mean square of the true outputs."""
        errors, typical = self.errors(), self.reference.typical
        return float(errors.max()) / typical, root_mean_square(errors) / typical


def _calibrating(backend: TorchDevice, problem: Model, seed: int) -> list[tuple[Tensor, ...]]:
    """Return batches for calibration, which are neither timed nor checked.

    They have at least CALIBRATING items together, and more for networks of few FLOPs.
    """
    cheap = min(MOST_CALIBRATING, int(CHEAP_FLOPS / problem.network.flops))
    count = max(-(-CALIBRATING // problem.batch), cheap // problem.batch)
    drawn = inference_form(problem).inputs(count * problem.batch, seed + 1)
    split = (each.split(problem.batch) for each in as_tensors(backend, drawn, torch.float32))
    return list(zip(*split, strict=True))


def _threads(backend: TorchDevice, each: int) -> dict[str, int]:
    """Return the number of threads of each batch within and between operations."""
    exported = backend.execution == "onnxruntime"
    between = execution.ONNX_INTER_OP if exported else backend.inter_op()
    return {"intra_op": each, "inter_op": between}


class BatchThreads:
    """Threads that run a batch each at the same time, each with its share of torch's threads."""

    def __init__(self, count: int, each: int, one: Callable[[int], None]) -> None:
        """Start `count` threads. each: torch's threads for each of them. one: function that runs
        the batch of the thread with this number."""
        self._each = each
        self._one = one
        self._count = count
        self._start = Barrier(count)
        self._pool = ThreadPoolExecutor(count)

    def mean(self, number: int) -> float:
        """Run `number` batches on every thread; return the mean seconds of a batch."""
        by_thread = self._all(lambda done, since: done >= number)
        return statistics.fmean(sum(each) / number for each in by_thread)

    def latencies(self, seconds: float, fewest: int = 1) -> list[float]:
        """Run batches on every thread for `seconds`, at least `fewest`; return the seconds of
        each batch."""

        def enough(done: int, since: float) -> bool:
            return done >= fewest and time.perf_counter() - since >= seconds

        by_thread = self._all(enough)
        return [latency for each in by_thread for latency in each]

    def _all(self, enough: Callable[[int, float], bool]) -> list[list[float]]:
        before = torch.get_num_threads()
        torch.set_num_threads(self._each)
        try:
            work = self._pool.map(lambda place: self._many(place, enough), range(self._count))
            return list(work)
        finally:
            torch.set_num_threads(before)

    def _many(self, place: int, enough: Callable[[int, float], bool]) -> list[float]:
        torch.set_num_threads(self._each)  # torch keeps this number for each thread
        self._start.wait()
        begun = last = time.perf_counter()
        latencies: list[float] = []
        while not enough(len(latencies), begun):
            self._one(place)
            now = time.perf_counter()
            latencies.append(now - last)
            last = now
        return latencies
