"""Errors for the user to read: the fault, the value at fault, and the remedy."""

import errno
import os
from pathlib import Path

REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "allow it, or name another place"),
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR), "name one that exists"),
    errno.EISDIR: "name a file",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room there"),
}
"""The remedy of an error of the system, by its number."""


PLUGIN_FAULTS = (Exception, SystemExit)
"""All that code of another distribution may raise; an interruption by the user is none of its."""


class DeepbenchError(Exception):
    """Bad input or a missing piece. Its text is one line, fit to print as it stands."""


class NoAnswer(DeepbenchError):
    """A question that is right in itself and has no answer in the results. Its text is one line,
    ready to print."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a command that has measured already. Its text names the work that is kept."""


class Unsupported(NotImplementedError):
    """Refusal of an operation that a framework, release, device or machine lacks, with the reason.

    It is a NotImplementedError because asv records a benchmark whose setup raises one as
    skipped (NaN) rather than failed (null).
    """


class BeyondLimits(Unsupported):
    """Refusal of a kernel that needs more memory or time than it may have now.

    The release has the kernel, and may run it with less next to it, or a larger limit.
    """


def remedy(error: OSError) -> str:
    """Return the end of the line about an error of the system, ": " and what to do; "" for no
    known remedy."""
    known = REMEDIES.get(error.errno or 0)
    if error.errno == errno.ENOSPC and _lacks_files(file_of(error)):
        known = "remove files there, which it has too many of: it has room for their content"
    return f": {known}" if known else ""


def file_of(error: OSError) -> str:
    """Return the file that an error of the system is about, "" where it names none; of a copy that
    had no room the new file, which Python names second."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return str((error.filename2 if full else None) or error.filename or "")


def _lacks_files(path: str) -> bool:
    """Whether the file system of a path, or of its folder, has room but takes no further file."""
    for place in (path, Path(path).parent) if path else ():
        try:
            found = os.statvfs(place)
        except OSError:
            continue
        return found.f_files > 0 == found.f_favail and found.f_bavail > 0
    return False


def one_line(fault: BaseException) -> str:
    """Return the text of an error on one line; its kind where it has no text."""
    if isinstance(fault, SystemExit) and not isinstance(fault.code, str):
        return f"it exits with status {fault.code or 0}"
    return " ".join(str(fault).split()) or type(fault).__name__
