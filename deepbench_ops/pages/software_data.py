"""data/stacks/MACHINE: the software under the releases that a machine has measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deepbench_ops.analysis import software_versions
from deepbench_ops.analysis.software_versions import ReleaseSoftware
from deepbench_ops.releases.release_table import Release

LONGEST = 200
"""Characters of a fact in the list of new ones."""


def content(stacks: Sequence[ReleaseSoftware], places: Mapping[Release, int]) -> dict[str, Any]:
    """By framework: the facts under its newest release, and those that changed with each release
    that has times."""
    by_framework: dict[str, dict[str, Any]] = {}
    for one in stacks:
        own = by_framework.setdefault(one.release.framework, {"new": []})
        own["facts"] = dict(one.facts)
        if one.release in places:
            own["new"].append([places[one.release], software_versions.as_text(one.new, LONGEST)])
    return by_framework
