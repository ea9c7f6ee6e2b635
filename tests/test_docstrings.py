"""The docstrings of the package: none is missing, and their words are plain."""

from collections.abc import Callable
from pathlib import Path

import docstrings
import pytest

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
    """Public classes, functions and methods have one."""
    assert [] == of_folder(folder, docstrings.missing)


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_use_plain_words(folder):
    """None has a word to avoid, or a sentence that begins with "What" and asks nothing."""
    assert [] == of_folder(folder, docstrings.unclear)
