"""The jobs of a plan as JSON: `python -m deepbench_ops.fleet.job_list`, partitions in its input.

The ReFrame tests in `checks/` run this by the project's Python, since a site's own ReFrame may be
another installation, without this project and on another Python.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet import job_folder, reframe_site, scheduled_jobs
from deepbench_ops.fleet.job_folder import MEASURED
from deepbench_ops.fleet.reframe_site import Site
from deepbench_ops.fleet.scheduled_jobs import PLAN_VARIABLE, FleetJobs


def content(jobs: FleetJobs) -> dict[str, Any]:
    """Return all that the tests need to know of the jobs that are left, by their ids.

    Raises DeepbenchError for a job without a partition.
    """
    nodes = measured_on(jobs)
    return {
        "ranks": jobs.ranks,
        "ranks_per_node": jobs.ranks_per_node,
        "options": scheduled_jobs.OPTIONS,
        "binding": scheduled_jobs.BINDING,
        "demand_python": scheduled_jobs.DEMAND_PYTHON,
        "done": job_folder.DONE,
        "jobs": {
            id: {
                "partition": jobs.partition(id),
                "arguments": jobs.arguments(id),
                "seconds": jobs.most_seconds(id),
                "done": job_folder.done_pattern(id, jobs.plan.digest),
                "measured_on": nodes.get(id, []),
            }
            for id in jobs.open_jobs
        },
    }


def measured_on(jobs: FleetJobs) -> dict[str, list[str]]:
    """Return the nodes that have measured each job of a plan for every node, by its id."""
    found: dict[str, list[str]] = {}
    for folder in job_folder.folders(jobs.plan, jobs.path):
        if folder.node and folder.state() == MEASURED:
            found.setdefault(folder.job.id, []).append(folder.node)
    return found


def from_environment(system: str, partitions: Sequence[Mapping[str, Any]]) -> FleetJobs:
    """Return the jobs of the plan that `PLAN_VARIABLE` names, at a system of a running ReFrame.

    partitions: name, scheduler and extras of each. Raises DeepbenchError for no plan.
    """
    named = os.environ.get(PLAN_VARIABLE)
    if not named:
        raise DeepbenchError(f"set {PLAN_VARIABLE} to the file that deepbench fleet plan wrote")
    path = Path(named)
    plan = plans.read(path)
    found = tuple(reframe_site.partition(system, each) for each in partitions)
    site = Site(system, "", found)
    if [each.name for each in found] == [reframe_site.LOCAL_PARTITION]:
        site = reframe_site.here(plan.machine_types[0])
    return FleetJobs(path.resolve(), plan, site)


def main() -> int:
    """Print the jobs of the plan; return the exit status, with a line for an error."""
    try:
        print(json.dumps(content(from_environment(**json.load(sys.stdin)))))
    except DeepbenchError as reason:
        print(reason, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
