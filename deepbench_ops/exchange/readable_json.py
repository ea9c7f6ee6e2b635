"""Values from outside that can be read again where they are stored.

Python's json reads half a character, such as "\\ud800" alone, and whole numbers of any length. The
reader of records and conflicts (orjson) refuses both.
"""

import json
import re
from typing import Any

import orjson

CONTEXT = 20
"""Characters before half a character that a message shows."""

LONG = re.compile(rb"\d{309}")
"""Digits of a number that may be larger than any float."""


def why_not(content: Any) -> str:
    """Return the text or number in JSON values that cannot be read again; "" for none."""
    try:
        text = json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as wrong:
        place = wrong.object[max(0, wrong.start - CONTEXT) : wrong.start + 1]
        return f"half a character ends {place!a}: write whole ones"
    try:
        if LONG.search(text):
            orjson.loads(text)
    except ValueError:
        return "a number in it is too large: a float holds 1.8e308 at most"
    return ""
