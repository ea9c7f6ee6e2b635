"""Quantisation in ONNX Runtime: QuantizeLinear of rows, with scales that the model computes."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from deepbench_ops.backends.families import low_precision as formats
from deepbench_ops.backends.families import quantisation as family
from deepbench_ops.backends.families.quantisation import QuantisationInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.onnx_models.graph import OnnxModel
from deepbench_ops.backends.onnx_models.runtime import Runtime
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.quantisation import Quantisation

OPSET, IR_VERSION = 21, 10
"""First versions in which a model can say the output type of QuantizeLinear."""

TYPES = {"int8": TensorProto.INT8, "fp8": TensorProto.FLOAT8E4M3FN}


def function(
    backend: Runtime,
    problem: Quantisation,
    drawn: QuantisationInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return the quantisation of rows; raise Unsupported for blocks and for the norm."""
    if not precision.endswith("_row"):
        raise Unsupported(f"onnxruntime has no operator for codes and scales of {precision}")
    if operation != "forward":
        raise Unsupported("onnxruntime has no norm that quantises its output")
    model = _model(problem, drawn, precision)
    backend.refuse(model)

    def numbers(output: Any) -> np.ndarray:
        codes, scale = backend.arrays(output)
        return formats.numbers_of(codes, family.KINDS[precision]) * scale.reshape(problem.m, 1)

    return Function(
        compile=lambda: backend.loaded(model),
        read=numbers,
        further={
            family.SCALES: lambda output: backend.arrays(output)[1].reshape(problem.m, 1),
        },
        notes={**model.notes, **backend.notes},
    )


def _model(problem: Quantisation, drawn: QuantisationInputs, precision: str) -> OnnxModel:
    kind = family.KINDS[precision]
    made: dict[str, Any] = {"output_dtype": TYPES[kind]}
    nodes = [
        helper.make_node("Cast", ["x"], ["wide"], to=TensorProto.FLOAT),
        helper.make_node("Abs", ["wide"], ["size"]),
        helper.make_node("ReduceMax", ["size", "axis"], ["largest"], keepdims=0),
        helper.make_node("Div", ["largest", "limit"], ["scale"]),
        helper.make_node(
            "QuantizeLinear",
            ["wide", "scale"],
            ["codes"],
            axis=0,
            **made,
        ),
    ]
    limit = np.array(formats.LARGEST[kind], np.float32)
    graph = helper.make_graph(
        nodes,
        "deepbench",
        [helper.make_tensor_value_info("x", TensorProto.BFLOAT16, [problem.m, problem.n])],
        [
            helper.make_tensor_value_info("codes", TYPES[kind], [problem.m, problem.n]),
            helper.make_tensor_value_info("scale", TensorProto.FLOAT, [problem.m]),
        ],
        [
            numpy_helper.from_array(np.array([1], np.int64), "axis"),
            numpy_helper.from_array(limit, "limit"),
        ],
    )
    domains = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION)
    return OnnxModel(
        serialised=bytes(model.SerializeToString()),
        feeds={"x": drawn.x},
        read=lambda outputs: np.asarray(outputs[0]),
        notes={
            "route": "ONNX Cast to float32, Abs, ReduceMax, Div and QuantizeLinear along rows",
            "activations": "bfloat16",
        },
        narrow=frozenset("x"),
    )
