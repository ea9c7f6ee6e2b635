"""The jobs of a fleet's plan as ReFrame tests.

`deepbench fleet run` gives this file to ReFrame. A site may run it from its own ReFrame as well:

    DEEPBENCH_FLEET_PLAN=fleet/plan.json reframe -C site.py -c deepbench_job.py -r

That ReFrame may be installed apart from this project, so this file imports ReFrame alone. The
project's Python lists the jobs: the one that DEEPBENCH_FLEET_PYTHON names, else ReFrame's where
that has the project, else that of the environment in which this file is.

A job that is measured is no test any more.
"""

import importlib.util
import json
import os
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import parameter, run_after, run_before, sanity_function
from reframe.core.runtime import runtime

PLAN_VARIABLE = "DEEPBENCH_FLEET_PLAN"
"""Names the plan, from the folder in which ReFrame was started."""

PYTHON_VARIABLE = "DEEPBENCH_FLEET_PYTHON"
"""Names the Python that has this project."""

NODES = ".nid"
"""Name under which ReFrame's --distribute gives a test its node, in a list."""


def refusal(reason: str) -> SystemExit:
    """Return the exception that ends ReFrame with a line, which only skips this file at others."""
    return SystemExit(f"deepbench: error: {reason}")


def project_python() -> str:
    """Return the path of the Python that has this project. Raises SystemExit for none."""
    if named := os.environ.get(PYTHON_VARIABLE):
        return named
    if importlib.util.find_spec("deepbench_ops") is not None:
        return sys.executable
    for folder in Path(__file__).resolve().parents:
        if (folder / "pyvenv.cfg").exists():
            return str(folder / "bin" / "python")
    raise refusal(f"set {PYTHON_VARIABLE} to the Python in which deepbench is installed")


def plan_variables() -> dict[str, str]:
    """Return the variable with the absolute path of the plan: ReFrame changes to the folder of this
    file while it reads it."""
    named = os.environ.get(PLAN_VARIABLE)
    started = Path(os.environ.get("PWD", ""))
    return {PLAN_VARIABLE: str(started / named)} if named else {}


def listed(python: str) -> dict[str, Any]:
    """Return the jobs of the plan, by the project's Python. Raises SystemExit with its reason."""
    system = runtime().system
    parts = [
        {"name": part.name, "scheduler": part.scheduler.registered_name, "extras": part.extras}
        for part in system.partitions
    ]
    command = [python, "-m", "deepbench_ops.fleet.job_list"]
    text = json.dumps({"system": system.name, "partitions": parts}, default=str)
    try:
        done = subprocess.run(
            command,
            input=text,
            env={**os.environ, **plan_variables()},
            capture_output=True,
            text=True,
        )
    except OSError as error:
        raise refusal(f"{python}: {error.strerror}") from None
    if done.returncode:
        lines = done.stderr.split("\n") if done.stderr.strip() else ["it ended without a word"]
        raise refusal(f"{python}: {[line for line in lines if line][-1]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


PYTHON = project_python()
FLEET = listed(PYTHON)


@rfm.simple_test
class DeepbenchJob(rfm.RunOnlyRegressionTest):
    """One job of the plan on a node that nothing else uses, or on several.

    The job script runs on the first node, and starts processes on the others itself.
    """

    job_id = parameter([*FLEET["jobs"]])
    descr = "deep-learning operations of one release"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = shlex.quote(PYTHON)
    num_tasks = FLEET["ranks"]
    num_tasks_per_node = FLEET["ranks_per_node"]
    exclusive_access = True

    @property
    def about(self) -> dict[str, Any]:
        """Partition, arguments, time limit in seconds, last line, and nodes of the job."""
        found: dict[str, Any] = FLEET["jobs"][self.job_id]
        return found

    @run_after("init")
    def prepare(self) -> None:
        """Choose the partition, the command and the time limit."""
        self.valid_systems = [self.about["partition"]]
        self.executable_opts = self.about["arguments"]
        if getattr(self, "time_limit", None) is None:
            self.time_limit = f"{self.about['seconds']}s"
        self.prerun_cmds = [FLEET["demand_python"].replace("PYTHON", self.executable)]

    @run_after("init")
    def leave_out(self) -> None:
        """Leave out a node that has measured the job."""
        nodes = getattr(self, NODES, None)
        if nodes and nodes[0] in self.about["measured_on"]:
            self.skip(f"{self.job_id} is measured on {nodes[0]}")

    @run_before("run")
    def ask_for_the_node(self) -> None:
        """Start in the job script itself, where the whole node is to be had."""
        self.job.launcher = getlauncher("local")()
        scheduler = self.current_partition.scheduler.registered_name
        self.job.options += FLEET["options"].get(scheduler, [])
        count = getattr(self.current_partition.processor, "num_cpus", None)
        if count and scheduler in FLEET["binding"]:
            self.num_cpus_per_task = max(1, count // FLEET["ranks_per_node"])
        if scheduler == "flux":
            ask_flux_for_a_node(self.job, float(self.time_limit))
        if scheduler == "ssh":
            self.job.cancel = partial(cancel_over_ssh, self.job)

    @sanity_function
    def is_measured(self) -> Any:
        """Look for the last line of this job when it is measured."""
        return sn.assert_found(self.about["done"], self.stdout, msg=self.reason())

    @sn.deferrable
    def reason(self) -> str:
        """Return the line of another job, which a changed job script has measured, else the last
        line of the errors."""
        try:
            output, errors = map(self.lines, (self.stdout, self.stderr))
        except OSError as error:
            return f"{error.filename}: {error.strerror}"
        if other := [line for line in output if line.startswith(FLEET["done"])]:
            return f"the job script of {self.job_id} was changed: {other[-1]}"
        return (errors or [f"{self.job_id} ended without a word"])[-1]

    def lines(self, name: Any) -> list[str]:
        """Return the lines of a file of output, without empty ones. Raises OSError."""
        path = Path(self.stagedir, str(sn.evaluate(name)))
        return [line for line in path.read_text("utf-8", "replace").splitlines() if line]


def ask_flux_for_a_node(job: Any, seconds: float) -> None:
    """Ask Flux for a whole node, and for a time limit in seconds.

    ReFrame describes the job to Flux before it knows either: one core, without a limit. job:
    ReFrame's job of a test, whose `fluxjob` is a job specification of Flux.
    """
    known = job.fluxjob
    command = ["/bin/bash", job.script_filename]
    whole = type(known).from_command(command=command, num_tasks=1, num_nodes=1, exclusive=True)
    for name in ("stdout", "stderr", "cwd", "environment"):
        setattr(whole, name, getattr(known, name))
    whole.duration = seconds
    job.fluxjob = whole


def cancel_over_ssh(job: Any) -> None:
    """End the connections of a job by ssh; its processes end with them.

    ReFrame 4.10 signals the first of a job's commands, the copy of its files, and fails where that
    has ended. job: ReFrame's job of a test, with a command for each step.
    """
    for step in job.steps.values():
        if step.started() and not step.done():
            step.cancel()
