"""OpenVINO on the CPU: the ONNX models, read by its own frontend and compiled for latency."""

POSITION = 50
"""Place among the frameworks in tables and menus."""

COMPANIONS = ("onnx",)
"""Packages that it cannot do without besides the framework."""
