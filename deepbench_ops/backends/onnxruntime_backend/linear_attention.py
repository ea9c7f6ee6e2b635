"""Linear attention in ONNX Runtime: its operator GatedDeltaNet, which has both rules."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import linear_attention
from deepbench_ops.backends.families.linear_attention import STATE
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.onnx_models import runtime
from deepbench_ops.backends.onnx_models.graph import MICROSOFT, Graph, OnnxModel
from deepbench_ops.backends.onnx_models.runtime import Runtime
from deepbench_ops.problems.linear_attention import LinearAttention

OPERATOR = "GatedDeltaNet"


def function(
    backend: Runtime, problem: LinearAttention, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the forward pass."""
    return runtime.function(_model, backend, problem, drawn, precision, operation)


def _model(problem: LinearAttention, drawn: Operands, precision: str, operation: str) -> OnnxModel:
    p, graph = problem, Graph()

    def given(name: str) -> Any:
        return graph.input(name, drawn[name])

    state = graph.input(STATE, drawn[STATE].swapaxes(-1, -2))
    outputs, after = graph.node(
        OPERATOR,
        *(given("queries"), given("keys"), given("values"), None, given("decays")),
        *(given("rates") if p.corrects else None, state),
        outputs=2,
        domain=MICROSOFT,
        update_rule=p.rule,
        scale=linear_attention.scale(p),
    )
    shapes = {
        outputs: (drawn["values"].dtype, drawn["values"].shape),
        after: (np.float32, (p.batch, p.value_heads, p.value_size, p.size)),
    }
    return OnnxModel(
        serialised=graph.serialised(shapes),
        feeds=graph.feeds,
        read=lambda found: np.asarray(found[0]),
        further={STATE: lambda found: np.asarray(found[1]).swapaxes(-1, -2)},
        notes={"route": f"ONNX {MICROSOFT}.{OPERATOR}, states as (value, key)"},
    )
