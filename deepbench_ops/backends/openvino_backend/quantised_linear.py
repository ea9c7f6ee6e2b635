"""Quantised linear layers in OpenVINO: int4 weights that the CPU plugin keeps in 4 bits."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from deepbench_ops.backends.families.low_precision import packed_pairs
from deepbench_ops.backends.families.quantised_linear import QuantisedLinearInputs
from deepbench_ops.backends.functional import Call, Function
from deepbench_ops.backends.onnx_models.graph import OnnxModel, version
from deepbench_ops.backends.openvino_backend.backend import OpenVinoBackend
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.quantised_linear import QuantisedLinear

OPSET, IR_VERSION = 21, 10
"""First versions with DequantizeLinear of int4 in blocks."""

FLOAT_ACTIVATIONS = {"DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
"""Property that keeps activations in float32; the plugin would otherwise quantise them to 8
bits."""


def function(
    backend: OpenVinoBackend,
    problem: QuantisedLinear,
    drawn: QuantisedLinearInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return the layer with int4 weights; raise Unsupported for all others, and for an onnx without
    this type."""
    if (precision, operation) != ("float32_int4", "forward"):
        raise Unsupported(
            "openvino is measured with int4 weights and float32 activations only: for these its CPU"
            " plugin multiplies the weights in 4 bits"
        )
    if not hasattr(TensorProto, "INT4"):
        raise Unsupported(f"onnx {version()} has no int4, the type of the weights: 1.16 has")
    found = _model(problem, drawn)

    def loaded() -> Call:
        try:
            return backend.loaded(found, **FLOAT_ACTIVATIONS)
        except RuntimeError as error:
            text = " ".join(str(error).split())[-160:]
            raise Unsupported(
                f"this release of openvino cannot compile int4 weights: {text}"
            ) from None

    return Function(
        compile=loaded,
        read=lambda output: found.read(backend.arrays(output)),
        notes={**found.notes, **backend.notes},
    )


def _model(problem: QuantisedLinear, drawn: QuantisedLinearInputs) -> OnnxModel:
    """Return a model of DequantizeLinear and Gemm, which the plugin fuses to one operation."""
    m, n, k = problem.m, problem.n, problem.k
    packed = packed_pairs(drawn.w.codes).tobytes()
    graph = helper.make_graph(
        [
            helper.make_node(
                "DequantizeLinear", ["codes", "scales"], ["w"], axis=1, block_size=problem.group
            ),
            helper.make_node("Gemm", ["x", "w"], ["y"], transB=1),
        ],
        "deepbench",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [m, k])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [m, n])],
        [
            helper.make_tensor("codes", TensorProto.INT4, [n, k], packed, raw=True),
            numpy_helper.from_array(drawn.w.scales, "scales"),
        ],
    )
    domains = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION)
    return OnnxModel(
        serialised=bytes(model.SerializeToString()),
        feeds={"x": drawn.activations},
        read=lambda outputs: np.asarray(outputs[0]),
        notes={
            "route": "ONNX DequantizeLinear of int4 in blocks and Gemm, which the CPU plugin makes"
            " one FullyConnected with weights in 4 bits",
            "activations": "float32",
        },
    )
