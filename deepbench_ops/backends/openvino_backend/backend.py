"""OpenVINO on the CPU: ONNX models, read by OpenVINO's frontend and compiled for latency."""

from collections.abc import Sequence
from functools import cached_property, partial
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

try:
    from openvino import Core, Tensor, get_version
except ImportError:  # 2023.0
    from openvino.runtime import Core, Tensor, get_version

from deepbench_ops.backends.functional import NO_TF32, Call, with_implementation
from deepbench_ops.backends.onnx_models import graph
from deepbench_ops.backends.onnx_models.graph import OnnxModel
from deepbench_ops.backends.onnx_models.runtime import Runtime


class OpenVinoBackend(Runtime):
    """OpenVINO with its CPU plugin, and a compiled model and inference request for each kernel."""

    name = "openvino"
    lacking: ClassVar = {
        "tf32": NO_TF32,
        "bfloat16": "openvino's bfloat16 is not measured yet",
        "int8": "openvino's product of int8 returns 8 bits, and its quantised float models, which"
        " are another operation, are not measured yet",
    }
    notes: ClassVar = {"output": "the request's own, written anew by every call"}

    def loaded(self, model: OnnxModel, **hints: str) -> Call:
        """Return a call that leaves the outputs in its request; `infer` would copy them.

        hints: further properties of the plugin.
        """
        request = self.request(model, **hints)
        start, wait = request.start_async, request.wait

        def call() -> Any:
            start()
            wait()
            return request

        return with_implementation(call, partial(_primitives, request))

    def arrays(self, output: Any) -> Sequence[np.ndarray]:
        """Return copies of the request's outputs."""
        count = len(output.model_outputs)
        return [output.get_output_tensor(place).data.copy() for place in range(count)]

    @cached_property
    def _core(self) -> Any:
        return Core()

    def request(self, model: OnnxModel, **more: str) -> Any:
        """Compile a model for the lowest latency and return a request with its inputs set.

        A hint keeps float32 products in float32; on processors with bfloat16 units the plugin would
        otherwise use these. more: further properties of the plugin.
        """
        read = self._core.read_model(model.serialised)
        hints = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": str(self.settle_threads()),
            **more,
        }
        request = self._core.compile_model(read, "CPU", hints).create_infer_request()
        for name, values in model.feeds.items():
            request.set_tensor(name, Tensor(values, shared_memory=True))
        return request

    def lacks(self, error: Exception) -> bool:
        """Return whether `error` is the frontend's report of an unknown operator."""
        return "not support the following ONNX operations" in str(error)

    def versions(self) -> dict[str, str]:
        """Return the versions of openvino, onnx and numpy, and the number of threads of a
        request."""
        return {
            "framework": f"openvino {version('openvino')}",
            "openvino": str(get_version()),
            "onnx": graph.version(),
            "numpy": np.__version__,
            "request_threads": str(self.threads()),
        }


def _primitives(request: Any) -> str:
    """Return operations and primitives of a compiled model, such as "MatMul brgemm_avx512_f32"."""
    found = []
    for operation in request.get_compiled_model().get_runtime_model().get_ordered_ops():
        facts = {name: _text(value) for name, value in operation.get_rt_info().items()}
        primitive = facts.get("primitiveType", "")
        if primitive and not primitive.startswith("unknown"):
            found.append(f"{facts.get('layerType', '')} {primitive}".strip())
    return ", ".join(dict.fromkeys(found))


def _text(value: Any) -> str:
    return str(value.astype(str)) if hasattr(value, "astype") else str(value)
