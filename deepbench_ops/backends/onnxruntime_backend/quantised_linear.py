"""Quantised linear layers in ONNX Runtime: its own operators, and ONNX's operators for int8."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from deepbench_ops.backends import vnni
from deepbench_ops.backends.families.low_precision import packed_pairs
from deepbench_ops.backends.families.quantised_linear import QuantisedLinearInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.onnx_models.graph import IR_VERSION, OPSET, OnnxModel
from deepbench_ops.backends.onnx_models.runtime import Runtime
from deepbench_ops.backends.onnx_models.runtime import function as of_model
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.quantised_linear import QuantisedLinear

DOMAIN = "com.microsoft"
KINDS = {"float32": TensorProto.FLOAT, "bfloat16": TensorProto.BFLOAT16}
INT4_GROUPS = (16, 32, 64, 128, 256)
"""Block sizes of MatMulNBits, powers of two from 16 on."""


def function(
    backend: Runtime,
    problem: QuantisedLinear,
    drawn: QuantisedLinearInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return one layer as a model with constant weights.

    Raises Unsupported for formats and operations without a kernel.
    """
    if operation == "dequantised_forward":
        raise Unsupported(
            "onnxruntime replaces a widened constant and its product by MatMulNBits, or widens the"
            " constant when it compiles: no call widens and multiplies"
        )
    make = {
        ("forward", "float32_int4"): _of_four_bits,
        ("forward", "int8_row"): _of_rows,
        ("fused_forward", "int8_row"): _fused,
    }.get((operation, precision))
    if make is None:
        raise Unsupported(f"onnxruntime has no product of {precision} on the CPU")
    return of_model(make, backend, problem, drawn, precision, operation)


def _of_four_bits(problem: QuantisedLinear, drawn: QuantisedLinearInputs, *_: str) -> OnnxModel:
    if problem.group not in INT4_GROUPS:
        raise Unsupported(f"MatMulNBits has blocks of {INT4_GROUPS}, not of {problem.group}")
    groups = problem.k // problem.group
    unsigned = (drawn.w.codes + np.int8(8)).astype(np.uint8)
    packed = packed_pairs(unsigned).reshape(problem.n, groups, problem.group // 2)
    constants = {"w": packed, "scales": drawn.w.scales.reshape(problem.n, groups)}
    sizes: dict[str, Any] = {"K": problem.k, "N": problem.n, "bits": 4, "block_size": problem.group}
    node = helper.make_node("MatMulNBits", ["x", "w", "scales"], ["y"], domain=DOMAIN, **sizes)
    return _model(problem, drawn, [node], constants, f"{DOMAIN}.MatMulNBits, products in float32")


def _of_rows(problem: QuantisedLinear, drawn: QuantisedLinearInputs, *_: str) -> OnnxModel:
    nodes = [
        helper.make_node("Cast", ["x"], ["given"], to=TensorProto.FLOAT),
        helper.make_node("Abs", ["given"], ["size"]),
        helper.make_node("ReduceMax", ["size"], ["largest"], axes=[1], keepdims=1),
        helper.make_node("Div", ["largest", "limit"], ["step"]),
        helper.make_node("Div", ["given", "step"], ["quotient"]),
        helper.make_node("Round", ["quotient"], ["whole"]),
        helper.make_node("Cast", ["whole"], ["codes"], to=TensorProto.INT8),
        helper.make_node("MatMulInteger", ["codes", "w"], ["sums"]),
        helper.make_node("Cast", ["sums"], ["wide"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["wide", "step"], ["of_rows"]),
        helper.make_node("Mul", ["of_rows", "scales"], ["product"]),
        helper.make_node("Cast", ["product"], ["y"], to=TensorProto.BFLOAT16),
    ]
    constants = {
        "w": np.ascontiguousarray(drawn.w.codes.T),
        "scales": drawn.w.scales[:, 0],
        "limit": np.array(127, np.float32),
    }
    route = (
        "ONNX MatMulInteger; before it Cast to float32, Abs, ReduceMax, Div and Round of each row"
        " of x, after it two Mul with the scales and Cast to bfloat16"
    )
    return _model(problem, drawn, nodes, constants, route, "bfloat16")


def _fused(problem: QuantisedLinear, drawn: QuantisedLinearInputs, *_: str) -> OnnxModel:
    if not vnni.adds_in_32_bits():
        raise Unsupported(
            "DynamicQuantizeMatMul adds pairs of 8-bit products in 16 bits on x86 processors"
            " without VNNI, where large sums are cut off"
        )
    constants = {"w": np.ascontiguousarray(drawn.w.codes.T), "scales": drawn.w.scales[:, 0]}
    node = helper.make_node("DynamicQuantizeMatMul", ["x", "w", "scales"], ["y"], domain=DOMAIN)
    return _model(problem, drawn, [node], constants, f"{DOMAIN}.DynamicQuantizeMatMul")


def _model(
    problem: QuantisedLinear,
    drawn: QuantisedLinearInputs,
    nodes: list[Any],
    constants: dict[str, np.ndarray],
    route: str,
    kind: str = "float32",
) -> OnnxModel:
    """Return the model with these nodes. kind: type of input x and output y."""
    described = [
        helper.make_tensor_value_info(name, KINDS[kind], [problem.m, columns])
        for name, columns in (("x", problem.k), ("y", problem.n))
    ]
    held = [numpy_helper.from_array(values, name) for name, values in constants.items()]
    graph = helper.make_graph(nodes, "deepbench", described[:1], described[1:], held)
    domains = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION)
    return OnnxModel(
        serialised=bytes(model.SerializeToString()),
        feeds={"x": drawn.activations},
        read=lambda outputs: np.asarray(outputs[0]),
        notes={"route": f"{route}; weights constant", "activations": kind},
        narrow=frozenset("x" if kind == "bfloat16" else ""),
    )
