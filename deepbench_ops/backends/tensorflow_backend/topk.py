"""Top-k in TensorFlow: tf.math.top_k."""

from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.families.topk import checked_values
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice
from deepbench_ops.problems.topk import TopK


def function(
    backend: TensorFlowDevice, problem: TopK, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return top-k, the only operation."""
    x = drawn["x"]

    def read(output: Any) -> np.ndarray:
        values, columns = (each.numpy() for each in output)
        return checked_values(x, values.astype(x.dtype), columns)

    operand = backend.tensor(x, precision)
    return Function(
        compile=backend.compiled(partial(tf.math.top_k, k=problem.k), (operand,)),
        read=read,
        notes={"route": "tf.function: tf.math.top_k"},
    )
