"""Storing keys and values in torch: index_copy_ into both caches."""

import torch

from deepbench_ops.backends.families import cache_store as family
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.torch_backend.device import TorchDevice
from deepbench_ops.backends.torch_backend.tensors import DTYPES
from deepbench_ops.problems.cache_store import CacheStore


def build(
    backend: TorchDevice, problem: CacheStore, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the writes into two caches."""
    drawn = family.inputs(problem, precision, seed)
    dtype, device = DTYPES[precision], backend.device
    keys, values = (backend.tensor(each, dtype) for each in (drawn.keys, drawn.values))
    held = backend.tensor(drawn.block_held, dtype)
    places, untouched = (
        torch.from_numpy(each).to(device) for each in (drawn.places, drawn.untouched)
    )
    shape = (drawn.blocks, *held.shape)
    caches = [torch.empty(shape, dtype=dtype, device=device) for _ in range(2)]
    of_keys, of_values = (cache.view(-1, *held.shape[1:]) for cache in caches)

    def run() -> None:
        of_keys.index_copy_(0, places, keys)
        of_values.index_copy_(0, places, values)

    def reset() -> None:
        for cache in caches:
            cache.copy_(held)

    reset()
    prepared = Prepared(
        run=run,
        reset=reset,
        output=lambda: of_keys[places],
        further={
            family.STORED_VALUES: lambda: of_values[places],
            family.UNTOUCHED: lambda: torch.cat([of_keys[untouched], of_values[untouched]]),
        },
        notes={"route": "two Tensor.index_copy_ into the caches, in place"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
