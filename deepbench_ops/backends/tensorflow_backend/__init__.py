"""TensorFlow on the CPU: one module per family of kernels, each a tf.function."""

POSITION = 60
"""Place among the frameworks in tables and menus."""

VARIABLES = ("TF_", "TF2_", "XLA_")
"""Prefixes of the environment variables that steer it."""
