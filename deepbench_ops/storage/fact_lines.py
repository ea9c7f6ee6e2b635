"""JSON lines with the facts that other lines of a file name by their digest.

Each is ``{"fingerprint": digest, "facts": {...}}``, with texts as facts.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from deepbench_ops.storage import facts_digest, json_lines

FactsByDigest = dict[str, dict[str, str]]


def lines(facts: Mapping[str, dict[str, str]], digests: Iterable[str]) -> list[Mapping[str, Any]]:
    """Return the lines of these facts, in the order of their digests. Raises KeyError for one
    without facts."""
    return [{"fingerprint": digest, "facts": facts[digest]} for digest in sorted(digests)]


def take_each(
    content: str | bytes,
    where: str,
    kind: str,
    facts: FactsByDigest,
    take: Callable[[Any, bytes], None],
) -> None:
    """Put the facts of a file into `facts`; call `take` with the entry and text of all other lines.

    Raises DeepbenchError as `json_lines.take_each` does, which has the other arguments.
    """

    def take_line(entry: Any, line: bytes) -> None:
        if "facts" in entry:
            facts[entry["fingerprint"]] = facts_digest.checked(entry)
        else:
            take(entry, line)

    json_lines.take_each(content, where, kind, take_line, orjson.loads)
