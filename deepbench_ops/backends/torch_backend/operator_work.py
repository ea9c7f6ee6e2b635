"""Work of one call of a torch operation: its floating-point operations and its bytes.

As in the FLOPs of whole models, matrix products, convolutions, attention and recurrent layers
count, with two operations for a multiply-add. Everything else counts 0: normalisation, pooling,
lookups, losses, optimisers and elementwise operations.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten

try:
    from torch.utils.flop_counter import flop_registry
except ImportError:  # torch before 2.1 has no counts
    flop_registry = {}


def flops(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], made: object) -> float:
    """Return the floating-point operations of a call.

    The count in OWN where torch has none or a wrong one, else torch's; 0 where neither has one.
    made: result of the call.
    """
    own = OWN.get(_name(func))
    if own is not None:
        return float(own(*args))
    counter = flop_registry.get(func.overloadpacket)
    return float(counter(*args, **kwargs, out_val=made)) if counter else 0.0


def moved(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], made: object) -> float:
    """Return the least number of bytes that a call reads and writes.

    Changed operands are read and written, overwritten ones only written. A lookup reads the rows
    that it needs, at most the whole table. Numbers that a tensor repeats by a stride of 0 count
    once. Views and allocations move nothing. made: result of the call.
    """
    if _moves_nothing(func):
        return 0.0
    read, changed = _operands(func, args, kwargs)
    written = list({id(each): each for each in [*changed, *tensors(made)]}.values())
    sparse = [each for each in read if each.layout is not torch.strided]
    if changed and sparse and changed[0].layout is torch.strided:  # the rows of a sparse gradient
        rows = min(_bytes(changed[0]), sum(_bytes(each._values()) for each in sparse))
        return float(sum(map(_bytes, sparse)) + 2 * rows)
    first = _first_read(_name(func), args, made)
    if first is not None:
        read = read[1:]
    return float((first or 0) + sum(map(_bytes, read)) + sum(map(_bytes, written)))


def tensors(values: object) -> list[Tensor]:
    """Return all tensors in a call's arguments or result."""
    return [each for each in tree_flatten(values)[0] if isinstance(each, Tensor)]


def _convolution_gradients(gradient: Tensor, given: Tensor, filters: Tensor, *others: Any) -> int:
    """Count the gradients of input and filters that are wanted; torch's count ignores groups."""
    wanted = others[-1]
    return 2 * gradient.numel() * filters[0].numel() * sum(wanted[:2])


def _attention(query: Tensor, key: Tensor, value: Tensor, *others: Any) -> int:
    """Count two products: queries with keys (n, heads, length, width), scores with values."""
    causal = len(others) > 1 and bool(others[1])
    return 2 * _pairs(query, key, causal) * (query.shape[-1] + value.shape[-1])


def _attention_gradients(
    gradient: Tensor, query: Tensor, key: Tensor, value: Tensor, *others: Any
) -> int:
    """Count five products, as torch does on GPUs; one is the repeated first forward product."""
    causal = len(others) > 3 and bool(others[3])
    return 2 * _pairs(query, key, causal) * (3 * query.shape[-1] + 2 * value.shape[-1])


def _pairs(query: Tensor, key: Tensor, causal: bool) -> int:
    """Return the number of pairs of a query and a key that it sees, over all heads."""
    queries, keys = query.shape[-2], key.shape[-2]
    hidden = sum(max(0, keys - 1 - place) for place in range(queries)) if causal else 0
    return query.shape[:-2].numel() * (queries * keys - hidden)


def _grouped(rows: Tensor, matrices: Tensor, *_: Any) -> int:
    """Count the product of each row with the matrix of its group."""
    return 2 * rows.numel() * matrices.shape[-1]


def _layer(given: Tensor, weights: Tensor, recurrent: Tensor, *_: Any) -> int:
    """Count one recurrent layer in one direction: two matrices, times every step of every item."""
    return _layers(given, [weights, recurrent])


def _layer_gradients(given: Tensor, weights: Tensor, recurrent: Tensor, *_: Any) -> int:
    """Count the gradients of input (even if not wanted) and weights of one recurrent layer."""
    return 2 * _layers(given, [weights, recurrent])


def _layers(given: Tensor, weights: Sequence[Tensor], *_: Any) -> int:
    """Count all recurrent layers and directions: each matrix, times every step of every item."""
    return 2 * given.shape[:-1].numel() * sum(each.numel() for each in weights if each.dim() == 2)


def _layers_gradients(given: Tensor, weights: Sequence[Tensor], *others: Any) -> int:
    """Count the gradients of input, and of weights if the last mask says so, of all layers."""
    return _layers(given, weights) * (1 + others[-1][3])


OWN: Mapping[str, Callable[..., int]] = {
    "convolution_backward": _convolution_gradients,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_gradients,
    "_grouped_mm": _grouped,
    "mkldnn_rnn_layer": _layer,
    "mkldnn_rnn_layer_backward": _layer_gradients,
    "_cudnn_rnn": _layers,
    "_cudnn_rnn_backward": _layers_gradients,
}
"""Functions that count the FLOPs of a call from its arguments, by name of the operation."""

BAGS = ("_embedding_bag", "_embedding_bag_forward_only")
"""Lookups that return sums of the rows that they read."""

PICKING = ("embedding", "index", "index_select", "gather")
"""Lookups that return every number that they read."""

OVERWRITING = ("copy_", "fill_", "zero_", "bernoulli_", "normal_", "uniform_")
"""Operations that write their first operand and do not read it."""

SHAPED = ("empty_like", "ones_like", "zeros_like", "full_like", "rand_like", "randn_like")
"""Operations that need only the shape of their operand, as all do whose names begin with new_."""

ROOM = ("empty", "new_empty", "_unsafe_view")
"""Beginnings of the names of allocations, and of a view that torch does not declare as one."""


def _first_read(name: str, args: Sequence[Any], made: object) -> int | None:
    """Return the bytes of its first operand that a call reads; None for all of them."""
    if name in OVERWRITING + SHAPED or name.startswith("new_"):
        return 0
    if name in BAGS:
        table, indices = args[:2]
        return min(_bytes(table), indices.numel() * table.shape[1] * table.element_size())
    if name in PICKING:
        return min(_bytes(args[0]), tensors(made)[0].numel() * args[0].element_size())
    return None


def _moves_nothing(func: Any) -> bool:
    """Return whether an operation returns a view of its operand, or uninitialised memory."""
    if _name(func).startswith(ROOM) or torch.Tag.inplace_view in func.tags:
        return True
    aliases = [one.alias_info for one in func._schema.arguments if one.alias_info is not None]
    return bool(aliases) and not any(alias.is_write for alias in aliases)


def _operands(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Tensor], list[Tensor]]:
    """Return all tensors among the arguments of a call, and those that the call changes."""
    named = func._schema.arguments
    given = [*zip(named, args, strict=False)]
    given += [(one, kwargs[one.name]) for one in named if one.name in kwargs]
    changed = [
        tensor
        for one, value in given
        if one.alias_info is not None and one.alias_info.is_write
        for tensor in tensors(value)
    ]
    return tensors([value for _, value in given]), changed


def _bytes(tensor: Tensor) -> int:
    if tensor.layout is not torch.strided:
        return sum(map(_bytes, _parts(tensor)))
    lies = zip(tensor.shape, tensor.stride(), strict=True)
    return prod(size for size, stride in lies if stride or not size) * tensor.element_size()


def _parts(tensor: Tensor) -> Iterator[Tensor]:
    yield tensor._indices()
    yield tensor._values()


def _name(func: Any) -> str:
    return str(func.overloadpacket.__name__)
