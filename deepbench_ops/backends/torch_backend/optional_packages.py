"""Optional packages that some executions of a network need next to torch."""

import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from deepbench_ops.errors import Unsupported

NEEDED = {"compiled": ("torchao",), "onnxruntime": ("onnxruntime", "onnx", "onnxscript")}
"""Packages by execution; compiled networks need torchao in int8 only."""


def require(*names: str) -> None:
    """Raise Unsupported, with the command that installs them, where packages are missing."""
    missing = " ".join(name for name in names if find_spec(name) is None)
    if missing:
        raise Unsupported(
            "this needs packages that are not installed in this environment: install them with"
            f" '{sys.executable} -m pip install {missing}'"
        )


def versions(execution: str) -> dict[str, str]:
    """Return the versions of the installed packages in NEEDED for an execution."""
    found = {}
    for name in NEEDED.get(execution, ()):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
