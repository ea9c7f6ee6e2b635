"""The short name of facts about a measurement, by which its records refer to them."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

DIGEST = re.compile(r"[0-9a-f]{12}")


def digest(facts: Mapping[str, Any]) -> str:
    """Return 12 hexadecimal digits, equal exactly when the facts are."""
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha1(text.encode()).hexdigest()[:12]


def is_of(name: object, facts: Mapping[str, str]) -> bool:
    """Whether facts may have a short name: any that is no digest, or their own."""
    return isinstance(name, str) and (not DIGEST.fullmatch(name) or name == digest(facts))
