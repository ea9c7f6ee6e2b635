"""The asv output publisher: runs after asv's own, and completes the site they wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from asv.graph import make_summary_graph
from asv.publishing import OutputPublisher

from deepbench_ops.analysis.causes import causes
from deepbench_ops.pages import (
    framework_page,
    lines,
    noise_data,
    page_index,
    release_list,
    site,
    site_data,
    verdict_page,
)


class DeepbenchPages(OutputPublisher):
    """Libraries brought along, the release list, and grid graphs of one framework each."""

    name = "deepbench"
    button_label = "Releases"
    description = "How to read the pages, and the releases"

    @classmethod
    def publish(
        cls, conf: Any, repo: Any, benchmarks: Any, graphs: Any, revisions: dict[str, int]
    ) -> None:
        """Complete conf.html_dir. Raises page_index.PagesError where asv's page is not known."""
        html_dir = Path(conf.html_dir)
        judged = release_list.named(conf)
        page_index.write(html_dir, conf.project, judged)
        site.carry(html_dir)
        releases = release_list.collect(repo, graphs, revisions)
        release_list.write(html_dir, conf.project, releases, judged)
        if judged:
            found, machines, torn = lines.read(Path(conf.results_dir), repo.timeline)
            measured = [line for line in found if line.measured]
            site.write(html_dir, conf.project)
            changed = causes([line for line in measured if len(line.points) > 1])
            site_data.write(html_dir, conf.project, machines, found, changed, torn)
            verdict_page.write(html_dir, conf.project, measured, torn)
            framework_page.write(html_dir, conf.project, measured)
            noise_data.write(html_dir, measured, benchmarks, graphs)
        one_framework_summaries(conf, repo, benchmarks, graphs)


def one_framework_summaries(conf: Any, repo: Any, benchmarks: Any, graphs: Any) -> None:
    """Write the grid's graphs again, each from the first branch that has results.

    asv averages over all branches. Frameworks share no release, so its line would jump between
    them from point to point; the first branch is also the one that the graph page opens with.
    """
    branches = [repo.get_branch_name(branch) for branch in conf.branches]
    if len(branches) < 2:
        return
    for name in benchmarks:
        group = graphs.get_graph_group(name)
        for branch in branches:
            own = [g for g in group if g.params.get("branch") == branch and g.get_data()]
            if own:
                make_summary_graph(own).save(conf.html_dir)
                break
