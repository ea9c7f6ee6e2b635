"""ONNX Runtime on the CPU: ONNX models in sessions, as its users run them."""

POSITION = 40
"""Place among the frameworks in tables and menus."""

COMPANIONS = ("onnx",)
"""Packages that it cannot do without besides the framework."""
