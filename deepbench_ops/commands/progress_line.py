"""Progress line of a long command on a terminal, removed when the command is done."""

import shutil
import sys

CLEAR = "\r\x1b[K"


def show(text: str) -> None:
    """Replace the line on stderr; nothing where stderr is no terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(CLEAR + text[: shutil.get_terminal_size().columns - 1])
        sys.stderr.flush()


def clear() -> None:
    """Remove the line, before anything else is printed."""
    if sys.stderr.isatty():
        sys.stderr.write(CLEAR)
        sys.stderr.flush()
