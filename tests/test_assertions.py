"""Rules for the tests: each one asserts something, and their folders mirror the package's."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "deepbench_ops"
FILES = sorted(path for path in TESTS.rglob("test_*.py") if "plugin" not in path.parts)

HELPERS = {"plugin", "support"}
"""Folders of files that tests use."""

EXPECTING = ("raises", "warns")
"""Functions of pytest that fail unless an error or a warning comes."""

UNMIRRORED = {"project_files", "suite"}
"""Folders of the package without a folder of tests: one without Python, and asv's benchmarks, which
the tests of problems/ and asv_adapter/ run."""


def asserts(function: ast.FunctionDef) -> bool:
    """Whether a function asserts, or expects an error or a warning, in its own body."""
    for node in ast.walk(function):
        called = node.func if isinstance(node, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else ""
        if isinstance(node, ast.Assert) or name in EXPECTING or name.startswith("assert_"):
            return True
    return False


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_every_test_asserts_something(path: Path) -> None:
    """A test without an assertion passes whatever the code does."""
    silent = [
        node.name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not asserts(node)
    ]
    assert [] == silent


def test_a_test_without_an_assertion_is_found() -> None:
    """Calls and comparisons alone assert nothing."""
    (function,) = ast.parse("def test_a():\n    run()\n    1 == 2").body
    assert isinstance(function, ast.FunctionDef)
    assert not asserts(function)


def test_folders_of_tests_mirror_those_of_the_package() -> None:
    """A folder has its tests under its own name."""
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__"}
    tested = {path.name for path in TESTS.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders - UNMIRRORED == tested - HELPERS
