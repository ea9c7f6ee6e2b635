"""Job scripts that ReFrame generates for schedulers, without any of them."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import command
import fleet_project
import pytest

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet import reframe_site
from deepbench_ops.fleet.fleet_run import CHECKS
from deepbench_ops.fleet.scheduled_jobs import PLAN_VARIABLE

pytest.importorskip("reframe", reason="the extra fleet is not installed")

PYTHON_VARIABLE = "DEEPBENCH_FLEET_PYTHON"

STUBS = Path(__file__).resolve().parents[1] / "support" / "stubs"

SCHEDULERS = {
    "flux": (),
    "lsf": ("#BSUB -x", "#BSUB -nnodes 1", "#BSUB -W 60", "#BSUB -rn"),
    "pbs": ("#PBS -l place=exclhost", "#PBS -l walltime=1:0:30", "#PBS -r n"),
    "slurm": ("#SBATCH --exclusive", "#SBATCH --no-requeue", "#SBATCH --time=1:0:30"),
    "ssh": (),
    "torque": ("#PBS -l naccesspolicy=singlejob", "#PBS -l nodes=1:ppn=1", "#PBS -r n"),
}
"""Lines that ask for a node of its own, for the time limit, and for no second start. Flux is asked
by its Python package, for which `STUBS` has a stub."""


PARTITION = {"launcher": "local", "environs": ["builtin"]}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The job script of each scheduler, by its name, the plan and its path."""
    partitions = [{"name": name, "scheduler": name, **PARTITION} for name in SCHEDULERS]
    for each in partitions:
        each["sched_options"] = {"ssh_hosts": ["n1"]} if each["name"] == "ssh" else {}
    return generated(tmp_path_factory.mktemp("project"), partitions)


def generated(root, partitions, placement=None, **more):
    """The job script of each partition, by its name, the plan and its path; more: variables."""
    system = {"name": "lab", "hostnames": [".*"], "partitions": partitions}
    config = root / "site.py"
    content = {"systems": [system], "environments": [{"name": "builtin"}]}
    config.write_text(f"site_configuration = {content!r}\n")
    path = fleet_project.make(root)
    families = ("all_gather",) if placement else (fleet_project.FAMILY,)
    jobs = [
        fleet_project.job(machine=plans.profile(each["name"], placement), families=families)
        for each in partitions
    ]
    site = {"system": "lab", "config": str(config), "placement": placement}
    plan = fleet_project.write(path, fleet_project.plan(*jobs, **site))
    options = ["-C", config, "--system=lab", "-c", CHECKS, "--dry-run", "--prefix", root / "out"]
    environ = {**os.environ, **fleet_project.environ(root), PLAN_VARIABLE: str(path), **more}
    environ["PYTHONPATH"] += f"{os.pathsep}{STUBS}"
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


def test_a_python_in_a_folder_of_any_name_is_started(tmp_path):
    """Nothing in its path is a word of the shell, in the look for it and in the command."""
    folder = tmp_path / "a $(touch found) 'bench'"
    folder.mkdir()
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    partition = {**PARTITION, "name": "slurm", "scheduler": "slurm"}
    found, *_ = generated(tmp_path, [partition], **{PYTHON_VARIABLE: str(python)})
    *_, look, line = found["slurm"].splitlines()
    assert str(python) == shlex.split(line)[0]
    here = {"cwd": tmp_path, "capture_output": True, "text": True}
    assert 0 == subprocess.run(["bash", "-c", look], **here).returncode
    python.unlink()
    missing = subprocess.run(["bash", "-c", look], **here)
    assert 1 == missing.returncode and f"no Python at {python}: install" in missing.stderr
    assert not (tmp_path / "found").exists()


def test_flux_is_asked_for_a_whole_node_and_a_time_limit(scripts):
    """In its job specification, which ReFrame makes before it knows of either."""
    *_, path = scripts
    [record] = (path.parents[1] / "out").rglob("flux_jobspec.json")
    asked = json.loads(record.read_text())
    assert (1, 1, True) == (asked["num_nodes"], asked["num_tasks"], asked["exclusive"])
    assert 3630 == asked["duration"]
    assert ["/bin/bash", "rfm_job.sh"] == asked["command"]
    assert asked["stdout"].endswith("rfm_job.out")


def test_the_file_of_tests_is_printed():
    """For a ReFrame of the site's own."""
    status, said, _ = command.deepbench("fleet", "checks")
    assert (0, CHECKS) == (status, Path(said.strip()))


def test_a_job_asks_for_all_processors_that_the_site_names(tmp_path):
    """PBS would bind it to one."""
    partition = {**PARTITION, "name": "pbs", "scheduler": "pbs", "processor": {"num_cpus": 64}}
    found, _, _ = generated(tmp_path, [partition])
    assert "#PBS -l select=1:mpiprocs=1:ncpus=64" in found["pbs"].splitlines()


def test_a_job_over_several_nodes_asks_for_them_and_its_ranks(tmp_path):
    """The script itself runs once, on the first node."""
    names = ("slurm", "pbs", "lsf")
    partitions = [
        {**PARTITION, "name": name, "scheduler": name, "processor": {"num_cpus": 64}}
        for name in names
    ]
    placement = RankPlacement(2, 4, "mpirun", "hdr200")
    found, plan, path = generated(tmp_path, partitions, placement)
    wanted = {
        "slurm": {"#SBATCH --ntasks=8", "#SBATCH --ntasks-per-node=4", "#SBATCH --exclusive"},
        "pbs": {"#PBS -l select=2:mpiprocs=4:ncpus=64"},
        "lsf": {"#BSUB -nnodes 2"},
    }
    for name in names:
        lines = found[name].splitlines()
        assert wanted[name] <= set(lines)
        (line,) = [line for line in lines if "node_job" in line]
        id = f"{name}-2x4-hdr200-mpirun/{plan.jobs[0].release}/1"
        assert line.endswith(f"{path} {id} {plan.digest}")
