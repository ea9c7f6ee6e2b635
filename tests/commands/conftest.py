"""Setup of the tests of commands: no settings from outside, which commands report in a line of
their own and results carry with them. Some hosts and images have OPENBLAS_CORETYPE."""

from collections.abc import Iterator

import pytest

from deepbench_ops.measure import outside_settings


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, _ in outside_settings.foreign():
        monkeypatch.delenv(name)
    outside_settings.of_this_process.cache_clear()
    yield
    outside_settings.of_this_process.cache_clear()
