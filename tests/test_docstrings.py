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
def test_docstrings_name_the_errors(folder):
    """A function that raises one of this project's errors itself says so."""
    assert [] == of_folder(folder, docstrings.unnamed_errors)


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_use_plain_words(folder):
    """None has a word to avoid, or a sentence that begins with "What" and asks nothing."""
    assert [] == of_folder(folder, docstrings.unclear)


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_use_plain_words(folder):
    """No function, argument or variable of the package has a word to avoid in its name."""
    assert [] == of_folder(folder, docstrings.unclear_names)


@pytest.mark.parametrize("folder", FOLDERS)
def test_messages_use_plain_words(folder):
    """No message, help text or note of the package has a word to avoid."""
    assert [] == of_folder(folder, docstrings.unclear_messages)


@pytest.mark.parametrize("script", docstrings.scripts(), ids=lambda path: path.name)
def test_scripts_use_plain_words(script):
    """Their docstrings, messages and names are held to the same words as the package."""
    found = docstrings.unclear(script) + docstrings.unclear_messages(script)
    assert [] == found + docstrings.unclear_names(script)


@pytest.mark.parametrize("folder", FOLDERS)
def test_comments_use_plain_words(folder):
    """Comments of the package are held to the same words as its docstrings."""
    assert [] == of_folder(folder, docstrings.unclear_comments)


@pytest.mark.parametrize("file", docstrings.commented(), ids=lambda path: path.name)
def test_comments_of_other_files_use_plain_words(file):
    """So are those of scripts, tests, pages, and of the files in the root."""
    assert [] == docstrings.unclear_comments(file)


@pytest.mark.parametrize("table", docstrings.tables(), ids=lambda path: path.name)
def test_tables_use_plain_words(table):
    """The notes and reasons in the package's CSV files are printed by commands and pages."""
    assert [] == docstrings.unclear_cells(table)


@pytest.mark.parametrize("test", docstrings.tests(), ids=lambda path: path.name)
def test_tests_use_plain_words(test):
    """Their docstrings, relative clauses included, and names are held to the same words."""
    assert [] == docstrings.unclear(test) + docstrings.unclear_names(test)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What a kernel came to.", ["What"]),
        ("Seconds. What is left is noise.", ["What"]),
        ("Seconds.\n\n    What it takes for a range:", ["What"]),
        ("What became slower? A list.", []),
        ("Kernels, one of which is beside another.", ["of which", "beside"]),
        ("Return what was done.", ["Return what was"]),
        ("Raises DeepbenchError for what is\nno workbook.", ["for what is"]),
        ("It says what is wrong, and asks what was left out.", []),
        ("Figures besides those, and retold ones.", []),
        ("- Noise.\n- What was not measured: convolutions.\n", ["What"]),
        ("- **What is new?** Changes.", []),
    ],
)
def test_words_to_avoid_are_found(text, expected):
    """Whole words, things named by "what is", and sentences with "What" that ask nothing."""
    assert expected == plain_words.nameless(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Link the modules, and what describes them.", ["what describes them."]),
        ("Times. It keeps what\nwas measured: all.", ["what was measured:"]),
        ("It says where it is, and what is wrong. Ask what to do.", []),
        ("How fast is it, and what made it slower? what: name of the sums.", []),
        ("The value of `what it is`, and of\n\n```\nwhat kernels\n```\n", []),
        ("| what | kernels |\n", []),
    ],
)
def test_relative_clauses_with_what_are_found(text, expected):
    """Those after a verb that asks, questions, code and names of columns are none."""
    assert expected == plain_words.relative(text)


def test_comments_are_found(tmp_path):
    """Blocks of lines are one text; an address is no comment."""
    script, page = tmp_path / "a.py", tmp_path / "a.js"
    script.write_text("x = 1  # told\n\n# What\n# holds.\n")
    page.write_text("get('https://a/beside'); // anew\n/* Nothing\n * told. */\n")
    assert ["1 told", "3 What"] == docstrings.unclear_comments(script)
    assert ["1 anew, told"] == docstrings.unclear_comments(page)
