"""Which releases of TensorFlow are listed, and what their environments hold next to it."""

from deepbench_ops.backends.listing_rule import Rule

RULE = Rule("2.12")
