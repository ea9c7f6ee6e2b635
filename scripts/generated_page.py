"""Pages that scripts write, and the check whether they are up to date."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def write_or_check(path: Path, page: Callable[[], str], script: str) -> None:
    """Write a page; with --check on the command line, exit with 1 if it is not up to date.

    path: of the page. page: returns its text. script: the command that writes it.
    """
    parser = argparse.ArgumentParser(description=f"Write {path.name}.")
    parser.add_argument("--check", action="store_true", help="only compare")
    arguments = parser.parse_args()
    if not arguments.check:
        path.write_text(page(), encoding="utf-8")
    elif path.read_text(encoding="utf-8") != page():
        sys.exit(f"{path} is out of date: run {script}")
