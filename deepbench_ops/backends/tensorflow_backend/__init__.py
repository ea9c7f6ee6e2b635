"""TensorFlow on the CPU: one module per family of kernels, each a tf.function."""

POSITION = 60
"""Place among the frameworks in tables and menus."""

VARIABLES = ("TF_", "TF2_", "XLA_")
"""Prefixes of the environment variables that steer it."""

RUNS_ON = ("cpu",)
"""The devices that it runs on."""

PRECISIONS = ("float32", "bfloat16", "float16", "int8")
"""The precisions that it has kernels in, of any family."""
