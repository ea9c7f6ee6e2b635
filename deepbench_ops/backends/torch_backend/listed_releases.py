"""Rule for the listed releases of torch and their companions."""

from datetime import date

from deepbench_ops.backends.release_listing_rule import Rule

RULE = Rule(
    "1.13",
    ("numpy",),
    nightly="https://download.pytorch.org/whl/nightly/cpu",
    ceilings={"numpy": ((date(2024, 7, 24), "2"),)},
)
