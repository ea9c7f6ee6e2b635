"""Mixture-of-experts layers in ONNX Runtime: a product for the router, then the operator MoE."""

from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from deepbench_ops.backends.families.moe_layer import MoeInputs
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.onnx_models import runtime
from deepbench_ops.backends.onnx_models.forward import NO_GRADIENTS
from deepbench_ops.backends.onnx_models.graph import IR_VERSION, OPSET, TYPES, OnnxModel
from deepbench_ops.backends.onnx_models.runtime import Runtime
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.moe_layer import MoeLayer

DOMAIN = "com.microsoft"
SWIGLU_ATTRIBUTES = {"swiglu_fusion": 1, "activation_alpha": 1.0, "activation_beta": 0.0}
"""Attributes of MoE: rows of gate and up alternate in one matrix, and the activation is plain
SwiGLU, without the constants of gpt-oss."""


def function(
    backend: Runtime, problem: MoeLayer, drawn: MoeInputs, precision: str, operation: str
) -> Function:
    """Return the forward pass with constant weights; raise Unsupported for other operations and for
    layers without a gate."""
    if operation == "backward":
        raise Unsupported(NO_GRADIENTS)
    if drawn.gate is None:
        raise Unsupported(f"onnxruntime's MoE has no {problem.activation}")
    return runtime.function(_model, backend, problem, drawn, precision, operation)


def _model(problem: MoeLayer, drawn: MoeInputs, precision: str, operation: str) -> OnnxModel:
    assert drawn.gate is not None, "only SwiGLU comes here"
    p = problem
    both = np.stack([drawn.gate, drawn.up], axis=2).reshape(p.experts, -1, p.hidden)
    constants = {"router": np.ascontiguousarray(drawn.router.T), "first": both, "last": drawn.down}
    more: dict[str, Any] = {"k": p.top_k, "normalize_routing_weights": 1, **SWIGLU_ATTRIBUTES}
    nodes = [
        helper.make_node("MatMul", ["x", "router"], ["logits"]),
        helper.make_node(
            "MoE",
            ["x", "logits", "first", "", "last"],
            ["y"],
            domain=DOMAIN,
            activation_type="swiglu",
            **more,
        ),
    ]
    kind = TYPES[drawn.x.dtype]
    ends = [helper.make_tensor_value_info(name, kind, [p.tokens, p.hidden]) for name in "xy"]
    held = [numpy_helper.from_array(values, name) for name, values in constants.items()]
    graph = helper.make_graph(nodes, "deepbench", ends[:1], ends[1:], held)
    domains = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION)
    return OnnxModel(
        serialised=bytes(model.SerializeToString()),
        feeds={"x": drawn.x},
        read=lambda outputs: np.asarray(outputs[0]),
        notes={
            "route": f"ONNX MatMul for the router and {DOMAIN}.MoE, gate and up in one matrix;"
            " weights constant"
        },
    )
