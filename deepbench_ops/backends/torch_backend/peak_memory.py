"""Peak memory of the tensors of a call, each counted from its creation to its deletion.

On the meta device nothing is allocated or computed, so the peak of any size can be found.
"""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


def peak_bytes(call: Callable[[], object]) -> int:
    """Return the peak, in bytes, of the memory of tensors that `call` creates, with its result.

    Tensors from before the call do not count, nor does temporary memory inside an operation.
    """
    with _Counting() as counting:
        made = call()
    del made
    return counting.peak


class _Counting(TorchDispatchMode):
    """Dispatch mode that adds up the storages of all tensors that exist at the same time."""

    def __init__(self) -> None:
        super().__init__()
        self.peak = self._now = 0
        self._counted: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        given = _storages((args, kwargs))
        made = func(*args, **(kwargs or {}))
        for place, storage in _storages(made).items():
            if place not in given and place not in self._counted:
                self._begin(place, storage)
        return made

    def _begin(self, place: int, storage: torch.UntypedStorage) -> None:
        size = storage.nbytes()
        self._counted.add(place)
        weakref.finalize(storage, self._end, place, size)
        self._now += size
        self.peak = max(self.peak, self._now)

    def _end(self, place: int, size: int) -> None:
        self._counted.discard(place)
        self._now -= size


def _storages(values: object) -> dict[int, torch.UntypedStorage]:
    """Return the storages of all tensors in `values`, by address."""
    found = (each for each in tree_flatten(values)[0] if isinstance(each, Tensor))
    storages = (each.untyped_storage() for each in found)
    return {storage._cdata: storage for storage in storages}
