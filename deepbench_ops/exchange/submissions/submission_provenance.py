"""Provenance of a machine's results: the imported submissions and tables, and who signed them.

``results/<machine>/submissions.jsonl`` holds one JSON object a line: `digest` of the submission, or
of the table's file, `signer` (null where it was not signed, or by none of the allowed signers),
`key` (the fingerprint, "" without a signature) and `releases`. Results that were measured here have
none.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from deepbench_ops.exchange.submissions.submission_signature import Signer
from deepbench_ops.storage import atomic_write, bounded_read, json_lines

FILE = "submissions.jsonl"

NOT_SIGNED = "not signed"


class SubmissionOrigin(NamedTuple):
    """A submission: its digest, its signer's name and key, and the names of its releases."""

    digest: str
    signer: str | None
    key: str
    releases: tuple[str, ...]


UNREADABLE = SubmissionOrigin("", None, "", ())
"""Stands for lines that are damaged: their submissions count as not signed."""


def read(machine: Path) -> list[SubmissionOrigin]:
    """Return the submissions that went into a machine's folder, by digest.

    Raises OSError for a file that cannot be read, and DeepbenchError for one that is too large.
    """
    path = machine / FILE
    lines = bounded_read.read_bytes(path, bounded_read.RECORDS) if path.exists() else b""
    return list(dict.fromkeys(map(_origin, filter(bytes.strip, lines.splitlines()))))


def _origin(line: bytes) -> SubmissionOrigin:
    for entry in json_lines.objects([line]):
        digest, signer, key = entry.get("digest"), entry.get("signer"), entry.get("key")
        releases = entry.get("releases")
        if isinstance(digest, str) and isinstance(key, str) and isinstance(releases, list):
            name = signer if isinstance(signer, str) else None
            return SubmissionOrigin(digest, name, key, tuple(map(str, releases)))
    return UNREADABLE


def note(machine: Path, digest: str, signer: Signer | None, releases: Sequence[str]) -> None:
    """Note a submission. One that was noted before changes only if it is signed now and was not.

    For the process that holds the lock of the results. Raises OSError.
    """
    known = {each.digest: each for each in read(machine)}
    name, key = signer or (None, "")
    coming = SubmissionOrigin(digest, name, key, tuple(sorted(set(releases))))
    if _weight(coming) <= _weight(known.get(digest)):
        return
    known[digest] = coming
    lines = [dict(sorted(each._asdict().items())) for _, each in sorted(known.items())]
    atomic_write.write_text(machine / FILE, json_lines.as_text(lines))


def in_words(found: Sequence[SubmissionOrigin]) -> str:
    """Return who signed, such as "signed by a@b.org"; "" without any submission."""
    if not found:
        return ""
    texts = [str(Signer(each.signer, each.key)) if each.key else NOT_SIGNED for each in found]
    return ", ".join(dict.fromkeys(texts))


def mark(words: str) -> str:
    """Return the mark of a machine by the text of `in_words`: "unsigned" where a submission was not
    signed, "unknown key" where one was signed by none of the allowed signers, else ""."""
    parts = words.split(", ")
    unknown = any(part.startswith(str(Signer(None, ""))) for part in parts)
    return "unsigned" if NOT_SIGNED in parts else "unknown key" if unknown else ""


def _weight(one: SubmissionOrigin | None) -> int:
    """Return 0 for no submission, and more for one that is signed, and by a known key."""
    return 0 if one is None else 1 + bool(one.key) + (one.signer is not None)
