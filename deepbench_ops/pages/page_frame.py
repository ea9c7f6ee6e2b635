"""The frame of all our own pages: title, links to the other pages, theme, footer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from deepbench_ops.conditions import CONDITIONS
from deepbench_ops.pages.rendering import render

START = "index.html"
BENCHMARKS = "benchmarks.html"
"""asv's own pages, with a graph for each benchmark."""

NAVIGATION = (
    (START, "Start"),
    ("machine.html", "Machines"),
    ("timeline.html", "Timeline"),
    ("compare.html", "Compare"),
    ("frameworks.html", "Frameworks"),
    ("models.html", "Models"),
    ("verdicts.html", "Verdicts"),
    ("releases.html", "Releases"),
    (BENCHMARKS, "Benchmarks"),
)
"""File and name of each page, in the order of the links to them."""

ASV_NAVIGATION = ((START, "Benchmarks"), ("releases.html", "Releases"))
"""The same where commits are not releases: releases.html is the only page of our own there."""


def render_page(
    file: str,
    project: str,
    navigation: Sequence[tuple[str, str]] = NAVIGATION,
    **values: Any,
) -> str:
    """HTML of the page `file`, from the template of that name; `project` is text."""
    conditions = [
        {"name": condition.name, "variable": condition.variable, "usual": condition.usual}
        for condition in CONDITIONS
    ]
    return render(
        file,
        file=file,
        project=project,
        navigation=navigation,
        conditions=json.dumps(conditions),
        **values,
    )
