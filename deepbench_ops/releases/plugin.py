"""The place of asv's plugin in version 0.1.0, which says where it lies now."""

import sys

from deepbench_ops.project import CONFIGURATION, MOVED


def setup() -> None:
    """End asv, which calls this for a configuration of that version, with one line."""
    sys.exit(f"{CONFIGURATION}: {MOVED}")
