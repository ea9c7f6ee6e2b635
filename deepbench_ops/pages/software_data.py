"""data/stacks/MACHINE: the software under each release that was measured on a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deepbench_ops.analysis import software_versions
from deepbench_ops.analysis.software_versions import ReleaseSoftware
from deepbench_ops.releases.release_table import Release

FACT_CHARACTERS = 200
"""Largest number of characters of a fact in the list of changed facts."""


def content(stacks: Sequence[ReleaseSoftware], places: Mapping[Release, int]) -> dict[str, Any]:
    """By framework: the facts of its newest release, and the facts that each release changed."""
    by_framework: dict[str, dict[str, Any]] = {}
    for one in stacks:
        own = by_framework.setdefault(one.release.framework, {"new": []})
        own["facts"] = dict(one.facts)
        if one.release in places:
            own["new"].append(
                [places[one.release], software_versions.as_text(one.new, FACT_CHARACTERS)]
            )
    return by_framework
