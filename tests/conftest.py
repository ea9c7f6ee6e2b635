"""What all tests share: no time limits on a single example, since machines are shared, and all
cores, which what was measured here before may have given up."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from deepbench_ops.measure import threads

settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")

pytest_plugins = ["browsing"]


@pytest.fixture(autouse=True)
def all_cores() -> Iterator[None]:
    """Whoever measures pins the threads of this process, which its children inherit."""
    yield
    threads.unpin()
