"""asv's list of all lines, without those that no release has a time of.

Each graph is asked once, and not once for each of its lines.
"""

from typing import Any

from asv import util
from asv.graph import Graph
from asv.plugins.summarylist import SummaryList, benchmark_param_iter

from deepbench_ops.asv_adapter.patch_installation import PUBLISH, Patch, instead


def publish(
    cls: Any, conf: Any, repo: Any, benchmarks: Any, graphs: Any, revisions: dict[str, int]
) -> None:
    """Stand in for SummaryList.publish: the last two levels of each line.

    Files are by machine, branch and environment.
    """
    files: dict[str, list[dict[str, Any]]] = {}
    for name, benchmark in sorted(benchmarks.items()):
        pretty = benchmark.get("pretty_name") or name
        places = [
            (place, pretty if place is None else f"{pretty}({', '.join(params)})")
            for place, params in benchmark_param_iter(benchmark)
        ]
        for graph in graphs.get_graph_group(name):
            lines = graph.get_steps()
            rows = files.setdefault(Graph.get_file_path(graph.params, "summary") + ".json", [])
            for place, pretty_name in places:
                steps = lines if place is None or not lines else lines[place]
                if steps:
                    rows.append(
                        {"name": name, "idx": place, "pretty_name": pretty_name} | _level(steps)
                    )
    for path, rows in files.items():
        util.write_json(f"{conf.html_dir}/{path}", rows, compact=True)


_NOTHING = dict.fromkeys(("last_rev", "last_value", "last_err", "prev_value", "change_rev"))


def _level(steps: list[Any]) -> dict[str, Any]:
    """Return the fields of asv's list for a line; the revisions of a change leave out the first."""
    begin, end, value, _, error = steps[-1]
    last = {"last_rev": end - 1, "last_value": value, "last_err": error}
    if len(steps) == 1:
        return _NOTHING | last
    before = steps[-2]
    change = [None if before[1] == begin else before[1] - 1, begin]
    return last | {"prev_value": before[2], "change_rev": change}


PATCHES = (
    Patch(
        SummaryList,
        "publish",
        instead(publish),
        "asv lists hundreds of lines that no release has a time of",
        scope=PUBLISH,
    ),
)
