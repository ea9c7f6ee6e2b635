"""Errors for unknown names, with the names that were probably meant."""

import difflib
from collections.abc import Iterable

from deepbench_ops.errors import DeepbenchError

SHOWN = 3


def unknown(what: str, name: str, valid: Iterable[str]) -> DeepbenchError:
    """The error to raise for an unknown `name` of the kind `what`.

    It shows every valid name when they are few, else the nearest three.
    """
    names = list(valid)
    if len(names) <= 2 * SHOWN:
        return DeepbenchError(f"unknown {what} {name!r}; known: {', '.join(names)}")
    near = difflib.get_close_matches(name, names, n=SHOWN, cutoff=0.0)
    return DeepbenchError(f"unknown {what} {name!r}; nearest of {len(names)}: {', '.join(near)}")
