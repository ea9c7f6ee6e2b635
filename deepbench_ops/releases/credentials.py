"""Names, passwords and tokens in the addresses of package indexes and of sources."""

import re

HIDDEN = "****"
IN_ADDRESSES = re.compile(r"(?<!/)//(?:[^/\s]*|[^/\s:@]*:(?!\d*/)\S*)@")
"""The part before the host of an address; the second form is that of a password with a slash."""


def hidden(text: str) -> str:
    """Return a text, such as a message, without the credentials in its addresses."""
    return IN_ADDRESSES.sub(f"//{HIDDEN}@", text)


def has_any(text: str) -> bool:
    """Return whether an address in a text has credentials."""
    return IN_ADDRESSES.search(text) is not None
