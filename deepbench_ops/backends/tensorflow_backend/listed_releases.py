"""Rule for the listed releases of TensorFlow and their companions."""

from deepbench_ops.backends.release_listing_rule import Rule

RULE = Rule("2.12")
