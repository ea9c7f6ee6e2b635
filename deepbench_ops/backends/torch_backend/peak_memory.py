"""Peak memory of the tensors of a call: each counts from its creation to its end.

On tensors of the meta device nothing is allocated or computed, so that any size can be asked for.
"""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


def most(call: Callable[[], object]) -> int:
    """Return the most bytes that live at once of what `call` makes, its result included.

    Earlier tensors do not count, nor does memory that an operation takes for itself while it runs.
    """
    with _Counting() as counting:
        made = call()
    del made
    return counting.most


class _Counting(TorchDispatchMode):
    """Counts the storage of every tensor that is made while it lives."""

    def __init__(self) -> None:
        super().__init__()
        self.most = self._now = 0
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
        self.most = max(self.most, self._now)

    def _end(self, place: int, size: int) -> None:
        self._counted.discard(place)
        self._now -= size


def _storages(values: object) -> dict[int, torch.UntypedStorage]:
    """Return the storages of all tensors among `values`, by where they are."""
    found = (each for each in tree_flatten(values)[0] if isinstance(each, Tensor))
    storages = (each.untyped_storage() for each in found)
    return {storage._cdata: storage for storage in storages}
