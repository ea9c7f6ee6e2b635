"""The docstrings of the package: none is missing, and their words are plain."""

from collections.abc import Callable
from pathlib import Path

import docstrings
import plain_words
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


@pytest.mark.parametrize("folder", FOLDERS)
def test_messages_use_plain_words(folder):
    """No message, help text or note of the package has a word to avoid."""
    assert [] == of_folder(folder, docstrings.unclear_messages)


@pytest.mark.parametrize("script", docstrings.scripts(), ids=lambda path: path.name)
def test_scripts_use_plain_words(script):
    """Their docstrings and messages are held to the same words as the package."""
    assert [] == docstrings.unclear(script) + docstrings.unclear_messages(script)


@pytest.mark.parametrize("test", docstrings.tests(), ids=lambda path: path.name)
def test_tests_use_plain_words(test):
    """Their docstrings are read by those who change the package."""
    assert [] == docstrings.unclear(test)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What a kernel came to.", ["What"]),
        ("Seconds. What is left is noise.", ["What"]),
        ("Seconds.\n\n    What it takes for a range:", ["What"]),
        ("What became slower? A list.", []),
        ("Kernels, one of which is beside another.", ["of which", "beside"]),
        ("Figures besides those, and retold ones.", []),
    ],
)
def test_words_to_avoid_are_found(text, expected):
    """Whole words, and sentences that begin with "What" unless they ask."""
    assert expected == plain_words.unclear(text)
