"""Networks in inference: a batch on one thread, or one on each of several at once."""

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
    InferenceJudge,
    items,
    root_mean_square,
)
from deepbench_ops.backends.torch_backend.network import as_tensors, asked, refuse, weighted
from deepbench_ops.backends.torch_backend.tensors import DTYPES, on_host, true_precision
from deepbench_ops.problems.model import Model


class Serving:
    """A network in inference, with a batch of its own for each thread, run as the backend says.

    route: what runs it, in words. threads: of each batch within an operation (intra_op) and
    between operations (inter_op).
    """

    def __init__(self, backend: TorchDevice, problem: Model, precision: str, seed: int = 0) -> None:
        refuse(backend, problem, precision)
        true_precision(precision, backend.device)  # compiled code is for the switches as they are
        int8 = precision == "int8"
        dtype = torch.float32 if int8 else DTYPES[precision]
        form = asked(problem)
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
        return torch.stack([items(first, self._batch)[0], items(last, self._batch)[-1]])

    def errors(self) -> np.ndarray:
        """Return how far each entry of what came out is from float64."""
        return abs(widened(on_host(self.judged())) - self.judge.everywhere()[0])

    def off(self) -> tuple[float, float]:
        """Return the same as a part of the typical entry: of the furthest one, and in root mean
        square, which is the drift."""
        errors, typical = self.errors(), self.judge.typical
        return float(errors.max()) / typical, root_mean_square(errors) / typical


def _calibrating(backend: TorchDevice, problem: Model, seed: int) -> list[tuple[Tensor, ...]]:
    """Return batches that are neither timed nor judged, of at least CALIBRATING items in all, and
    of more where that costs little."""
    cheap = min(MOST_CALIBRATING, int(CHEAP_FLOPS / problem.network.flops))
    count = max(-(-CALIBRATING // problem.batch), cheap // problem.batch)
    drawn = asked(problem).inputs(count * problem.batch, seed + 1)
    split = (each.split(problem.batch) for each in as_tensors(backend, drawn, torch.float32))
    return list(zip(*split, strict=True))


def _threads(backend: TorchDevice, each: int) -> dict[str, int]:
    """Return how many threads each of the batches at once has within and between operations."""
    exported = backend.execution == "onnxruntime"
    between = execution.ONNX_INTER_OP if exported else backend.inter_op()
    return {"intra_op": each, "inter_op": between}


class BatchThreads:
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
        by_thread = self._all(lambda done, since: done >= number)
        return statistics.fmean(sum(each) / number for each in by_thread)

    def latencies(self, seconds: float, fewest: int = 1) -> list[float]:
        """Run batches on every thread for so long, and so many at least; return the seconds of
        each."""

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
        torch.set_num_threads(self._each)  # a thread has a number of its own
        self._start.wait()
        begun = last = time.perf_counter()
        latencies: list[float] = []
        while not enough(len(latencies), begun):
            self._one(place)
            now = time.perf_counter()
            latencies.append(now - last)
            last = now
        return latencies
