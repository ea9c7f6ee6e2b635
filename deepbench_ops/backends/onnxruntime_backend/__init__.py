"""ONNX Runtime on the CPU: ONNX models in sessions, as users run them."""

POSITION = 40
"""Place among the frameworks in tables and menus."""

COMPANIONS = ("onnx",)
"""Other packages that this backend needs."""
