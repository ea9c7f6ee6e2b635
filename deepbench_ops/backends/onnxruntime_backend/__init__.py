"""ONNX Runtime on the CPU: ONNX models in sessions, as users run them."""

POSITION = 40
"""Place among the frameworks in tables and menus."""

VARIABLES = ("ORT_",)
"""Prefixes of the environment variables that steer it."""

COMPANIONS = ("onnx",)
"""Other packages that this backend needs."""
