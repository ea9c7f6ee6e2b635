"""Errors for the user to read: the fault, the value at fault, and the remedy."""

import errno

REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "allow it, or name another place"),
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR), "name one that exists"),
    errno.EISDIR: "name a file",
    errno.ENOSPC: "make room there",
}
"""The remedy of an error of the system, by its number."""


class DeepbenchError(Exception):
    """Bad input or a missing piece. Its text is one line, fit to print as it stands."""


class NoAnswer(DeepbenchError):
    """A question that is right in itself and has no answer in what is measured here. Its text is
    one line, fit to print as it stands."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a command that has measured already. Its text names the work that is kept."""


class Unsupported(NotImplementedError):
    """Refusal of an operation that a framework, release, device or machine lacks, with the reason.

    It is a NotImplementedError because asv records a benchmark whose setup raises one as
    skipped (NaN) rather than failed (null).
    """


def remedy(error: OSError) -> str:
    """Return the end of the line about an error of the system, ": " and what to do; "" for no
    known remedy."""
    known = REMEDIES.get(error.errno or 0)
    return f": {known}" if known else ""
