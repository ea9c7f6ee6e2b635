"""The errors a user is meant to read: what is wrong, with which value, and the mend."""


class DeepbenchError(Exception):
    """Bad input or a missing piece. Its text is one line, fit to print as it stands."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a command that has measured already. Its text says what is kept."""


class Unsupported(NotImplementedError):
    """This framework, release, device or machine cannot do that operation; the text says why.

    It is a NotImplementedError because asv records a benchmark whose setup raises one as
    skipped (NaN) rather than failed (null).
    """
