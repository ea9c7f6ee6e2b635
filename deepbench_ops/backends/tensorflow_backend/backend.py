"""TensorFlow on the CPU: one module per family of kernels, each a tf.function."""

from deepbench_ops.backends.tensorflow_backend.device import TensorFlowDevice


class TensorFlowBackend(TensorFlowDevice):
    """All kernels of TensorFlow."""
