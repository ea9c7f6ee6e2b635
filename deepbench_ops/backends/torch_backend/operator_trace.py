"""Trace of a step: every operation below torch's autograd, with its shapes, FLOPs and bytes."""

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
"""Kinds of operations, by the beginnings of their names. The order matters: the first match
counts."""

COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
"""Dispatch key of functions that consist of calls of others."""


@dataclass
class Operation:
    """All calls of an operation in a step with operands of the same shapes.

    key: identity among the operations of the step. kind: key of KINDS, or "other". operands, dtype:
    shapes and type, for tables. flops: floating-point operations of a call, 0 where none are
    counted; bytes: least number that a call reads and writes; see `operator_work` for both. places:
    positions of the calls among all calls of the step. shapes: those of the tensors that are
    operands themselves, without those in lists and single numbers. layers: for each call the layer
    that made it, if `operations` got a function for that. again: returns a function that repeats
    the call, with copies of the operands that it changes. Changes that torch does not declare, such
    as those of running statistics of a normalisation, affect the step's own tensors.
    """

    key: object
    name: str
    kind: str
    operands: str
    dtype: str
    flops: float
    bytes: float
    places: list[int] = field(default_factory=list)
    shapes: tuple[tuple[int, ...], ...] = ()
    layers: list[object] = field(default_factory=list)
    again: Callable[[], Callable[[], object]] = lambda: lambda: None

    @property
    def calls(self) -> int:
        """Number of calls in a step."""
        return len(self.places)

    @property
    def repeats(self) -> bool:
        """Whether a call can be repeated alone; some need state that exists only in the step."""
        try:
            self.again()()
        except (RuntimeError, NotImplementedError):
            return False
        return True


def operations(
    step: Callable[[], object], layer: Callable[[], object] = lambda: None
) -> list[Operation]:
    """Run a step once and return its operations, in the order of their first calls.

    layer: function that returns the layer that runs, None outside of all layers.
    """
    with _Recorder(layer) as recorder:
        step()
    return list(recorder.found.values())


def run_with_only(step: Callable[[], object], known: Sequence[Operation]) -> None:
    """Run a step and verify that its calls are exactly those of the operations `known`.

    Raises DeepbenchError where the step makes any other call, or a different number of calls.
    """
    with _Verifier(known) as verifier:
        step()
    verifier.demand_all()


class _Watcher(TorchDispatchMode):
    """Dispatch mode whose method `do` gets every call of a step that torch does not decompose."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        kwargs = kwargs or {}
        if func.namespace == "profiler":  # marks of an optimiser for profilers
            return func(*args, **kwargs)
        if _is_composite(func, (args, kwargs)):
            with self:  # in inference mode composite operations are not decomposed before
                return func._op_dk(COMPOSITE, *args, **kwargs)
        return self.do((str(func), repr(tree_map(_described, (args, kwargs)))), func, args, kwargs)

    @abstractmethod
    def do(self, key: object, func: Any, args: Any, kwargs: Any) -> object:
        """Do a call and return its result. key: identity of its operation."""


class _Recorder(_Watcher):
    """Dispatch mode that records every call, with the operands of the first call of an
    operation."""

    def __init__(self, layer: Callable[[], object]) -> None:
        super().__init__()
        self.found: dict[object, Operation] = {}
        self._layer = layer
        self._called = 0

    def do(self, key: object, func: Any, args: Any, kwargs: Any) -> object:
        """Do a call and record it."""
        made = func(*args, **kwargs)
        if key not in self.found:
            self.found[key] = _operation(key, func, args, kwargs, made)
        self.found[key].places.append(self._called)
        self._called += 1
        self.found[key].layers.append(self._layer())
        return made


class _Verifier(_Watcher):
    """Dispatch mode that does the calls of known operations and raises for all others."""

    def __init__(self, known: Sequence[Operation]) -> None:
        super().__init__()
        self._left = {operation.key: operation.calls for operation in known}

    def do(self, key: object, func: Any, args: Any, kwargs: Any) -> object:
        """Do a call; raise DeepbenchError where no call of its operation is left."""
        if not self._left.get(key):
            raise DeepbenchError(f"a step calls {key}, which is not among its operations")
        self._left[key] -= 1
        return func(*args, **kwargs)

    def demand_all(self) -> None:
        """Raise DeepbenchError if a known call has not been made."""
        left = [key for key, number in self._left.items() if number]
        if left:
            raise DeepbenchError(f"a step leaves out {left[0]}, which is among its operations")


def _is_composite(func: Any, operands: object) -> bool:
    """Return whether a step runs a function as calls of others, by torch's own C++ code.

    Functions with a kernel for the device run as themselves. `func.decompose` would also apply
    decompositions in Python, which no step runs.
    """
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    if not has_kernel(func.name(), COMPOSITE):
        return False
    return not any(has_kernel(func.name(), key) for key in _backends(operands))


def _backends(operands: object) -> set[str]:
    """Return the dispatch keys of the kernels for operands, such as CPU, Meta or SparseCUDA."""
    return {
        ("" if tensor.layout is torch.strided else "Sparse") + _device_key(tensor.device.type)
        for tensor in operator_work.tensors(operands)
    }


def _device_key(device: str) -> str:
    return "Meta" if device == "meta" else device.upper()


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
        shapes=tuple(
            tuple(each.shape)
            for each in (*args, *kwargs.values())
            if isinstance(each, Tensor) and each.dim()
        ),
        again=partial(_again, func, args, kwargs),
    )


def _again(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Callable[[], object]:
    """Return a function that repeats a call, with copies of the operands that the call changes."""
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
    """Return the identity of an operand: shape, strides and type of a tensor, else its value.

    All real numbers have the same identity: those of an optimiser differ at every step, but do not
    change the time.
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
