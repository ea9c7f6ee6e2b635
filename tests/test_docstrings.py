"""The docstrings of the package: none is missing, and their words are plain.

The numbers may only fall: a change that cleans a folder lowers its number.
"""

from collections.abc import Callable
from pathlib import Path

import docstrings
import pytest

MISSING = {"backends": 10}
"""By folder, public classes, functions and methods that have no docstring yet; else none."""

UNCLEAR = {"backends": 55}
"""By folder, docstrings with words to avoid (see `docstrings.AVOIDED`); else none."""

FOLDERS = sorted({docstrings.folder_of(module) for module in docstrings.modules()})


def of_folder(folder: str, find: Callable[[Path], list[str]]) -> list[str]:
    """Return "module: line text" of all that `find` finds in the modules of a folder."""
    return [
        f"{module.relative_to(docstrings.PACKAGE)}: {found}"
        for module in docstrings.modules()
        if docstrings.folder_of(module) == folder
        for found in find(module)
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_docstring_is_missing(folder):
    """At most as many as listed."""
    found = of_folder(folder, docstrings.missing)
    assert len(found) <= MISSING.get(folder, 0), found


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_use_plain_words(folder):
    """At most as many exceptions as listed."""
    found = of_folder(folder, docstrings.unclear)
    assert len(found) <= UNCLEAR.get(folder, 0), found
