"""The jobs of a fleet's plan as ReFrame tests.

`deepbench fleet run` gives this file to ReFrame. A site may run it from its own ReFrame as well:

    DEEPBENCH_FLEET_PLAN=fleet/plan.json reframe -C site.py -c deepbench_job.py -r

A job that is measured is no test any more.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import parameter, run_after, run_before, sanity_function
from reframe.core.runtime import runtime

from deepbench_ops.fleet import node_job, scheduled_jobs
from deepbench_ops.fleet.reframe_site import MACHINE_EXTRA, Partition

FLEET = scheduled_jobs.from_environment(
    [
        Partition(
            part.fullname,
            part.extras.get(MACHINE_EXTRA, part.name),
            part.scheduler.registered_name,
        )
        for part in runtime().system.partitions
    ]
)

NODES = ".nid"
"""Name under which ReFrame's --distribute gives a test its node, in a list."""


@rfm.simple_test
class DeepbenchJob(rfm.RunOnlyRegressionTest):
    """One job of the plan on a node that nothing else uses, or on several.

    The job script runs on the first node, and starts processes on the others itself.
    """

    job_id = parameter(FLEET.open_jobs)
    descr = "deep-learning operations of one release"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = sys.executable
    num_tasks = FLEET.ranks
    num_tasks_per_node = FLEET.ranks_per_node
    exclusive_access = True

    @run_after("init")
    def prepare(self) -> None:
        """Choose the partition, the command and the time limit."""
        self.valid_systems = [FLEET.partition(self.job_id)]
        self.executable_opts = FLEET.arguments(self.job_id)
        if getattr(self, "time_limit", None) is None:
            self.time_limit = f"{FLEET.most_seconds(self.job_id)}s"
        self.prerun_cmds = [FLEET.demand_python(self.executable)]

    @run_after("init")
    def leave_out(self) -> None:
        """Leave out a node that has measured the job."""
        nodes = getattr(self, NODES, None)
        if nodes and FLEET.is_measured(self.job_id, nodes[0]):
            self.skip(f"{self.job_id} is measured on {nodes[0]}")

    @run_before("run")
    def ask_for_the_node(self) -> None:
        """Start in the job script itself, where the whole node is to be had."""
        self.job.launcher = getlauncher("local")()
        scheduler = self.current_partition.scheduler.registered_name
        self.job.options += scheduled_jobs.OPTIONS.get(scheduler, [])
        count = getattr(self.current_partition.processor, "num_cpus", None)
        if count and scheduler in scheduled_jobs.BINDING:
            self.num_cpus_per_task = max(1, count // FLEET.ranks_per_node)
        if scheduler == "flux":
            scheduled_jobs.ask_flux_for_a_node(self.job, float(self.time_limit))
        if scheduler == "ssh":
            self.job.cancel = partial(scheduled_jobs.cancel_over_ssh, self.job)

    @sanity_function
    def is_measured(self) -> Any:
        """Look for the last line of this job when it is measured."""
        wanted = node_job.done_pattern(self.job_id, FLEET.plan.digest)
        return sn.assert_found(wanted, self.stdout, msg=self.reason())

    @sn.deferrable
    def reason(self) -> str:
        """Return the line of another job, which a changed job script has measured, else the last
        line of the errors."""
        try:
            output, errors = map(self.lines, (self.stdout, self.stderr))
        except OSError as error:
            return f"{error.filename}: {error.strerror}"
        if other := [line for line in output if line.startswith(node_job.DONE)]:
            return f"the job script of {self.job_id} was changed: {other[-1]}"
        return (errors or [f"{self.job_id} ended without a word"])[-1]

    def lines(self, name: Any) -> list[str]:
        """Return the lines of a file of output, without empty ones. Raises OSError."""
        path = Path(self.stagedir, str(sn.evaluate(name)))
        return [line for line in path.read_text("utf-8", "replace").splitlines() if line]
