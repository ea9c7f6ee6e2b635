"""Attention as operators that onnxruntime had before ONNX's own: MultiHeadAttention and
GroupQueryAttention."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deepbench_ops.backends.families.attention import AttentionInputs
from deepbench_ops.backends.onnx_models.graph import MICROSOFT, Graph, OnnxModel, Value
from deepbench_ops.errors import Unsupported

IN_GROUPS = "GroupQueryAttention"
PER_HEAD = "MultiHeadAttention"
LAYOUT = "(batch, token, head and number)"


def model(problem: Any, drawn: AttentionInputs, precision: str, operation: str) -> OnnxModel:
    """Return a forward pass with all operands as inputs.

    GroupQueryAttention is causal: its queries are the last tokens. MultiHeadAttention lets all
    queries see all keys, and has as many heads of keys as of queries. Neither is taken for latent
    attention.

    Raises Unsupported for attention that neither of the two computes.
    """
    p = problem
    last_tokens = (p.causal and p.sq == p.skv) or p.sq == 1
    if p.hq == p.hkv and not (p.causal or p.latent):
        return _per_head(p, drawn)
    if last_tokens and p.d == p.dv and not p.latent:
        return _in_groups(p, drawn)
    raise Unsupported(
        f"this release has no ONNX Attention, {PER_HEAD} has neither groups nor a causal mask, and"
        f" {IN_GROUPS} has causal attention of all tokens or of the last one, with heads of one"
        " size and values of their own"
    )


def _per_head(p: Any, drawn: AttentionInputs) -> OnnxModel:
    graph = Graph()
    given = [graph.input(name, _by_token(getattr(drawn, name))) for name in "qkv"]
    output = graph.node(PER_HEAD, *given, domain=MICROSOFT, num_heads=p.hq)
    return _finished(graph, p, drawn, output, f"{MICROSOFT}.{PER_HEAD}")


def _in_groups(p: Any, drawn: AttentionInputs) -> OnnxModel:
    """Return the model of GroupQueryAttention, which also writes the new tokens into a cache.

    A cache with earlier tokens is written in place, as its users bind it: the operator would
    otherwise copy all of it.
    """
    graph = Graph()
    before = p.skv - p.sq
    given = [graph.input("q", _by_token(drawn.q))]
    given += [graph.input(name, _by_token(getattr(drawn, name)[:, :, before:])) for name in "kv"]
    past: list[Value | None] = [None, None]
    if before:
        past = [graph.input(f"past_{name}", _with_room(drawn, name, before)) for name in "kv"]
    lengths = graph.input("lengths", np.full(p.b, p.skv - 1, np.int32))
    total = graph.constant("total", np.array([p.skv], np.int32))
    output, *present = graph.node(
        IN_GROUPS,
        *(*given, *past, lengths, total),
        outputs=3,
        domain=MICROSOFT,
        num_heads=p.hq,
        kv_num_heads=p.hkv,
    )
    if not before:
        route = f"{MICROSOFT}.{IN_GROUPS}, which writes all keys and values to a new cache"
        return _finished(graph, p, drawn, output, route)
    route = f"{MICROSOFT}.{IN_GROUPS}, which writes the new keys and values into the cache"
    caches = {one: values for one, values in zip(present, past, strict=True) if values is not None}
    return _finished(graph, p, drawn, output, route, caches)


def _with_room(drawn: AttentionInputs, name: str, before: int) -> np.ndarray:
    """Return a cache of keys or values with zeros in the place of the new tokens."""
    cache = np.array(getattr(drawn, name))
    cache[:, :, before:] = 0
    return cache


def _finished(
    graph: Graph,
    p: Any,
    drawn: AttentionInputs,
    output: Value,
    route: str,
    caches: Mapping[Value, Value] | None = None,
) -> OnnxModel:
    """Return the model of one output. caches: further outputs, each in the memory of an input."""
    kinds: dict[Value, tuple[Any, Sequence[int]]]
    kinds = {output: (drawn.q.dtype, (p.b, p.sq, p.hq * p.dv))}
    held = {made.name: given.name for made, given in (caches or {}).items()}
    for made, given in (caches or {}).items():
        kinds[made] = (drawn.q.dtype, graph.feeds[given.name].shape)
    return OnnxModel(
        serialised=graph.serialised(kinds),
        feeds=graph.feeds,
        in_place=held,
        read=lambda found: (
            np.asarray(found[0]).reshape(p.b, p.sq, p.hq, p.dv).transpose(0, 2, 1, 3)
        ),
        notes={"route": route, "layout": LAYOUT},
    )


def _by_token(values: np.ndarray) -> np.ndarray:
    """Return values with the axes (batch, head, token, number) as (batch, token, head · number)."""
    b, heads, tokens, size = values.shape
    return values.transpose(0, 2, 1, 3).reshape(b, tokens, heads * size)
