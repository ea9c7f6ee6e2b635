"""Rule for the listed releases of jax and their companions."""

from datetime import date

from deepbench_ops.backends.release_listing_rule import Rule

RULE = Rule(
    "0.4.1",
    ("numpy", "scipy", "ml_dtypes"),
    same="jaxlib",
    nightly="https://us-python.pkg.dev/ml-oss-artifacts-published/jax/simple",
    ceilings={"numpy": ((date(2024, 6, 16), "2"),)},
)
