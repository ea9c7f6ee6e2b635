"""OpenVINO on the CPU: ONNX models, read by OpenVINO's frontend and compiled for latency."""

import sys

POSITION = 50
"""Place among the frameworks in tables and menus."""

VARIABLES = ("OV_", "OPENVINO_")
"""Prefixes of the environment variables that steer it."""

COMPANIONS = ("onnx",)
"""Other packages that this backend needs."""

RUNS_ON = ("cpu",)
"""The devices that it runs on."""

PRECISIONS = ("float32", "bfloat16", "float16", "float32_int4")
"""The precisions that it has kernels in, of any family."""

# When it is imported, openvino forks a process that sends usage data. Without this package it does
# not.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
