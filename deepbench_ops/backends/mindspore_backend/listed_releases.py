"""Rule for the listed releases of MindSpore and their companions."""

from deepbench_ops.backends.release_listing_rule import ALWAYS, Rule

RULE = Rule("2.7", ("numpy",), ceilings={"numpy": ((ALWAYS, "2"),)})
