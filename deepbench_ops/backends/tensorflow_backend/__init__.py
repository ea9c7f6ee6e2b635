"""TensorFlow on the CPU: one module per family of kernels, each a tf.function."""

POSITION = 60
"""Place among the frameworks in tables and menus."""
