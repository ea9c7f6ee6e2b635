"""torch on the CPU or an NVIDIA GPU: one module per family of kernels."""

POSITION = 20
"""Place among the frameworks in tables and menus."""

VARIABLES = ("ATEN_", "TORCH_", "TORCHINDUCTOR_", "TORCHDYNAMO_", "PYTORCH_", "TRITON_")
"""Prefixes of the environment variables that steer it."""

DEVICES = {"cuda": "deepbench_ops.measure.cuda_yardstick"}
"""The device that torch adds, with the module of its yardstick."""

TRANSPORTS = {"cpu": "gloo", "cuda": "nccl"}
"""Its own transport of messages between processes, on each device."""
