"""Job scripts that ReFrame generates for schedulers, without any of them."""

import os
import subprocess
from pathlib import Path

import command
import fleet_project
import pytest

from deepbench_ops.fleet import reframe_site
from deepbench_ops.fleet.fleet_jobs import PLAN_VARIABLE
from deepbench_ops.fleet.fleet_run import CHECKS

pytest.importorskip("reframe", reason="the extra fleet is not installed")

SCHEDULERS = {
    "lsf": ("#BSUB -x", "#BSUB -nnodes 1", "#BSUB -W 60"),
    "pbs": ("#PBS -l place=exclhost", "#PBS -l walltime=1:0:30"),
    "slurm": ("#SBATCH --exclusive", "#SBATCH --no-requeue", "#SBATCH --time=1:0:30"),
    "ssh": (),
    "torque": ("#PBS -l naccesspolicy=singlejob", "#PBS -l nodes=1:ppn=1"),
}
"""Lines that ask for a node of its own, and for the time limit. (flux needs its own package.)"""


PARTITION = {"launcher": "local", "environs": ["builtin"]}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The job script of each scheduler, by its name, the plan and its path."""
    partitions = [{"name": name, "scheduler": name, **PARTITION} for name in SCHEDULERS]
    for each in partitions:
        each["sched_options"] = {"ssh_hosts": ["n1"]} if each["name"] == "ssh" else {}
    return generated(tmp_path_factory.mktemp("project"), partitions)


def generated(root, partitions):
    """The job script of each partition, by its name, the plan and its path."""
    system = {"name": "lab", "hostnames": [".*"], "partitions": partitions}
    config = root / "site.py"
    content = {"systems": [system], "environments": [{"name": "builtin"}]}
    config.write_text(f"site_configuration = {content!r}\n")
    path = fleet_project.make(root)
    jobs = [fleet_project.job(machine=each["name"]) for each in partitions]
    plan = fleet_project.write(path, fleet_project.plan(*jobs, system="lab", config=str(config)))
    options = ["-C", config, "--system=lab", "-c", CHECKS, "--dry-run", "--prefix", root / "out"]
    environ = {**os.environ, **fleet_project.environ(root), PLAN_VARIABLE: str(path)}
    done = subprocess.run(
        [*reframe_site.command(), *options], cwd=root, env=environ, capture_output=True, text=True
    )
    assert 0 == done.returncode, done.stdout
    found = {each.parts[-4]: each.read_text() for each in root.glob("out/stage/**/rfm_job.sh")}
    return found, plan, path


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_job_asks_for_a_node_of_its_own(scripts, scheduler):
    """In the words of its scheduler."""
    found, _, _ = scripts
    assert set(SCHEDULERS) == set(found)
    lines = found[scheduler].splitlines()
    assert set(SCHEDULERS[scheduler]) <= set(lines)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_job_measures_what_the_plan_says(scripts, scheduler):
    """In the script itself, after a look for Python, with the plan's digest."""
    found, plan, path = scripts
    *_, look, line = found[scheduler].splitlines()
    assert "no Python at" in look
    job = next(each for each in plan.jobs if each.machine == scheduler)
    assert line.endswith(f"deepbench_ops.fleet.node_job {path} {job.id} {plan.digest}")


def test_the_file_of_tests_is_printed():
    """For a ReFrame of the site's own."""
    status, said, _ = command.deepbench("fleet", "checks")
    assert (0, CHECKS) == (status, Path(said.strip()))


def test_a_job_asks_for_all_processors_that_the_site_names(tmp_path):
    """PBS would bind it to one."""
    partition = {**PARTITION, "name": "pbs", "scheduler": "pbs", "processor": {"num_cpus": 64}}
    found, _, _ = generated(tmp_path, [partition])
    assert "#PBS -l select=1:mpiprocs=1:ncpus=64" in found["pbs"].splitlines()
