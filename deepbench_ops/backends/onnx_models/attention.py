"""Attention as ONNX's operator of that name, which opset 23 brought; it has no gradient."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import AttentionInputs
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.attention import FORCED

OPSET, IR_VERSION = 23, 11
"""Of 2025: releases of runtimes before it cannot read the model."""


def model(problem: Any, drawn: AttentionInputs, precision: str, operation: str) -> OnnxModel:
    """Return attention of operands that are fed.

    Its `is_causal` lets the first query see the first key, so that the mask of fewer queries than
    keys is fed as such.
    """
    if operation == "backward":
        raise Unsupported("ONNX describes no gradient of attention")
    if operation in FORCED:
        raise Unsupported(f"ONNX names no {FORCED[operation]} implementation of attention")
    graph = Graph(OPSET, IR_VERSION)
    given = [graph.input(name, getattr(drawn, name)) for name in "qkv"]
    square = problem.sq == problem.skv
    if problem.causal and not square:
        given.append(graph.input("mask", attention.mask(problem.sq, problem.skv)))
    output = graph.node("Attention", *given, is_causal=int(problem.causal and square))
    shape = (problem.b, problem.hq, problem.sq, problem.dv)
    return OnnxModel(
        serialised=graph.serialised({output: (drawn.q.dtype, shape)}),
        feeds=graph.feeds,
        read=lambda found: np.asarray(found[0]),
        notes={"route": "ONNX Attention of opset 23", "layout": "(batch, head, token, number)"},
    )
