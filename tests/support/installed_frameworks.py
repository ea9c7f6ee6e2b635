"""Frameworks and programs that a test needs; if one is missing it is skipped, with the reason."""

import importlib.util
import shutil

import pytest

from deepbench_ops import backends
from deepbench_ops.errors import Unsupported


def loaded(name, device="cpu"):
    """Return a backend, or skip with the reason that makes it unavailable here."""
    if name != "numpy":
        pytest.importorskip(name)
    try:
        return backends.load(name, device)
    except Unsupported as reason:
        pytest.skip(str(reason))


def needed(library, program=None):
    """Skip where a library, or a program on the path, is not installed."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
