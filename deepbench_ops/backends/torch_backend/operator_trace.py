"""Trace of a step: every operation below torch's gradients, with its shapes, FLOPs and bytes."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from deepbench_ops.backends.torch_backend import operator_work
from deepbench_ops.errors import DeepbenchError

KINDS = {
    "gemm": ("mm", "addmm", "bmm", "baddbmm", "_addmm_activation", "_grouped_mm"),
    "convolution": ("convolution", "convolution_backward", "_convolution"),
    "attention": ("_scaled_dot_product", "_efficient_attention", "_flash_attention"),
    "recurrent": ("mkldnn_rnn_layer", "lstm", "gru", "_cudnn_rnn"),
    "normalisation": ("native_batch_norm", "native_layer_norm", "cudnn_batch_norm", "_batch_norm"),
    "pooling": ("max_pool", "avg_pool", "adaptive_avg", "mkldnn_max_pool"),
    "lookup": ("embedding", "_embedding_bag", "index", "gather"),
}
"""By what their names begin with; convolutions stand before what they might be taken for."""


@dataclass
class Operation:
    """One operation with operands of these shapes, however often a step calls it.

    flops: floating-point operations of a call, 0 where none are counted; bytes: the fewest that a
    call reads and writes; see `work` for both. key: its identity among the step's operations.
    places: positions of its calls among the step's calls of this name. layers: for each of these
    calls the layer that made it, as far as `operations` was asked for. again: returns a function
    that repeats it, each time with new copies of the operands that it changes. An undeclared
    change, of a normalisation's running statistics, is the step's own.
    """

    key: object
    name: str
    kind: str
    operands: str
    dtype: str
    flops: float
    bytes: float
    places: list[int] = field(default_factory=list)
    layers: list[object] = field(default_factory=list)
    again: Callable[[], Callable[[], object]] = lambda: lambda: None

    @property
    def calls(self) -> int:
        """How often a step calls it."""
        return len(self.places)

    @property
    def repeats(self) -> bool:
        """Whether it can be done once more; some want what only their step has."""
        try:
            self.again()()
        except (RuntimeError, NotImplementedError):
            return False
        return True


def operations(
    step: Callable[[], object], layer: Callable[[], object] = lambda: None
) -> list[Operation]:
    """Run a step once and return what it calls, in the order of the first call.

    layer: returns the layer that runs, None outside of all that count.
    """
    with _Recorder(layer) as recorder:
        step()
    return list(recorder.found.values())


def done_by(step: Callable[[], object], known: Sequence[Operation]) -> None:
    """Run a step in which nothing but `known` is done, each as often as it is called there.

    Raises DeepbenchError where the step calls anything else, or one of them more or less often.
    """
    with _Doer(known) as doer:
        step()
    doer.demand_all()


class _Watcher(TorchDispatchMode):
    """Is asked to do every call of a step that torch hands over whole."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        kwargs = kwargs or {}
        if func.namespace == "profiler":  # an optimiser's marks for a profiler
            return func(*args, **kwargs)
        with self:  # in inference, what is made of other operations arrives whole
            parts = func.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        return self.do((str(func), repr(tree_map(_described, (args, kwargs)))), func, args, kwargs)

    @abstractmethod
    def do(self, key: object, func: Any, args: Any, kwargs: Any) -> object:
        """Do a call; `key` is the identity of its operation."""


class _Recorder(_Watcher):
    """Notes every call, and keeps the operands of the first of a kind."""

    def __init__(self, layer: Callable[[], object]) -> None:
        super().__init__()
        self.found: dict[object, Operation] = {}
        self._layer = layer
        self._called: dict[str, int] = {}

    def do(self, key: object, func: Any, args: Any, kwargs: Any) -> object:
        """Do a call and note it."""
        made = func(*args, **kwargs)
        if key not in self.found:
            self.found[key] = _operation(key, func, args, kwargs, made)
        name = self.found[key].name
        place = self._called.get(name, 0)
        self._called[name] = place + 1
        self.found[key].places.append(place)
        self.found[key].layers.append(self._layer())
        return made


class _Doer(_Watcher):
    """Does the calls of operations that are known, and no others."""

    def __init__(self, known: Sequence[Operation]) -> None:
        super().__init__()
        self._left = {operation.key: operation.calls for operation in known}

    def do(self, key: object, func: Any, args: Any, kwargs: Any) -> object:
        """Do a call; DeepbenchError where none of its operation is left."""
        if not self._left.get(key):
            raise DeepbenchError(f"a step calls {key}, which is not among its operations")
        self._left[key] -= 1
        return func(*args, **kwargs)

    def demand_all(self) -> None:
        """Raise DeepbenchError where calls are left."""
        left = [key for key, number in self._left.items() if number]
        if left:
            raise DeepbenchError(f"a step leaves out {left[0]}, which is among its operations")


def _operation(key: object, func: Any, args: Any, kwargs: Any, made: object) -> Operation:
    name = func.overloadpacket.__name__
    given, out = operator_work.tensors((args, kwargs)), operator_work.tensors(made)
    real = [each for each in given if each.is_floating_point()] or given or out
    return Operation(
        key=key,
        name=name,
        kind=_kind(name),
        operands=" ".join(map(_shape, given)) or "none",
        dtype=str(real[0].dtype).removeprefix("torch.") if real else "",
        flops=operator_work.flops(func, args, kwargs, made),
        bytes=operator_work.moved(func, args, kwargs, made),
        again=partial(_again, func, args, kwargs),
    )


def _again(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Callable[[], object]:
    """Return what calls it with the same operands, but with copies of those that it changes."""
    named = func._schema.arguments
    changed = {one.name for one in named if one.alias_info is not None and one.alias_info.is_write}
    own = [
        tree_map(_cloned, value) if one.name in changed else value
        for one, value in zip(named, args, strict=False)
    ]
    others = {
        name: tree_map(_cloned, value) if name in changed else value
        for name, value in kwargs.items()
    }
    return partial(func, *own, **others)


def _cloned(value: object) -> object:
    return value.clone() if isinstance(value, Tensor) else value


def _described(value: object) -> object:
    """Return the identity of an operand: a tensor's shape, strides and type, else itself.

    All real numbers are alike: an optimiser's differ at every step, and take as long.
    """
    if isinstance(value, Tensor):
        lies = value.stride() if value.layout is torch.strided else value.layout
        return (tuple(value.shape), lies, value.dtype)
    return float if isinstance(value, float) else value


def _kind(name: str) -> str:
    for kind, beginnings in KINDS.items():
        if name.startswith(beginnings):
            return kind
    return "other"


def _shape(tensor: Tensor) -> str:
    return "x".join(map(str, tensor.shape)) or "scalar"
