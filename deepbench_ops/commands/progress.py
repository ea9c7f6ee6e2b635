"""One line on a terminal that says what a long command is doing, and is gone when it is done."""

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
