"""Construction of an ONNX model: a graph, and values that support arithmetic like arrays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
"""Versions of 2022, which every listed release of the runtimes can read. A graph may have later
ones."""

MICROSOFT = "com.microsoft"
"""Domain of onnxruntime's own operators; openvino can read some of them."""

TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float16): TensorProto.FLOAT16,
    np.dtype(np.int8): TensorProto.INT8,
    np.dtype(np.uint8): TensorProto.UINT8,
    np.dtype(np.int32): TensorProto.INT32,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.bool_): TensorProto.BOOL,
}


@dataclass(frozen=True)
class OnnxModel:
    """A serialised model and its inputs."""

    serialised: bytes
    feeds: Mapping[str, np.ndarray]
    """C-contiguous inputs by name."""
    read: Callable[[Sequence[np.ndarray]], np.ndarray]
    """Function from the model's outputs to the array that is compared with the reference."""
    notes: Mapping[str, str]
    further: Mapping[str, Callable[[Sequence[np.ndarray]], np.ndarray]] = field(
        default_factory=dict
    )
    """Functions from the model's outputs to the arrays of further outputs, by the family's
    names."""
    weights: bytes = b""
    """Constants, of a model in a format that has them in a file of their own."""
    in_place: Mapping[str, str] = field(default_factory=dict)
    """Outputs that are written into the memory of an input, each with that input."""
    narrow: frozenset[str] = frozenset()
    """Inputs that are bfloat16 in the model; their `feeds` are float32 with values of it."""
    bfloat16: bool = False
    """Whether the runtime reads, computes and writes bfloat16 where the model says float32."""


class Graph:
    """A graph under construction: nodes in the order of computation, constants and inputs."""

    def __init__(self, opset: int = OPSET, ir_version: int = IR_VERSION) -> None:
        self.opset = opset
        self.ir_version = ir_version
        self.domains: set[str] = set()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.feeds: dict[str, np.ndarray] = {}

    def input(self, name: str, values: np.ndarray) -> "Value":
        """Add an input with these values, copied where they are not C-contiguous; return it."""
        self.feeds[name] = np.ascontiguousarray(values)
        return self.declared(name, values.dtype, values.shape)

    def declared(self, name: str, dtype: Any, shape: Sequence[int]) -> "Value":
        """Add an input of this type and shape, without values; return it."""
        self.inputs.append(_described(name, dtype, shape))
        return Value(self, name)

    def constant(self, name: str, values: np.ndarray) -> "Value":
        """Add a constant to the model; return it."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return Value(self, name)

    def node(self, kind: str, *inputs: "Value | None", outputs: int = 1, **more: Any) -> Any:
        """Add a node; return its output, or a list of `outputs` outputs.

        kind: name of the operator. more: attributes, and `domain` for operators that are not
        ONNX's. Each node gets a name: onnxruntime 1.18.1 to 1.21.0 derives the names of fused nodes
        from them, and refuses a model in which two are the same.
        """
        own = f"{kind}_{len(self.nodes)}"
        names = [f"{own}_{number}" for number in range(outputs)]
        taken = ["" if value is None else value.name for value in inputs]
        self.domains.add(more.get("domain", ""))
        self.nodes.append(helper.make_node(kind, taken, names, name=own, **more))
        found = [Value(self, name) for name in names]
        return found[0] if outputs == 1 else found

    def proto(self, name: str, outputs: Mapping["Value", tuple[Any, Sequence[int]]]) -> Any:
        """Return the graph in ONNX's format. outputs: (type, shape) of each output."""
        described = [_described(value.name, *kind) for value, kind in outputs.items()]
        return helper.make_graph(self.nodes, name, self.inputs, described, self.constants)

    def serialised(self, outputs: Mapping["Value", tuple[Any, Sequence[int]]]) -> bytes:
        """Return the model as the bytes of an ONNX file. outputs: (type, shape) of each output."""
        versions = {"": self.opset} | dict.fromkeys(self.domains - {""}, 1)
        domains = [helper.make_opsetid(name, version) for name, version in versions.items()]
        model = helper.make_model(
            self.proto("deepbench", outputs), opset_imports=domains, ir_version=self.ir_version
        )
        return bytes(model.SerializeToString())


@dataclass(frozen=True)
class Value:
    """A value of a graph; ``+ - *`` and slices of the last of two axes add nodes to the graph."""

    graph: Graph = field(hash=False, compare=False)
    name: str

    def __add__(self, other: "Value") -> "Value":
        return self._with("Add", other)

    def __sub__(self, other: "Value") -> "Value":
        return self._with("Sub", other)

    def __mul__(self, other: "Value") -> "Value":
        return self._with("Mul", other)

    def _with(self, kind: str, other: "Value") -> "Value":
        found: Value = self.graph.node(kind, self, other)
        return found

    def __getitem__(self, where: tuple[slice, slice]) -> "Value":
        last = where[1]
        bounds = (last.start or 0, np.iinfo(np.int64).max if last.stop is None else last.stop, -1)
        name = f"slice_{len(self.graph.constants)}"
        given = [
            self.graph.constant(f"{name}_{part}", np.array([number], np.int64))
            for part, number in zip(("from", "to", "axis"), bounds, strict=True)
        ]
        found: Value = self.graph.node("Slice", self, *given)
        return found


def _described(name: str, dtype: Any, shape: Sequence[int]) -> Any:
    return helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], list(shape))


def version() -> str:
    """Return the version of the onnx library, which writes the models."""
    return str(onnx.__version__)
