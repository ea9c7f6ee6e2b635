"""OpenVINO on the CPU: the ONNX models, read by its own frontend and compiled for latency."""

from functools import cached_property, partial
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

try:
    from openvino import Core, Tensor, get_version
except ImportError:  # 2023.0
    from openvino.runtime import Core, Tensor, get_version

from deepbench_ops.backends.base import Builder
from deepbench_ops.backends.functional import Call, Compiling, Function, builder
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.onnx_models import conv, gemm, graph, rnn, sparse_gemm
from deepbench_ops.backends.onnx_models.graph import Model
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import Problem

LACKING = {
    "tf32": "tf32 exists only on NVIDIA GPUs, not on cpu",
    "bfloat16": "openvino's bfloat16 is not measured yet",
    "int8": "openvino's product of int8 returns 8 bits, and its quantised float models, which are"
    " another operation, are not measured yet",
}


class OpenVinoBackend(Compiling):
    """A compiled model and an inference request for each kernel, on the CPU plugin."""

    name = "openvino"

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare a kernel, in NCHW where there is a choice."""
        if precision in LACKING:
            raise Unsupported(LACKING[precision])
        if problem.family == "conv":
            conv.refuse_channels_last(self.layout)
        return super().build(problem, precision, operation, seed)

    @cached_property
    def _core(self) -> Any:
        return Core()

    def request(self, model: Model) -> Any:
        """Compile a model for the lowest latency and return a request with its inputs set.

        The hint keeps float32 in float32: on processors with bfloat16 units the plugin takes
        those otherwise.
        """
        read = self._core.read_model(model.serialised)
        hints = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": str(self.settle_threads()),
        }
        request = self._core.compile_model(read, "CPU", hints).create_infer_request()
        for name, values in model.feeds.items():
            request.set_tensor(name, Tensor(values, shared_memory=True))
        return request

    def versions(self) -> dict[str, str]:
        """Return openvino, onnx, numpy and the threads of a request."""
        return {
            "framework": f"openvino {version('openvino')}",
            "openvino": str(get_version()),
            "onnx": graph.version(),
            "numpy": np.__version__,
            "request_threads": str(self.threads()),
        }

    builders: ClassVar[dict[str, Builder]] = {}


def _function(
    make: Any, backend: OpenVinoBackend, problem: Any, drawn: Any, precision: str, operation: str
) -> Function:
    """Run a model of `onnx_models`; the output is the request's own, written anew by each call."""
    model: Model = make(problem, drawn, precision, operation)

    def compile_it() -> Call:
        request = backend.request(model)
        start, wait = request.start_async, request.wait  # `infer` would copy the output as well

        def call() -> Any:
            start()
            wait()
            return request

        return call

    return Function(
        compile=compile_it,
        read=lambda request: model.read([request.get_output_tensor(0).data.copy()]),
        notes={**model.notes, "output": "the request's own, written anew by every call"},
    )


OpenVinoBackend.builders = {
    name: builder(partial(_function, module.model))
    for name, module in (("gemm", gemm), ("conv", conv), ("rnn", rnn), ("sparse_gemm", sparse_gemm))
}
