"""torch on the CPU or an NVIDIA GPU: one module per family of kernels."""

POSITION = 20
"""Place among the frameworks in tables and menus."""

DEVICES = {"cuda": "deepbench_ops.measure.cuda_yardstick"}
"""The device that torch adds, with the module of its yardstick."""
