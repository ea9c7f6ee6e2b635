"""Provenance of a machine's results: the imported submissions and tables, and who signed them.

``results/<machine>/submissions.jsonl`` holds one JSON object a line: `digest` of the submission, or
of the table's file, `signer` (null where it was not signed, or by none of the allowed signers),
`key` (the fingerprint, "" without a signature), `releases` and, where an allowed signer signed it,
the ids of its `versions` of points. Results that were measured here have none.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from deepbench_ops.exchange.submissions.submission_signature import Signer
from deepbench_ops.storage import atomic_write, bounded_read, json_lines

FILE = "submissions.jsonl"

NOT_SIGNED = "not signed"

_CAME = "Results of this machine came in a submission that was"
MARKS: Mapping[str, str] = {
    "unsigned": f"{_CAME} not signed: nothing proves who measured them.",
    "unknown key": f"{_CAME} signed by none of the allowed signers: nothing proves who measured"
    " them.",
}
"""Marks of machines, least proven first, each with its explanation."""


class SubmissionOrigin(NamedTuple):
    """A submission: its digest, its signer's name and key, the names of its releases, and the ids
    of its versions of points (`signed_versions`), () where no allowed signer signed it."""

    digest: str
    signer: str | None
    key: str
    releases: tuple[str, ...]
    versions: tuple[str, ...] = ()


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
        versions = entry.get("versions", [])
        if not (isinstance(releases, list) and isinstance(versions, list)):
            continue
        if isinstance(digest, str) and isinstance(key, str):
            name = signer if isinstance(signer, str) else None
            named = tuple(map(str, releases)), tuple(map(str, versions))
            return SubmissionOrigin(digest, name, key, *named)
    return UNREADABLE


def note(
    machine: Path,
    digest: str,
    signer: Signer | None,
    releases: Sequence[str],
    versions: Sequence[str] = (),
) -> None:
    """Note a submission. One that was noted before changes only if it is signed now and was not,
    or by a signer whose name comes later, so that the order of imports does not matter.

    versions: the ids of its versions of points, which count where an allowed signer signed it. For
    the process that holds the lock of the results. Raises OSError.
    """
    known = {each.digest: each for each in read(machine)}
    name, key = signer or (None, "")
    signed = tuple(sorted(set(versions))) if name is not None else ()
    coming = SubmissionOrigin(digest, name, key, tuple(sorted(set(releases))), signed)
    if digest in known and _rank(coming) <= _rank(known[digest]):
        return
    known[digest] = coming
    lines = [_line(each) for _, each in sorted(known.items())]
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


def _line(one: SubmissionOrigin) -> dict[str, object]:
    entry = dict(sorted(one._asdict().items()))
    return entry if one.versions else {name: entry[name] for name in entry if name != "versions"}


def _rank(one: SubmissionOrigin) -> tuple[int, str, str]:
    """Return more for a submission that is signed, by a known key, and with the ids of its
    versions, which earlier notes lack; of equal ones by the names of signer and key."""
    certainty = bool(one.key) + (one.signer is not None) + bool(one.versions)
    return certainty, one.signer or "", one.key
