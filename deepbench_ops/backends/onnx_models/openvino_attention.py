"""Attention as OpenVINO's operator ScaledDotProductAttention (2023.3 and later), in its own format.

OpenVINO reads ONNX's Attention from 2026.2 on, and repeats the heads of keys in a reference loop.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from deepbench_ops.backends.families import attention
from deepbench_ops.backends.families.attention import AttentionInputs
from deepbench_ops.backends.onnx_models.graph import OnnxModel
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.attention import FORCED

OPERATOR = "ScaledDotProductAttention"
TYPES = {
    np.dtype(np.float32): ("f32", "FP32"),
    np.dtype(np.float16): ("f16", "FP16"),
    np.dtype(np.int64): ("i64", "I64"),
}
"""Names of types in the format, of operands and of ports."""

KEYS, VALUES = 1, 2
"""Places of keys and values among the inputs of the operator."""

BOUNDS = 4
"""Number of constants of a slice: begin, end, step and axis."""


def model(problem: Any, drawn: AttentionInputs, precision: str, operation: str) -> OnnxModel:
    """Return a forward pass with all operands as inputs.

    The operator has no groups: all query heads that share a head of keys are one matrix, and the
    mask is repeated for each of them. It is added to the scores: 2024.1 computes booleans wrong.
    The values of latent attention are cut out of the keys in the network.

    Raises Unsupported for a gradient, and for an operation that names an implementation.
    """
    if operation == "backward":
        raise Unsupported("OpenVINO has no gradient of attention")
    if operation in FORCED:
        raise Unsupported(f"OpenVINO names no {FORCED[operation]} implementation of attention")
    p = problem
    rows = p.hq // p.hkv * p.sq
    feeds = {
        "q": np.ascontiguousarray(drawn.q).reshape(p.b, p.hkv, rows, p.d),
        "k": np.ascontiguousarray(drawn.k),
    }
    latent = p.latent
    if not latent:
        feeds["v"] = np.ascontiguousarray(drawn.v)
    route = f"OpenVINO's {OPERATOR} of opset 13"
    own_mask = p.causal and p.sq == p.skv == rows
    if p.causal and not own_mask:
        seen = np.tile(attention.mask(p.sq, p.skv), (p.hq // p.hkv, 1))
        feeds["mask"] = np.where(seen, 0, -np.inf).astype(drawn.q.dtype)
        size = feeds["mask"].nbytes / 2**20
        route += f", a mask of {size:.3g} MiB is fed and added to all scores: no pair is skipped"
    return OnnxModel(
        serialised=_network(feeds, own_mask, (p.b, p.hkv, rows, p.dv), latent),
        weights=_bounds(p.dv) if latent else b"",
        feeds=feeds,
        read=lambda found: np.asarray(found[0]).reshape(p.b, p.hq, p.sq, p.dv),
        notes={
            "route": route,
            "layout": "(batch, head of keys, token of all its query heads, number)",
        },
    )


def _network(
    feeds: Mapping[str, np.ndarray], causal: bool, shape: Sequence[int], latent: bool
) -> bytes:
    """Return a network of one operator in OpenVINO's XML format. shape: that of the output.

    latent: whether the values are cut out of the keys, with `_bounds` as constants.
    """
    network = Element("net", name="deepbench", version="11")
    layers, edges = SubElement(network, "layers"), SubElement(network, "edges")
    places = [(name, values.dtype, values.shape) for name, values in feeds.items()]
    count = len(places)
    for number, (name, dtype, sizes) in enumerate(places):
        layer = _layer(layers, number, name, "Parameter", "opset1")
        text = ",".join(map(str, sizes))
        SubElement(layer, "data", shape=text, element_type=TYPES[dtype][0])
        _port(SubElement(layer, "output"), 0, dtype, sizes, name)
    dtype = places[0][1]
    sources = [(number, 0) for number in range(count)]
    if latent:
        sources.insert(VALUES, _values(layers, edges, places[KEYS], shape[-1], count + 2))
        places.insert(VALUES, ("v", dtype, (*places[KEYS][2][:-1], shape[-1])))
    layer = _layer(layers, count, "operator", OPERATOR, "opset13")
    SubElement(layer, "data", causal=str(causal).lower())
    taken = SubElement(layer, "input")
    for number, (source, (_, of_operand, sizes)) in enumerate(zip(sources, places, strict=True)):
        _port(taken, number, of_operand, sizes)
        _edge(edges, source, (count, number))
    made = len(places)
    _port(SubElement(layer, "output"), made, dtype, shape, "o")
    result = _layer(layers, count + 1, "result", "Result", "opset1")
    _port(SubElement(result, "input"), 0, dtype, shape)
    _edge(edges, (count, made), (count + 1, 0))
    return tostring(network, encoding="utf-8", xml_declaration=True)


def _bounds(size: int) -> bytes:
    """Return begin, end, step and axis of the values in a key, as the constants of a slice."""
    return np.array([0, size, 1, -1], np.int64).tobytes()


def _values(
    layers: Element,
    edges: Element,
    keys: tuple[str, np.dtype[Any], Sequence[int]],
    size: int,
    number: int,
) -> tuple[int, int]:
    """Add a slice, the first `size` numbers of each key; return its layer and its port.

    number: that of the next layer.
    """
    whole = np.dtype(np.int64)
    cut = number + BOUNDS
    for place in range(BOUNDS):
        layer = _layer(layers, number + place, f"bound_{place}", "Const", "opset1")
        place_in_file = {"offset": str(place * whole.itemsize), "size": str(whole.itemsize)}
        SubElement(layer, "data", {"element_type": TYPES[whole][0], "shape": "1", **place_in_file})
        _port(SubElement(layer, "output"), 0, whole, (1,))
        _edge(edges, (number + place, 0), (cut, 1 + place))
    layer = _layer(layers, cut, "values", "Slice", "opset8")
    taken = SubElement(layer, "input")
    _port(taken, 0, *keys[1:])
    for place in range(BOUNDS):
        _port(taken, 1 + place, whole, (1,))
    _edge(edges, (KEYS, 0), (cut, 0))
    _port(SubElement(layer, "output"), 1 + BOUNDS, keys[1], (*keys[2][:-1], size))
    return cut, 1 + BOUNDS


def _layer(layers: Element, number: int, name: str, kind: str, version: str) -> Element:
    return SubElement(layers, "layer", id=str(number), name=name, type=kind, version=version)


def _port(
    ports: Element, number: int, dtype: np.dtype[Any], sizes: Sequence[int], names: str = ""
) -> None:
    port = SubElement(ports, "port", id=str(number), precision=TYPES[dtype][1])
    if names:
        port.set("names", names)
    for size in sizes:
        SubElement(port, "dim").text = str(size)


def _edge(edges: Element, start: tuple[int, int], end: tuple[int, int]) -> None:
    places = {"from-layer": start[0], "from-port": start[1], "to-layer": end[0], "to-port": end[1]}
    SubElement(edges, "edge", {name: str(place) for name, place in places.items()})
