"""The short name of facts about a measurement, by which its records refer to them."""

import hashlib
import json
from collections.abc import Mapping


def digest(facts: Mapping[str, str]) -> str:
    """Return 12 hexadecimal digits, equal exactly when the facts are."""
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha1(text.encode()).hexdigest()[:12]
