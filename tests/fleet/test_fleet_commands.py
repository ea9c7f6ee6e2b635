"""Lines and exit statuses of the fleet's commands about jobs that ended before."""

import json
import os
import subprocess
import sys

import command
import fleet_project
import pytest
from numpy.testing import assert_allclose

from deepbench_ops.fleet import fleet_plan, job_folder, scheduled_jobs
from deepbench_ops.fleet.job_folder import Outcome
from deepbench_ops.storage import locks

HOUR = 3600.0
CONFIGURATION = """
site_configuration = {
    "systems": [
        {
            "name": "mycluster",
            "hostnames": [".*"],
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "cpu",
                    "scheduler": "local",
                    "launcher": "local",
                    "environs": ["builtin"],
                    "extras": {"deepbench_machine": "MACHINE"},
                }
            ],
        }
    ],
    "environments": [{"name": "builtin", "target_systems": ["mycluster"]}],
}
"""
COUNTS = ("measured", "not_merged")


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """A measured job of the current project, from a machine that the results describe otherwise."""
    path = fleet_project.make(tmp_path)
    plan = fleet_project.write(path, fleet_project.plan())
    (folder,) = job_folder.folders(plan, path)
    fleet_project.describe(folder.results, fleet_project.MACHINE, cpu="another")
    folder.end(Outcome(True, "n1", 1.0))
    monkeypatch.chdir(tmp_path)
    return folder


def deepbench(*arguments: str) -> tuple[int, str]:
    """Return the exit status and all lines of a command."""
    status, out, err = command.deepbench(*arguments)
    return status, out + err


def test_times_that_are_refused_are_said_and_end_with_status_1(refused):
    """By the run and by the status, with the reason."""
    status, said = deepbench("fleet", "run")
    assert refused.refusal
    line = f"{refused.name}: measured, but its times are not in results: {refused.refusal}"
    assert (1, True) == (status, line in said.splitlines())
    status, said = deepbench("fleet", "status")
    assert (0, True) == (status, f"{refused.name}: its times are not merged: " in said)
    assert "all jobs are measured; deepbench fleet run merges 1 of them" in said.splitlines()
    _, text, _ = command.deepbench("fleet", "status", "--format", "json")
    assert (1, 1) == tuple(json.loads(text)[fleet_project.MACHINE][key] for key in COUNTS)


def test_jobs_with_the_same_reason_share_a_line(tmp_path, monkeypatch):
    """With the first one's name and the number of the others."""
    path = fleet_project.make(tmp_path)
    jobs = [fleet_project.job(number) for number in range(1, 6)]
    plan = fleet_project.write(path, fleet_project.plan(*jobs))
    for folder, why in zip(job_folder.folders(plan, path), "aaabb", strict=True):
        folder.end(Outcome(False, "n1", 1.0, why))
    monkeypatch.chdir(tmp_path)
    _, said = deepbench("fleet", "status")
    lines = [line for line in said.splitlines() if line.endswith("[n1]")]
    names = [job.id for job in jobs]
    first, second = f"{names[0]} and 2 other jobs: a", f"{names[3]} and 1 other job: b"
    assert [f"{first} [n1]", f"{second} [n1]"] == lines


def test_a_second_run_of_a_plan_is_refused(tmp_path, monkeypatch):
    """With the process that runs it."""
    path = fleet_project.make(tmp_path)
    fleet_project.write(path, fleet_project.plan())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr(locks, "QUIET_SECONDS", 0.1)
    code = (
        "import sys; from pathlib import Path; from deepbench_ops.storage import locks\n"
        "with locks.writing(Path(sys.argv[1]), doing='deepbench fleet run'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path.parent / "reframe")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as first:
        first.stdout.readline()
        status, said = deepbench("fleet", "run")
        first.kill()
    assert (2, True) == (status, f"process {first.pid}" in said.splitlines()[-1])
    assert "reframe: try again when it has ended" in said


def test_a_plan_without_a_system_runs_on_the_named_one(tmp_path, monkeypatch):
    """By its partition for the machine type; a system that has none is refused."""
    path = fleet_project.make(tmp_path)
    plan = fleet_project.write(path, fleet_project.plan())
    config = tmp_path / "site.py"
    config.write_text(CONFIGURATION.replace("MACHINE", fleet_project.MACHINE))
    jobs = scheduled_jobs.of(path, plan, "mycluster", str(config))
    assert "mycluster:cpu" == jobs.partition(plan.jobs[0].id)
    assert "here:local" == scheduled_jobs.of(path, plan).partition(plan.jobs[0].id)
    monkeypatch.chdir(tmp_path)
    config.write_text(CONFIGURATION.replace("MACHINE", "another"))
    status, said = deepbench("fleet", "run", "--system", "mycluster", "--config", "site.py")
    assert (2, True) == (status, "unknown machine type of mycluster 'here'" in said), said


def test_the_status_of_a_plan_for_every_node_says_which_nodes_it_knows(tmp_path, monkeypatch):
    """Those on which a job has begun."""
    path = fleet_project.make(tmp_path)
    fleet_project.write(path, fleet_project.plan(every_node=True))
    monkeypatch.chdir(tmp_path)
    _, said = deepbench("fleet", "status")
    assert "nodes on which no job has begun are not counted" in said.splitlines()


def test_the_hours_of_a_job_are_those_of_all_its_nodes(tmp_path, monkeypatch):
    """In the matrix, in its sum, and for each job in JSON."""
    path = fleet_project.make(tmp_path, "torch-2.13.0")
    monkeypatch.chdir(tmp_path)
    placed = "--nodes 4 --interconnect hdr200 --hosts a,b,c,d"
    options = ("--framework", "torch", *placed.split())
    status, text, said = command.deepbench("fleet", "plan", *options, "--format", "json")
    assert 0 == status, said
    plan = fleet_plan.read(path)
    seconds = sum(job.seconds for job in plan.jobs)
    document = json.loads(text)
    assert_allclose(document["node_hours"], 4 * seconds / HOUR, atol=1e-3)
    each = [job["node_hours"] for job in document["jobs"]]
    assert_allclose(each, [4 * job.seconds / HOUR for job in plan.jobs], atol=1e-4)
    _, said = deepbench("fleet", "plan", *options)
    hours = 4 * seconds / HOUR
    assert f"about {hours:.2g} node hours" in said or f"about {hours:.2f} node hours" in said


def test_a_plan_for_every_node_names_the_nodes_that_it_does_not_get(tmp_path, monkeypatch):
    """By the partition of Slurm in the options; plans of other kinds name none."""
    fleet_project.make(tmp_path)
    text = CONFIGURATION.replace("MACHINE", fleet_project.MACHINE).replace(
        '"scheduler": "local",', '"scheduler": "squeue", "access": ["-p cpu"],'
    )
    (tmp_path / "site.py").write_text(text)
    sinfo = tmp_path / "bin" / "sinfo"
    sinfo.parent.mkdir()
    sinfo.write_text("#!/bin/sh\necho 'node1|cpu|drained|bad disk'\necho 'node2|cpu|idle|none'\n")
    sinfo.chmod(0o755)
    monkeypatch.setenv("PATH", str(sinfo.parent), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    options = ("--system", "mycluster", "--config", "site.py", "--family", "topk", "--replace")
    status, said = deepbench("fleet", "plan", *options, "--framework", "numpy", "--every-node")
    assert 0 == status, said
    assert 1 == said.count("node1 of cpu is drained (bad disk): left out")
    assert "node2" not in said
    status, said = deepbench("fleet", "plan", *options, "--framework", "numpy")
    assert (0, False) == (status, "left out" in said), said
