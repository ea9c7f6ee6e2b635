"""OpenVINO on the CPU: the ONNX models, read by its own frontend and compiled for latency."""

import sys

POSITION = 50
"""Place among the frameworks in tables and menus."""

COMPANIONS = ("onnx",)
"""Packages that it cannot do without besides the framework."""

# openvino reports its use to its makers when it is imported, from a process that it forks next to
# the measured one. Where that package is missing, it does not.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
