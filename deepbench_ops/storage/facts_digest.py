"""The short name of facts about a measurement, by which its records refer to them."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from deepbench_ops.storage.json_lines import DamagedLine

DIGEST = re.compile(r"[0-9a-f]{12}")


def digest(facts: Mapping[str, Any]) -> str:
    """Return 12 hexadecimal digits, equal exactly when the facts are."""
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha1(text.encode()).hexdigest()[:12]


def is_of(name: object, facts: Mapping[str, str]) -> bool:
    """Whether facts may have a short name: any that is no digest, or their own."""
    return isinstance(name, str) and (not DIGEST.fullmatch(name) or name == digest(facts))


def checked(line: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a line of conditions. Raises DamagedLine for others than it names."""
    facts: dict[str, str] = line["facts"]
    if not is_texts(facts):
        raise DamagedLine("its facts are no texts")
    if not is_of(line["fingerprint"], facts):
        raise DamagedLine("its facts are others than its fingerprint says")
    return facts


def is_texts(found: object) -> bool:
    """Whether a value is an object of texts."""
    return isinstance(found, dict) and all(isinstance(text, str) for text in found.values())
