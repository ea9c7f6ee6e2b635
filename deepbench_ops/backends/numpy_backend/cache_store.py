"""Storing keys and values in numpy: assignment to rows that an array of row numbers selects."""

import numpy as np

from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.families import cache_store as family
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.problems.cache_store import CacheStore
from deepbench_ops.random_operands import aligned_empty


def build(
    backend: Backend, problem: CacheStore, precision: str, operation: str, seed: int
) -> Kernel:
    """Prepare the writes into two caches."""
    refuse_lacking(precision)
    drawn = family.inputs(problem, precision, seed)
    keys, values, held = drawn.keys, drawn.values, drawn.block_held
    places, untouched = drawn.places, drawn.untouched
    caches = [aligned_empty((drawn.blocks, *held.shape), held.dtype) for _ in range(2)]
    of_keys, of_values = (cache.reshape(-1, *held.shape[1:]) for cache in caches)

    def run() -> None:
        of_keys[places] = keys
        of_values[places] = values

    def reset() -> None:
        for cache in caches:
            cache[...] = held

    reset()
    prepared = Prepared(
        run=run,
        reset=reset,
        output=lambda: of_keys[places],
        further={
            family.STORED_VALUES: lambda: of_values[places],
            family.UNTOUCHED: lambda: np.concatenate([of_keys[untouched], of_values[untouched]]),
        },
        notes={"route": "cache[places] = tokens, twice, in place"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
