"""ONNX Runtime on the CPU: ONNX models in sessions, as users run them."""

POSITION = 40
"""Place among the frameworks in tables and menus."""

VARIABLES = ("ORT_",)
"""Prefixes of the environment variables that steer it."""

COMPANIONS = ("onnx",)
"""Other packages that this backend needs."""

RUNS_ON = ("cpu",)
"""The devices that it runs on."""

PRECISIONS = ("float32", "float16", "int8", "float32_int4", "int8_row", "fp8_row")
"""The precisions that it has kernels in, of any family."""
