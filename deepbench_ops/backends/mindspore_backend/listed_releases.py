"""Which releases of MindSpore are listed, and what their environments hold next to it."""

from deepbench_ops.backends.listing_rule import ALWAYS, Rule

RULE = Rule("2.7", ("numpy",), ceilings={"numpy": ((ALWAYS, "2"),)})
