"""Packages beside torch that a way of running a network asks for."""

from importlib.util import find_spec

from deepbench_ops.errors import Unsupported


def needed(*names: str) -> None:
    """Raise Unsupported, with the way out, where one of these is not installed."""
    for name in names:
        if find_spec(name) is None:
            raise Unsupported(
                f"{name} is not installed in this environment: install it with 'pip install {name}'"
            )
