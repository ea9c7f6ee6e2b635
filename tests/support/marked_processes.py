"""Fixtures that mark the processes of a test, so that one that is left behind is found."""

import uuid
from collections.abc import Iterator

import pytest
from processes import MARK, eventually_gone


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """A text that all processes carry which the test starts (`processes.marked_pids`)."""
    unique = uuid.uuid4().hex
    monkeypatch.setenv(MARK, unique)
    return unique


@pytest.fixture
def none_left(mark: str) -> Iterator[None]:
    """No process that the test starts may outlive it."""
    yield
    assert eventually_gone(mark)
