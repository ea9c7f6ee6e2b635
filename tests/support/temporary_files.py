"""One folder for the temporary files of a test run, removed when it ends.

Tests kill programs, which then leave files behind. The folders of `tmp_path` stay where they are:
pytest keeps those of the last runs for a look at failures.
"""

import os
import shutil
import tempfile

import pytest

FOLDER = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder, whose path is short since sockets lie in it; workers of xdist share it."""
    if not hasattr(config, "workerinput"):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        os.environ["TMPDIR"] = config.stash[FOLDER] = tempfile.mkdtemp(prefix="tests-")
    tempfile.tempdir = None  # read from the variable again


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder."""
    if FOLDER in config.stash:
        shutil.rmtree(config.stash[FOLDER], ignore_errors=True)
