"""Storing keys and values in TensorFlow: ResourceScatterUpdate of both caches, in place."""

from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends.families import cache_store as family
from deepbench_ops.backends.families.cache_store import CacheInputs
from deepbench_ops.backends.functional import Call, Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.cache_store import CacheStore


def function(
    backend: TensorFlowDevice,
    problem: CacheStore,
    drawn: CacheInputs,
    precision: str,
    operation: str,
) -> Function:
    """Return the writes into two variables."""
    tokens = backend.tensors(precision, drawn.keys, drawn.values)
    held = backend.tensor(drawn.block_held, precision)
    places = backend.tensor(drawn.places, "int64")

    def compile_it() -> Call:
        caches = [tf.Variable(tf.tile(held, (drawn.blocks, 1, 1))) for _ in tokens]

        def store(keys: Any, values: Any, places: Any) -> None:
            for cache, new in zip(caches, (keys, values), strict=True):
                tf.raw_ops.ResourceScatterUpdate(resource=cache.handle, indices=places, updates=new)

        traced = tf.function(store, autograph=False)

        def call() -> Any:
            traced(*tokens, places)
            return caches

        return call

    def untouched(output: Any) -> np.ndarray:
        return np.concatenate([_rows(cache, drawn.untouched) for cache in output])

    return Function(
        compile=compile_it,
        read=lambda output: _rows(output[0], drawn.places),
        further={
            family.STORED_VALUES: lambda output: _rows(output[1], drawn.places),
            family.UNTOUCHED: untouched,
        },
        notes={
            "route": "tf.function of two ResourceScatterUpdate of variables",
            "output": "the variables, in place",
        },
    )


def _rows(cache: Any, which: np.ndarray) -> np.ndarray:
    return np.asarray(tf.gather(cache, which).numpy())
