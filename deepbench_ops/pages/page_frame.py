"""The frame of all our own pages: title, links to the other pages, theme, footer."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any

from deepbench_ops.conditions import CONDITIONS
from deepbench_ops.pages.rendering import render

START = "index.html"
BENCHMARKS = "benchmarks.html"
"""asv's own pages, with a graph for each benchmark."""

NAVIGATION = (
    ("machine.html", "Machines"),
    ("frameworks.html", "Frameworks"),
    ("operations.html", "Operations"),
    ("release.html", "Changes"),
    ("compare.html", "Compare"),
    ("models.html", "Models"),
)
"""File and name of each page in the order of the links to them; the project's name leads to the
start page."""

FURTHER = (
    ("timeline.html", "Timeline"),
    ("verdicts.html", "All changes"),
    ("releases.html", "All releases, and how to read these pages"),
    (BENCHMARKS, "asv's own pages"),
)
"""The same of the pages that the footer links to."""

ASV_NAVIGATION = ((START, "Benchmarks"), ("releases.html", "Releases"))
"""The same where commits are not releases: releases.html is the only page of our own there."""


def render_page(
    file: str,
    project: str,
    navigation: Sequence[tuple[str, str]] = NAVIGATION,
    site_url: str = "",
    **values: Any,
) -> str:
    """HTML of the page `file`, from the template of that name; `project` is text.

    site_url: address of the published site with a slash at its end; "" where it is not configured,
    so that there is neither a feed nor a preview image.
    """
    conditions = [
        {"name": condition.name, "variable": condition.variable, "usual": condition.usual}
        for condition in CONDITIONS
    ]
    return render(
        file,
        file=file,
        project=project,
        navigation=navigation,
        further=FURTHER if navigation is NAVIGATION else (),
        conditions=json.dumps(conditions),
        day=datetime.datetime.now(datetime.UTC).date().isoformat(),
        site_url=site_url,
        **values,
    )
