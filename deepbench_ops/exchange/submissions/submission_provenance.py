"""Provenance of a machine's results: the imported submissions and tables, and who signed them.

``results/<machine>/submissions.jsonl`` holds one JSON object a line: `digest` of the submission, or
of the table's file, `signer` (null where it was not signed, or by none of the allowed signers),
`key` (the fingerprint, "" without a signature), `releases`, where an allowed signer signed it the
ids of its `versions` of points, runs and rounds, and where it named the machine otherwise that
name, `sent_as`. Results that were measured here have none.
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


ALWAYS = ("digest", "key", "releases", "signer")
"""Fields of each line; the others are left out where they are empty."""


class SubmissionOrigin(NamedTuple):
    """A submission: its digest, its signer's name and key, the names of its releases, the ids of
    its versions (`signed_versions`), () where no allowed signer signed it, and the name that it has
    for the machine, "" for that of the folder."""

    digest: str
    signer: str | None
    key: str
    releases: tuple[str, ...]
    versions: tuple[str, ...] = ()
    sent_as: str = ""


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
            return SubmissionOrigin(digest, name, key, *named, str(entry.get("sent_as", "")))
    return UNREADABLE


def note(
    machine: Path,
    digest: str,
    signer: Signer | None,
    releases: Sequence[str],
    versions: Sequence[str] = (),
    sent_as: str = "",
) -> None:
    """Note a submission, also once more for another allowed signer. One that was noted before
    changes only if it is signed now and was not, or by a known key, so that the order of imports
    does not matter.

    versions: the ids of its versions, which count where an allowed signer signed it. sent_as: the
    machine's name in it, "" for that of the folder. For the process that holds the lock of the
    results. Raises OSError.
    """
    name, key = signer or (None, "")
    signed = tuple(sorted(set(versions))) if name is not None else ()
    coming = SubmissionOrigin(digest, name, key, tuple(sorted(set(releases))), signed, sent_as)
    known = read(machine)
    replaced = [
        each
        for each in known
        if each.digest == digest and (None in (each.signer, name) or each.signer == name)
    ]
    if any(_rank(coming) <= _rank(each) for each in replaced):
        return
    kept = [*(each for each in known if each not in replaced), coming]
    lines = map(_line, sorted(kept, key=lambda each: (each.digest, each.signer or "")))
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
    return {name: each for name, each in sorted(one._asdict().items()) if each or name in ALWAYS}


def _rank(one: SubmissionOrigin) -> tuple[int, str, str, int]:
    """Return more for a submission that is signed, and by a known key; of equal ones by the names
    of signer and key, then by the number of ids of its versions, which earlier notes lack."""
    certainty = bool(one.key) + (one.signer is not None)
    return certainty, one.signer or "", one.key, len(one.versions)
