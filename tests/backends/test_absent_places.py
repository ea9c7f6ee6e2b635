"""Frameworks and devices that the tables over frameworks leave out."""

import pytest
from installed_frameworks import EVERY_PLACE, PLACES, loaded


@pytest.mark.parametrize(("name", "device"), sorted({*EVERY_PLACE} - {*PLACES}))
def test_a_place_that_is_left_out_is_not_here(name, device):
    """Each is skipped once, with the reason."""
    assert not loaded(name, device), "it is here, and no table tests it"
