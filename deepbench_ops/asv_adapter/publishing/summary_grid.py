"""The small graphs of asv's grid: each of one framework, and of measured benchmarks alone.

asv averages over all branches. Frameworks share no release, so its line would jump between them
from point to point; here it is of the first branch that has results, which the graph page opens
with too. A run lists benchmarks that it does not measure (first calls, in a selection without
them); asv would show each as an empty box and ask for a file that is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asv.graph import make_summary_graph
from asv.plugins.summarygrid import SummaryGrid

from deepbench_ops.asv_adapter.patch_installation import PUBLISH, Patch


def of_one_framework(original: Callable[..., None]) -> Callable[..., None]:
    """Wrap asv's publisher of the grid."""

    def publish(cls: Any, conf: Any, repo: Any, benchmarks: Any, graphs: Any, *rest: Any) -> None:
        for name in [name for name in benchmarks if not graphs.get_graph_group(name)]:
            del benchmarks[name]
        branches = [repo.get_branch_name(branch) for branch in conf.branches]
        if len(branches) < 2:
            original(cls, conf, repo, benchmarks, graphs, *rest)
            return
        for name in benchmarks:
            _write(conf.html_dir, graphs.get_graph_group(name), branches)

    return publish


def _write(html_dir: str, group: list[Any], branches: list[str]) -> None:
    """Write a benchmark's graph: of the first branch with values, else an empty one."""
    for branch in branches:
        own = [graph for graph in group if graph.params.get("branch") == branch]
        if any(graph.get_data() for graph in own):
            make_summary_graph([graph for graph in own if graph.get_data()]).save(html_dir)
            return
    make_summary_graph(group).save(html_dir)


PATCHES = (
    Patch(
        SummaryGrid,
        "publish",
        of_one_framework,
        "asv averages over frameworks, which share no release, and asks for graphs of benchmarks "
        "that were not measured",
        scope=PUBLISH,
    ),
)
