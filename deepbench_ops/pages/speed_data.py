"""A family's speed over the releases of a framework, as fields of a data file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deepbench_ops.analysis.speed_index import Speed
from deepbench_ops.pages.data_files import rounded
from deepbench_ops.releases.release_table import Release


def fields(speed: Speed, places: Mapping[Release, int]) -> dict[str, Any]:
    """The fields of a speed; `at` holds the indices of its releases in the catalogue."""
    return {
        "machine": speed.machine,
        "framework": speed.framework,
        "family": speed.family,
        "precision": speed.precision,
        "at": [places[release] for release in speed.releases],
        "values": [rounded(value, 4) for value in speed.values],
        "kernels": list(speed.kernels),
        "selections": list(speed.selections),
        "unusual": dict(speed.unusual),
    }
