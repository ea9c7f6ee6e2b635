"""A home folder without machines, which is a project folder too."""

from pathlib import Path

import pytest
from command import make_project


@pytest.fixture
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, and to work in: asv keeps its list of machines in the real one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    make_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
