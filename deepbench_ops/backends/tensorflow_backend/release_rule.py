"""Which releases of TensorFlow are listed, and what their environments hold next to it."""

from deepbench_ops.backends.release_rule import Rule

RULE = Rule("2.12")
