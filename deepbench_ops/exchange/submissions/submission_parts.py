"""A submission in parts, for a machine with more results than one file may hold."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from deepbench_ops.exchange.submissions import submission, submission_model_runs

BRACKETS = 1000
"""Bytes that suffice for the names of fields, the digest and the commas of a part."""


IN_EVERY_PART = ("format", "version", "machine", "profile", submission_model_runs.FIELD)
"""Fields that are not divided."""


def parts(packed: Mapping[str, Any], largest: int) -> list[Mapping[str, Any]]:
    """Return submissions whose texts have at most `largest` bytes, and that together hold `packed`.

    Each is a submission of its own; they may be imported in any order. One that fits is returned
    as it is, and so is one of runs of models alone. The results of a release, and a round of a
    kernel, are in one part; a part with only one of them may be larger.
    """
    if _size(packed) + BRACKETS <= largest:
        return [packed]
    common = {name: packed[name] for name in IN_EVERY_PART if name in packed}
    facts = {name: each["facts"] for name, each in packed.get("ensembles", {}).items()}
    room = largest - _size(common) - _size(facts) - BRACKETS
    found: list[dict[str, Any]] = []
    left = 0
    for size, name, one in _pieces(packed):
        if size > left or not found:
            found.append({**common, "results": [], "ensembles": {}})
            left = room
        left -= size
        if name is None:
            found[-1]["results"].append(one)
        else:
            own = found[-1]["ensembles"].setdefault(name, {"facts": facts[name], "rounds": []})
            own["rounds"].append(one)
    return [{**each, "digest": submission.digest(each)} for each in found] or [packed]


def _pieces(packed: Mapping[str, Any]) -> Iterator[tuple[int, str | None, Any]]:
    """Yield the bytes, the name of the file of rounds or None for results, and the content."""
    for result in packed["results"]:
        yield _size(result), None, result
    for name, each in packed.get("ensembles", {}).items():
        for entry in each["rounds"]:
            yield _size(entry), name, entry


def _size(content: Any) -> int:
    """Bytes of `content` as JSON in ASCII, with a comma behind it."""
    return len(json.dumps(content, separators=(",", ":"))) + 1
