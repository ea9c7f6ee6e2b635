"""OpenVINO on the CPU: ONNX models, read by OpenVINO's frontend and compiled for latency."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

try:
    from openvino import Core, Shape, Tensor, Type, get_version, preprocess
except ImportError:  # 2023.0
    from openvino import preprocess
    from openvino.runtime import Core, Shape, Tensor, Type, get_version

from deepbench_ops.backends.functional import NO_TF32, Call, with_implementation
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.onnx_models import graph
from deepbench_ops.backends.onnx_models.graph import OnnxModel
from deepbench_ops.backends.onnx_models.runtime import Runtime
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.problem import Problem

PRODUCT_FLAGS = {
    "bfloat16": re.compile(r"\b(avx512_|amx_)?bf16\b"),
    "float16": re.compile(r"\b((avx512_|amx_)fp16|asimdhp)\b"),
}
"""Names of the instructions for products of 16 bits among the flags of a processor."""

CAPABILITIES = {"bfloat16": "BF16", "float16": "FP16"}
"""Names of the precisions of 16 bits among the capabilities of the plugin."""

HINTS = {"bfloat16": "bf16", "float16": "f16", "": "f32"}
"""Names of the same in a hint to the plugin; "" stands for all others."""

PRODUCTS = frozenset(("Convolution", "FullyConnected", "MatMul", "RNNCell", "RNNSeq"))
"""Names of the plugin's operations that multiply matrices."""

LACKING_WORDS = (
    "not support the following ONNX operations",
    "No conversion rule found for",
    "has unsupported data type",
)
"""Parts of OpenVINO's messages about operators and types that it does not have, by release."""


class OpenVinoBackend(Runtime):
    """OpenVINO with its CPU plugin, and a compiled model and inference request for each kernel."""

    name = "openvino"
    lacking_families: ClassVar = {
        "optimizer_step": "openvino runs inference: it refuses ONNX's operators of optimisers"
        " (ai.onnx.preview.training)",
        "model": "openvino is not measured on whole networks: these run in torch, mindspore and"
        " onnxruntime",
        "linear_attention": "openvino's linear attention (GatedDeltaNet in its CPU plugin) is not"
        " measured by this project yet",
        "grouped_gemm": "openvino's GroupedMatMul is not measured by this project yet",
        "moe_layer": "openvino's layer with a mixture of experts (MOE) is not measured by this"
        " project yet",
        "quantisation": "openvino's DynamicQuantizeLinear takes one range for a whole tensor; rows"
        " and blocks with scales are not measured by this project yet",
        "linear_cross_entropy": "openvino has no single operation for linear layer and"
        " cross-entropy",
        "kl_div": "openvino has no operation of the Kullback-Leibler divergence",
        "sampling": "openvino has no operation that draws by top-p: its Multinomial draws from all"
        " probabilities",
    }
    lacking: ClassVar = {
        "tf32": NO_TF32,
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

    def refuse(self, model: OnnxModel) -> None:
        """Raise Unsupported for products of 16 bits that the plugin computes in float32.

        Such are those of recurrent layers in float16, which it converts before and after.
        """
        precision = _precision_of_16_bits(model)
        if not precision:
            return
        for operation, primitive in _layers(self.request(model)):
            if operation in PRODUCTS and primitive.lower().endswith(("_f32", "_fp32")):
                raise Unsupported(
                    f"openvino's CPU plugin has no {operation} of {precision} on this processor:"
                    " it converts to float32"
                )

    def arrays(self, output: Any) -> Sequence[np.ndarray]:
        """Return copies of the request's outputs."""
        count = len(output.model_outputs)
        return [_array(output.get_output_tensor(place)) for place in range(count)]

    @cached_property
    def _core(self) -> Any:
        return Core()

    def request(self, model: OnnxModel, **more: str) -> Any:
        """Compile a model for the lowest latency and return a request with its inputs set.

        A hint keeps products in the precision of the model; on processors with bfloat16 units the
        plugin would otherwise use these. more: further properties of the plugin.
        """
        read = self._core.read_model(model.serialised, model.weights)
        if model.bfloat16:
            read = _in_bfloat16(read)
        hints = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": HINTS[_precision_of_16_bits(model)],
            "INFERENCE_NUM_THREADS": str(self.settle_threads()),
            **more,
        }
        request = self._core.compile_model(read, "CPU", hints).create_infer_request()
        for name, values in model.feeds.items():
            if model.bfloat16 and values.dtype == np.float32:
                tensor = Tensor(Type.bf16, Shape(values.shape))
                tensor.data.view(np.uint16)[...] = values.view(np.uint32) >> 16
                request.set_tensor(name, tensor)
            else:
                request.set_tensor(name, Tensor(values, shared_memory=True))
        return request

    def build(
        self, problem: Problem, precision: str, operation: str = "forward", seed: int = 0
    ) -> Kernel:
        """Prepare a kernel as `Backend.build` does.

        Raises Unsupported for 16 bits where the plugin or the processor lacks them: the plugin
        would compute in float32. It does so for bfloat16 on processors with AVX-512 alone, and
        2023.1 and 2023.3 list float16 on every processor.
        """
        if precision in CAPABILITIES:
            has = CAPABILITIES[precision] in self._core.get_property(
                "CPU", "OPTIMIZATION_CAPABILITIES"
            )
            if not (has and PRODUCT_FLAGS[precision].search(processor_flags())):
                raise Unsupported(f"openvino's CPU plugin has no {precision} on this processor")
        return super().build(problem, precision, operation, seed)

    def lacks(self, error: Exception) -> bool:
        """Return whether `error` is a report of a missing operator or type."""
        return any(words in str(error) for words in LACKING_WORDS)

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


@cache
def processor_flags() -> str:
    """Return the description of the processors that Linux gives, "" elsewhere."""
    try:
        return Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return ""


def _in_bfloat16(model: Any) -> Any:
    """Return a model whose floating-point inputs and outputs are bfloat16 instead of float32."""
    changed = preprocess.PrePostProcessor(model)
    for number, each in enumerate(model.inputs):
        if each.element_type == Type.f32:
            changed.input(number).tensor().set_element_type(Type.bf16)
    for number, each in enumerate(model.outputs):
        if each.element_type == Type.f32:
            changed.output(number).tensor().set_element_type(Type.bf16)
    return changed.build()


def _array(tensor: Any) -> np.ndarray:
    """Return a copy of a tensor's values, of bfloat16 as float32."""
    values: np.ndarray = tensor.data
    if tensor.element_type != Type.bf16:
        return values.copy()
    return (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def _precision_of_16_bits(model: OnnxModel) -> str:
    """Return the precision of a model in 16 bits, "" for others."""
    if model.bfloat16:
        return "bfloat16"
    half = any(values.dtype == np.float16 for values in model.feeds.values())
    return "float16" if half else ""


def _layers(request: Any) -> Iterator[tuple[str, str]]:
    """Yield the operations of a compiled model, each with its primitive, "" where it has none."""
    for layer in request.get_compiled_model().get_runtime_model().get_ordered_ops():
        facts = {name: _text(value) for name, value in layer.get_rt_info().items()}
        yield facts.get("layerType", ""), facts.get("primitiveType", "")


def _primitives(request: Any) -> str:
    """Return operations and primitives of a compiled model, such as "MatMul brgemm_avx512_f32"."""
    named = (
        f"{operation} {primitive}".strip()
        for operation, primitive in _layers(request)
        if primitive and not primitive.startswith("unknown")
    )
    return ", ".join(dict.fromkeys(named))


def _text(value: Any) -> str:
    return str(value.astype(str)) if hasattr(value, "astype") else str(value)
