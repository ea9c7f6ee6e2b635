"""Storing keys and values in jax: scattered updates of caches that each call donates."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from deepbench_ops.backends.families import cache_store as family
from deepbench_ops.backends.families.cache_store import CacheInputs
from deepbench_ops.backends.functional import Call, Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.cache_store import CacheStore


def function(
    backend: JaxDevice, problem: CacheStore, drawn: CacheInputs, precision: str, operation: str
) -> Function:
    """Return the update of both caches; each call reuses the memory of the caches before it."""
    keys, values, held = backend.arrays(precision, drawn.keys, drawn.values, drawn.block_held)
    places = jnp.asarray(drawn.places.astype(np.int32))
    waiting = backend.device == "cpu"

    def stored(caches: Any, keys: Any, values: Any, places: Any) -> Any:
        of_keys, of_values = caches
        return of_keys.at[places].set(keys), of_values.at[places].set(values)

    def compile_it() -> Call:
        jitted = jax.jit(lambda *given: stored(*given), donate_argnums=0)
        tiled = (drawn.blocks, 1, 1)
        caches = [tuple(jnp.tile(held, tiled) for _ in range(2))]

        def call() -> Any:
            caches[0] = jitted(caches[0], keys, values, places)
            return jax.block_until_ready(caches[0]) if waiting else caches[0]

        return call

    def rows(cache: Any, which: np.ndarray) -> np.ndarray:
        return np.asarray(cache[jnp.asarray(which)].astype(jnp.float32))

    def untouched(output: Any) -> np.ndarray:
        return np.concatenate([rows(cache, drawn.untouched) for cache in output])

    return Function(
        compile=compile_it,
        read=lambda output: rows(output[0], drawn.places),
        further={
            family.STORED_VALUES: lambda output: rows(output[1], drawn.places),
            family.UNTOUCHED: untouched,
        },
        notes={
            "route": "jax.jit of two .at[places].set, both caches donated",
            "output": "in the memory of the caches before the call",
            "places": "int32",
        },
    )
