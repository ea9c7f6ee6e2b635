"""Errors for the user to read: the fault, the value at fault, and the remedy."""


class DeepbenchError(Exception):
    """Bad input or a missing piece. Its text is one line, fit to print as it stands."""


class NoAnswer(DeepbenchError):
    """A question that is right in itself and has no answer in what is measured here. Its text is
    one line, fit to print as it stands."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a command that has measured already. Its text names the work that is kept."""


class Unsupported(NotImplementedError):
    """This framework, release, device or machine cannot do that operation; the text says why.

    It is a NotImplementedError because asv records a benchmark whose setup raises one as
    skipped (NaN) rather than failed (null).
    """
