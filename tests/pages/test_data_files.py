"""Data files of the pages are JSON, whatever types the data have."""

import json
import math
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pytest
from published_site import unpacked

from deepbench_ops.pages.data_files import data_script


class Pair(NamedTuple):
    seconds: float
    name: str


def test_a_data_file_has_lists_for_tuples_and_null_for_missing_numbers() -> None:
    """NaN and infinity are shown as no number is."""
    content = {"rows": [Pair(0.5, "é"), (math.nan, math.inf)], 3: True}
    expected = {"rows": [[0.5, "é"], [None, None]], "3": True}
    assert expected == json.loads(unpacked(data_script(content)))


@pytest.mark.parametrize("value", [MappingProxyType({"a": 1}), {1, 2}, np.float32(1), object()])
def test_other_types_are_refused(value: object) -> None:
    """A list of its keys in place of a map would be a wrong page."""
    with pytest.raises(TypeError):
        data_script({"value": value})
