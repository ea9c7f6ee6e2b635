"""ONNX Runtime on the CPU: ONNX models in sessions, as users run them."""

import ctypes
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import onnx
import onnxruntime as ort

from deepbench_ops.backends.functional import NO_TF32, Call, with_implementation
from deepbench_ops.backends.onnx_models import graph
from deepbench_ops.backends.onnx_models.graph import OnnxModel
from deepbench_ops.backends.onnx_models.runtime import Runtime
from deepbench_ops.errors import Unsupported

PROVIDER = "CPUExecutionProvider"

PRODUCTS = frozenset(
    ("Conv", "FusedConv", "FusedGemm", "FusedMatMul", "GRU", "Gemm", "LSTM", "MatMul", "MoE", "RNN")
)
"""Operators that multiply matrices."""

LACKING_WORDS = (
    "NOT_IMPLEMENTED",
    "is invalid",
    "INVALID_GRAPH",
    "is under development",
    "is not a registered function/op",
    "Unsupported model IR version",
)
"""Parts of onnxruntime's messages about operators and versions that it does not have."""


class OnnxRuntimeBackend(Runtime):
    """ONNX Runtime with its CPU provider, and a session for each kernel."""

    name = "onnxruntime"
    lacking_families: ClassVar = {
        "optimizer_step": "onnxruntime runs inference: it refuses ONNX's operators of optimisers"
        " (ai.onnx.preview.training)",
        "model": "onnxruntime runs networks that torch exports: measure them with torch and"
        " DEEPBENCH_EXECUTION=onnxruntime",
        "grouped_gemm": "onnxruntime has no product of groups of different sizes: its operator MoE"
        " computes a whole layer (moe_layer)",
        "linear_cross_entropy": "onnxruntime has no single operator for linear layer and"
        " cross-entropy",
        "kl_div": "onnxruntime has no operator of the Kullback-Leibler divergence",
        "sampling": "onnxruntime has no operator that draws by top-p from given probabilities: its"
        " Sampling runs a whole decoder",
    }
    lacking: ClassVar = {
        "tf32": NO_TF32,
        "bfloat16": f"onnxruntime's {PROVIDER} has no bfloat16 products",
    }

    def loaded(self, model: OnnxModel) -> Call:
        """Return a call on inputs that are already values of the runtime."""
        session = self.session(model.serialised)
        feeds = {
            name: (_of_bfloat16 if name in model.narrow else ort.OrtValue.ortvalue_from_numpy)(x)
            for name, x in model.feeds.items()
        }
        if model.in_place:
            call = _bound(session, feeds, model.in_place)
        else:
            call = partial(session.run_with_ort_values, None, feeds)
        return with_implementation(call, partial(self.operators, model.serialised))

    def refuse(self, model: OnnxModel) -> None:
        """Raise Unsupported for products of float16 that the runtime computes in float32, and for
        releases that take no bfloat16.

        Where the provider has no kernel of float16, the compiled model has conversions around one
        of float32. Operators without products compute in float32 by definition.
        """
        if model.narrow and not hasattr(ort.OrtValue, "ortvalue_from_numpy_with_onnx_type"):
            raise Unsupported(f"onnxruntime {ort.__version__} cannot be given numbers of bfloat16")
        if all(values.dtype != np.float16 for values in model.feeds.values()):
            return
        own = {node.name for node in _nodes(onnx.load_from_string(model.serialised).graph)}
        try:
            made = list(_nodes(self._optimised(model.serialised)[1]))
        except Exception as error:
            if self.lacks(error):
                return  # the call that compiles it says so
            raise
        converts = any(node.op_type == "Cast" and node.name not in own for node in made)
        if converts and any(node.op_type in PRODUCTS for node in made):
            raise Unsupported(
                f"onnxruntime's {PROVIDER} has no products of float16 on this processor: it"
                " converts to float32"
            )

    def arrays(self, output: Any) -> Sequence[np.ndarray]:
        """Return copies of the outputs, of bfloat16 as float32."""
        return [_array(value) for value in output]

    def operators(self, serialised: bytes) -> str:
        """Return the provider and the operators of a model after optimisation, such as
        "CPUExecutionProvider: FusedConv". This compiles the model again."""
        provider, graph = self._optimised(serialised)
        names = (f"{node.domain}.{node.op_type}".lstrip(".") for node in graph.node)
        return f"{provider}: {', '.join(dict.fromkeys(names))}"

    def _optimised(self, serialised: bytes) -> tuple[str, Any]:
        """Return the provider and the graph of a model as the runtime compiles it."""
        with TemporaryDirectory() as folder:
            path = Path(folder, "optimised.onnx")
            provider = self.session(serialised, path).get_providers()[0]
            return provider, onnx.load(path).graph

    def session(self, serialised: bytes, optimised: Path | None = None) -> Any:
        """Compile a model with all optimisations of the runtime, its default.

        optimised: file to which the optimised model is written.
        """
        options = ort.SessionOptions()
        if optimised is not None:
            options.optimized_model_filepath = str(optimised)
        options.intra_op_num_threads = self.settle_threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # failures are raised; a session would also print them
        return ort.InferenceSession(serialised, options, providers=[PROVIDER])

    def lacks(self, error: Exception) -> bool:
        """Return whether `error` is a report of a missing operator, type or model version."""
        text = str(error)
        return any(words in text for words in LACKING_WORDS)

    def versions(self) -> dict[str, str]:
        """Return the versions of onnxruntime, onnx and numpy, onnxruntime's build, and the
        number of threads of a session."""
        return {
            "framework": f"onnxruntime {ort.__version__}",
            "onnxruntime": str(ort.__version__),
            "onnxruntime_build": " ".join(getattr(ort, "get_build_info", str)().split()),
            "onnx": graph.version(),
            "numpy": np.__version__,
            "session_threads": str(self.threads()),
        }


def _nodes(graph: Any) -> Iterator[Any]:
    """Yield the nodes of a graph and of those within it, such as the step of a Scan."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _nodes(attribute.g)


def _of_bfloat16(values: np.ndarray) -> Any:
    """Return float32 numbers with values of bfloat16 as a value of that type."""
    bits = (np.ascontiguousarray(values).view(np.uint32) >> 16).astype(np.uint16)
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, onnx.TensorProto.BFLOAT16)


def _array(value: Any) -> np.ndarray:
    if value.data_type() != "tensor(bfloat16)":
        return np.array(value.numpy())
    shape = value.shape()
    bits = np.ctypeslib.as_array(
        (ctypes.c_uint16 * math.prod(shape)).from_address(value.data_ptr())
    )
    return (bits.astype(np.uint32) << 16).view(np.float32).reshape(shape)


def _bound(session: Any, feeds: Mapping[str, Any], in_place: Mapping[str, str]) -> Call:
    """Return a call with bound inputs, and with outputs in the memory of some of them."""
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_ortvalue_input(name, value)
    for each in session.get_outputs():
        if each.name in in_place:
            binding.bind_ortvalue_output(each.name, feeds[in_place[each.name]])
        else:
            binding.bind_output(each.name)

    def call() -> Any:
        session.run_with_iobinding(binding)
        return binding.get_outputs()

    return call
