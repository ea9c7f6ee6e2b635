"""changes.atom: an Atom feed (RFC 4287) of the changes in speed.

A feed needs absolute addresses, so it is only written if `site_url` is configured.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from deepbench_ops.analysis.change_causes import Cause
from deepbench_ops.exchange.submissions import submission_provenance
from deepbench_ops.pages.rendering import render
from deepbench_ops.pages.verdict_page import row
from deepbench_ops.storage import atomic_write

FILE = "changes.atom"
ENTRIES = 100
"""Largest number of changes in the feed, the newest releases first."""
KERNELS_PER_ENTRY = 20
"""Largest number of kernels that an entry lists."""
NEVER = date(1970, 1, 1)
"""Day of a feed without entries."""
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def write(
    html_dir: Path,
    project: str,
    site_url: str,
    causes: Sequence[Cause],
    marks: Mapping[str, str],
) -> None:
    """Write html_dir/changes.atom from the changes of all machines, newest first."""
    atomic_write.write_text(html_dir / FILE, feed(project, site_url, causes, marks))


def feed(project: str, site_url: str, causes: Sequence[Cause], marks: Mapping[str, str]) -> str:
    """XML of the feed; `site_url` ends with a slash.

    marks: by name, those of machines whose results came in without the signature of an allowed
    signer.
    """
    entries = [_entry(cause, site_url, marks.get(cause.machine, "")) for cause in causes[:ENTRIES]]
    newest = max((cause.after.date for cause in causes[:ENTRIES]), default=NEVER)
    text = render(
        FILE, project=project, site_url=site_url, file=FILE, updated=_day(newest), entries=entries
    )
    return NOT_XML.sub("", text)


def _entry(cause: Cause, site_url: str, mark: str) -> dict[str, Any]:
    shown = row(cause)
    address = urlencode({"release": cause.after.name, "machine": cause.machine})
    what = shown["summary"] or shown["kernels"][0]["title"]
    machine = f"{cause.machine} ({mark})" if mark else cause.machine
    return {
        "id": f"{site_url}{FILE}#{_identifier(cause)}",
        "title": f"{shown['release']}: {shown['ratio_text']}, {what} on {machine}",
        "updated": _day(cause.after.date),
        "unsigned_reason": submission_provenance.MARKS.get(mark, ""),
        "page": f"{site_url}release.html#{address}",
        "before": shown["before"],
        "kernels": shown["kernels"][:KERNELS_PER_ENTRY],
        "further": max(0, len(shown["kernels"]) - KERNELS_PER_ENTRY),
        "command": shlex.join(
            ["deepbench", "verdict", "--machine", cause.machine, "--release", cause.after.name]
        )
        + " --confirm",
    }


def _day(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"


def _identifier(cause: Cause) -> str:
    """An identifier of a change, the same in every publishing."""
    ends = cause.before.hash, cause.after.hash
    states = sorted({shift.after.state for shift in cause.shifts} - {""})
    own = states if cause.scope == "kernel" else []  # a kernel has a line for each state
    key = "\n".join([cause.machine, *ends, str(cause.slower), cause.name, *own])
    return hashlib.sha1(key.encode()).hexdigest()[:16]
