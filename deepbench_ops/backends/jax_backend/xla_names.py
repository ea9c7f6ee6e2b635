"""Names of the library code that a function compiled by XLA calls, from the program's text."""

import re

TARGETS = re.compile(
    r'custom_call_target="(?P<call>[^"]+)"|"kind":"(?P<fusion>__[^"]+)"'
    r"|[\]})] (?P<own>dot|convolution)\("
)
"""Matches of library calls, of fusions that a library computes, and of XLA's own products."""


def of(program: str) -> str:
    """Return the names of libraries, or else of XLA's own products, such as "xla __ynn_fusion".

    Names are in the order of their first use. XLA's own products are left out where a library is
    called, since they may be inside the library's fusion. "" for a program with neither.
    """
    found = dict.fromkeys(match.group(match.lastgroup or 0) for match in TARGETS.finditer(program))
    libraries = [name for name in found if name not in ("dot", "convolution")]
    return f"xla {' '.join(libraries or found)}" if found else ""
