"""ONNX Runtime on the CPU: ONNX models in sessions, as its users run them."""

from functools import partial
from typing import Any, ClassVar

import numpy as np
import onnxruntime as ort

from deepbench_ops.backends.base import Builder
from deepbench_ops.backends.functional import Call, Compiling, Function, builder
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.onnx_models import conv, gemm, graph, rnn, sparse_gemm
from deepbench_ops.backends.onnx_models.graph import Model
from deepbench_ops.backends.onnxruntime_backend import sparse_product
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import Problem

PROVIDER = "CPUExecutionProvider"

LACKING = {
    "tf32": "tf32 exists only on NVIDIA GPUs, not on cpu",
    "bfloat16": f"onnxruntime's {PROVIDER} has no bfloat16 products",
}


class OnnxRuntimeBackend(Compiling):
    """A session for each kernel, on the CPU provider."""

    name = "onnxruntime"

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare a kernel, in NCHW where there is a choice."""
        if precision in LACKING:
            raise Unsupported(LACKING[precision])
        if problem.family == "conv":
            conv.refuse_channels_last(self.layout)
        return super().build(problem, precision, operation, seed)

    def session(self, serialised: bytes) -> Any:
        """Compile a model, all of the runtime's own optimisations allowed, as is its default."""
        options = ort.SessionOptions()
        options.intra_op_num_threads = self.settle_threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # failures are raised; a session says them as well
        return ort.InferenceSession(serialised, options, providers=[PROVIDER])

    def lacks(self, error: Exception) -> bool:
        """Return whether the runtime says that it has no such operator for a type."""
        text = str(error)
        return any(words in text for words in ("NOT_IMPLEMENTED", "is invalid", "INVALID_GRAPH"))

    def versions(self) -> dict[str, str]:
        """Return onnxruntime, its build, onnx, numpy and the threads of a session."""
        return {
            "framework": f"onnxruntime {ort.__version__}",
            "onnxruntime": str(ort.__version__),
            "onnxruntime_build": " ".join(getattr(ort, "get_build_info", str)().split()),
            "onnx": graph.version(),
            "numpy": np.__version__,
            "session_threads": str(self.threads()),
        }

    builders: ClassVar[dict[str, Builder]] = {}


def _function(
    make: Any, backend: OnnxRuntimeBackend, problem: Any, drawn: Any, precision: str, operation: str
) -> Function:
    """Run a model of `onnx_models` on values that the runtime already holds."""
    model: Model = make(problem, drawn, precision, operation)

    def compile_it() -> Call:
        session = backend.session(model.serialised)
        feeds = {name: ort.OrtValue.ortvalue_from_numpy(x) for name, x in model.feeds.items()}
        return partial(session.run_with_ort_values, None, feeds)

    return Function(
        compile=compile_it,
        read=lambda outputs: model.read([output.numpy() for output in outputs]),
        notes=model.notes,
    )


def _sparse_function(
    backend: OnnxRuntimeBackend, problem: Any, drawn: Any, precision: str, operation: str
) -> Function:
    if operation == "forward":
        return sparse_product.function(backend, problem, drawn, precision)
    return _function(sparse_gemm.model, backend, problem, drawn, precision, operation)


OnnxRuntimeBackend.builders = {
    **{
        name: builder(partial(_function, module.model))
        for name, module in (("gemm", gemm), ("conv", conv), ("rnn", rnn))
    },
    "sparse_gemm": builder(_sparse_function),
}
