"""Rule for the listed releases of ONNX Runtime and their companions."""

from datetime import date

from deepbench_ops.backends.release_listing_rule import Rule

RULE = Rule(
    "1.15",
    ("numpy", "onnx", "protobuf"),
    nightly="https://aiinfra.pkgs.visualstudio.com/PublicPackages/_packaging/ORT-Nightly/pypi/simple",
    ceilings={"numpy": ((date(2024, 9, 1), "2"),)},
)
