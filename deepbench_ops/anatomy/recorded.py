"""What a step calls: every operation below torch's gradients, with its shapes, FLOPs and bytes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter, tree_map
from torch.utils.flop_counter import flop_registry

KINDS = {
    "gemm": ("mm", "addmm", "bmm", "baddbmm", "_addmm_activation"),
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

    flops: floating-point operations of a call, 0 where nobody counts any. bytes: what a call reads
    and writes at least, 0 for one that only looks at its operand in another way. places: which of
    the step's calls of this name they are. call: does it once more.
    """

    name: str
    kind: str
    operands: str
    dtype: str
    flops: float
    bytes: float
    places: list[int] = field(default_factory=list)
    call: Callable[[], object] = lambda: None

    @property
    def calls(self) -> int:
        """How often a step calls it."""
        return len(self.places)


def operations(step: Callable[[], object]) -> list[Operation]:
    """Run a step once and return what it calls, in the order of the first call."""
    with _Recorder() as recorder:
        step()
    return list(recorder.found.values())


class _Recorder(TorchDispatchMode):
    """Notes every call that reaches it, and keeps the operands of the first of a kind."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[object, Operation] = {}
        self._called: dict[str, int] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        kwargs = kwargs or {}
        with self:  # in inference, what is made of other operations arrives whole
            parts = func.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        made = func(*args, **kwargs)
        name = func.overloadpacket.__name__
        key = (str(func), repr(tree_map(_described, (args, kwargs))))
        if key not in self.found:
            self.found[key] = _operation(func, name, args, kwargs, made)
        place = self._called.get(name, 0)
        self._called[name] = place + 1
        self.found[key].places.append(place)
        return made


def _flops(func: Any, args: Any, kwargs: Any, made: object) -> float:
    """Return torch's own count; not for a convolution's gradients, whose groups it forgets."""
    if func.overloadpacket.__name__ == "convolution_backward":
        gradient, _, filters, *_, wanted = args
        each = 2 * gradient.numel() * filters[0].numel()
        return float(each * sum(wanted[:2]))
    counter = flop_registry.get(func.overloadpacket)
    return float(counter(*args, **kwargs, out_val=made)) if counter else 0.0


def _operation(func: Any, name: str, args: Any, kwargs: Any, made: object) -> Operation:
    given = [each for each in tree_iter((args, kwargs)) if isinstance(each, Tensor)]
    out = [each for each in tree_iter(made) if isinstance(each, Tensor)]
    real = [each for each in given if each.is_floating_point()] or given or out
    return Operation(
        name=name,
        kind=_kind(name),
        operands=" ".join(map(_shape, given)) or "none",
        dtype=str(real[0].dtype).removeprefix("torch.") if real else "",
        flops=_flops(func, args, kwargs, made),
        bytes=0.0 if func.is_view else float(sum(map(_bytes, given + out))),
        call=_again(func, args, kwargs),
    )


def _again(func: Any, args: Any, kwargs: Any) -> Callable[[], object]:
    """Return what calls it with operands of its own, for some operations change theirs."""
    own: list[Any] = []

    def call() -> object:
        if not own:
            own.extend(tree_map(_cloned, (args, kwargs)))
        return func(*own[0], **own[1])

    return call


def _cloned(value: object) -> object:
    return value.clone() if isinstance(value, Tensor) else value


def _described(value: object) -> object:
    """Return what tells an operand from others: a tensor's type and how it lies, else itself."""
    if isinstance(value, Tensor):
        lies = value.stride() if value.layout is torch.strided else value.layout
        return (tuple(value.shape), lies, value.dtype)
    return value


def _kind(name: str) -> str:
    for kind, beginnings in KINDS.items():
        if name.startswith(beginnings):
            return kind
    return "other"


def _shape(tensor: Tensor) -> str:
    return "x".join(map(str, tensor.shape)) or "scalar"


def _bytes(tensor: Tensor) -> int:
    if tensor.layout is not torch.strided:
        return sum(map(_bytes, _parts(tensor)))
    return tensor.numel() * tensor.element_size()


def _parts(tensor: Tensor) -> Iterator[Tensor]:
    yield tensor._indices()
    yield tensor._values()
