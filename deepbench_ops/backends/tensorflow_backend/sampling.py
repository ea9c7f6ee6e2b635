"""Top-p sampling in TensorFlow: top_k of all columns, cumsum, a mask and stateless_categorical."""

from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends.families import sampling
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.sampling import Sampling


def function(
    backend: TensorFlowDevice, problem: Sampling, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the sampling; its seed, and so its sample, is the same in every call."""
    shares = drawn["probabilities"]

    def sample(probabilities: Any) -> Any:
        ordered, columns = tf.math.top_k(probabilities, k=shares.shape[1])
        before = tf.cumsum(ordered, axis=-1, exclusive=True)
        kept = tf.where(before >= problem.p, -np.inf, tf.math.log(ordered))
        place = tf.random.stateless_categorical(kept, 1, seed=(0, 0))
        return tf.gather(columns, place, batch_dims=1)

    return Function(
        compile=backend.compiled(sample, (backend.tensor(shares, precision),)),
        read=lambda output: sampling.likelier(shares, output.numpy()),
        notes={"route": "tf.function: tf.math.top_k, tf.cumsum, tf.random.stateless_categorical"},
    )
