"""Optional packages next to torch that a way of running a network needs."""

import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from deepbench_ops.errors import Unsupported

NEEDED = {"compiled": ("torchao",), "onnxruntime": ("onnxruntime", "onnx", "onnxscript")}
"""By what runs a network, the packages that may take part; torchao does in int8 alone."""


def needed(*names: str) -> None:
    """Raise Unsupported, with the way out, where some of these are not installed."""
    missing = " ".join(name for name in names if find_spec(name) is None)
    if missing:
        raise Unsupported(
            "this needs packages that are not installed in this environment: install them with"
            f" '{sys.executable} -m pip install {missing}'"
        )


def versions(execution: str) -> dict[str, str]:
    """Return those of the packages that may take part, where they are installed."""
    found = {}
    for name in NEEDED.get(execution, ()):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
