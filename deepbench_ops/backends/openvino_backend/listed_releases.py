"""Rule for the listed releases of OpenVINO and their companions."""

from datetime import date

from deepbench_ops.backends.release_listing_rule import Rule

RULE = Rule(
    "2023.0",
    ("numpy", "onnx", "protobuf"),
    nightly="https://storage.openvinotoolkit.org/simple/wheels/nightly",
    ceilings={
        "numpy": (
            (date(2024, 11, 1), "2"),
            (date(2025, 1, 15), "2.2"),
            (date(2026, 1, 31), "2.3"),
        )
    },
)
