"""Errors for unknown names, with similar valid names."""

import difflib
from collections.abc import Iterable

from deepbench_ops.errors import DeepbenchError

SHOWN = 3


def unknown(what: str, name: str, valid: Iterable[str]) -> DeepbenchError:
    """Return the error to raise for an unknown `name`. what: kind of name, such as "family".

    Its message has all valid names if they are few, else the three most similar ones.
    """
    names = list(valid)
    if len(names) <= 2 * SHOWN:
        return DeepbenchError(f"unknown {what} {name!r}; known: {', '.join(names)}")
    near = difflib.get_close_matches(name, names, n=SHOWN, cutoff=0.0)
    return DeepbenchError(f"unknown {what} {name!r}; nearest of {len(names)}: {', '.join(near)}")
