"""The code that XLA calls for a compiled function, by the text of the optimised program."""

import re

TARGETS = re.compile(
    r'custom_call_target="(?P<call>[^"]+)"|"kind":"(?P<fusion>__[^"]+)"'
    r"|[\]})] (?P<own>dot|convolution)\("
)
"""Calls of a library, fusions that a library computes, and products of XLA's own code."""


def of(program: str) -> str:
    """Return libraries and products in the order in which they first appear, as "xla __ynn_fusion".

    Products inside of a library's fusion are that library's. "" for a program with neither.
    """
    found = dict.fromkeys(match.group(match.lastgroup or 0) for match in TARGETS.finditer(program))
    libraries = [name for name in found if name not in ("dot", "convolution")]
    return f"xla {' '.join(libraries or found)}" if found else ""
