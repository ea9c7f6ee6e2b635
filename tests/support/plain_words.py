"""Words and sentences that make text hard to read for those whose English is plain."""

import re

AVOIDED = re.compile(r"\b(told|beside|nobody|anew|whoever|of which)\b", re.IGNORECASE)

RIDDLE = re.compile(
    r"(?:^\s*|[.!;)*] )What\b[^?.:]*[.:](?:\s|$)|(?:^|\. )What [^?]*\Z", re.MULTILINE
)
"""A sentence that begins with "What" and is no question."""

RECORDED = (
    "jax.jit of jax.experimental.sparse.BCSR.fromdense, told how many values",
    "the request's own, written anew by every call",
    "MKL, not told to optimise for repetition",
)
"""Notes in stored records, which a change of words would make look like another implementation."""


def unclear(text: str) -> list[str]:
    """Return the words to avoid in a text, and "What" for a sentence that begins so."""
    found = [match[0] for match in AVOIDED.finditer(text)]
    return [*found, "What"] if RIDDLE.search(text) else found
