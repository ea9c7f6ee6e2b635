"""Forward passes of the families with `Operands`, as ONNX models."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import TensorProto

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.onnx_models.graph import Graph, OnnxModel, Value
from deepbench_ops.errors import Unsupported

NO_GRADIENTS = "ONNX is a format of trained networks: it has no backward passes"


def model(
    drawn: Operands,
    operation: str,
    build: Callable[..., Any],
    shapes: Mapping[str, Sequence[int]],
    route: str,
    constants: Sequence[str] = (),
) -> OnnxModel:
    """Return the model whose graph `build` makes.

    build: function of a graph and of the operands as values, by name, that returns the outputs.
    shapes: shapes of the outputs by name, in the order in which `build` returns them; their type is
    that of the first operand. route: description for the record. constants: operands that are part
    of the model, such as weights; the others are inputs. Raises Unsupported for a backward pass.
    """
    if operation.endswith("backward"):
        raise Unsupported(NO_GRADIENTS)
    graph = Graph()
    arrays = drawn.of(operation)
    given = {
        name: (graph.constant if name in constants else graph.input)(name, values)
        for name, values in arrays.items()
    }
    made = build(graph, **given)
    outputs = made if isinstance(made, tuple) else (made,)
    dtype = next(iter(arrays.values())).dtype
    kinds = {
        value: (dtype, tuple(shape)) for value, shape in zip(outputs, shapes.values(), strict=True)
    }
    readers = {name: partial(_read, number) for number, name in enumerate(shapes)}
    return OnnxModel(
        serialised=graph.serialised(kinds),
        feeds=graph.feeds,
        read=readers.pop(""),
        notes={"route": f"ONNX {route}"},
        further=readers,
    )


def _read(number: int, outputs: Sequence[np.ndarray]) -> np.ndarray:
    return np.atleast_1d(np.asarray(outputs[number]))


def in_float32(graph: Graph, x: Value, precision: str, compute: Callable[[Value], Any]) -> Value:
    """Return compute(x), computed in float32 and rounded to the type of `precision`.

    Models in 16 bits do the same where the rounding of each step would lose too much. Models in
    bfloat16 are those in float32, see `OnnxModel.bfloat16`.
    """
    if precision in ("float32", "bfloat16"):
        found: Value = compute(x)
        return found
    wide = compute(graph.node("Cast", x, to=TensorProto.FLOAT))
    narrow: Value = graph.node("Cast", wide, to=TensorProto.FLOAT16)
    return narrow
