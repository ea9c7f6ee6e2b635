"""Lines and exit statuses of the fleet's commands about jobs that ended before."""

import json

import command
import fleet_project
import pytest
from numpy.testing import assert_allclose

from deepbench_ops.fleet import fleet_plan, job_folder
from deepbench_ops.fleet.job_folder import Outcome

HOUR = 3600.0
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
