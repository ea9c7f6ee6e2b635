"""The frame of all pages of this project: title, links to the other pages, theme, footer."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any

from deepbench_ops.pages.rendering import render
from deepbench_ops.run_conditions import CONDITIONS

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
    ("verdicts.html", "List of changes"),
    ("nodes.html", "Nodes compared"),
    ("releases.html", "All releases, and how to read these pages"),
    (BENCHMARKS, "asv's own pages"),
)
"""Files and names of the pages to which the footer links."""

ASV_NAVIGATION = ((START, "Benchmarks"), ("releases.html", "Releases"))
"""Files and names of pages if commits are not releases; only releases.html is not asv's."""


def render_page(
    file: str,
    project: str,
    navigation: Sequence[tuple[str, str]] = NAVIGATION,
    site_url: str = "",
    **values: Any,
) -> str:
    """HTML of the page `file`, from the template of that name; `project` is text.

    site_url: address of the published site with a slash at its end; "" if it is not configured.
    Then the page links to neither a feed nor a preview image.
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
