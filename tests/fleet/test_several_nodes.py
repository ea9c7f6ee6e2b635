"""Plans over several nodes as users ask for them, and the refused ones."""

import json

import command
import fleet_project
import pytest

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import scheduled_jobs
from deepbench_ops.fleet.reframe_site import Partition, Site


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project folder, in which the commands are given."""
    fleet_project.make(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


HERE = ("fleet", "plan", "--machine-types", "here")


def plan(*options):
    """Plan all-reduce of torch on this machine; (exit status, stdout, stderr)."""
    return command.deepbench(*HERE, "--framework", "torch", "--family", "all_reduce", *options)


def jobs(project):
    """The jobs in the file of the plan."""
    return json.loads((project / "fleet" / "plan.json").read_text())["jobs"]


def test_without_a_site_torchrun_starts_the_ranks_here(project):
    """On the loopback interface; the name of the profile has both."""
    status, said, wrong = plan("--nodes", "2", "--interconnect", "loopback")
    assert 0 == status, wrong
    assert "here-2x1-loopback-torchrun" in said
    placed = json.loads((project / "fleet" / "plan.json").read_text())["placement"]
    assert ("torchrun", []) == (placed["launcher"], placed["hosts"])


NODES = ("--nodes", "2", "--interconnect", "loopback")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--nodes", "2"), "--interconnect is missing: name the network"),
        (("--ranks-per-node", "2"), "--nodes is missing: --ranks-per-node, --interconnect"),
        ((*NODES, "--every-node"), "--every-node is for jobs on one node: leave out --nodes"),
        ((*NODES, "--launcher", "srun"), "here:local is scheduled by local, and srun starts ranks"),
        ((*NODES, "--ranks-per-node", "3"), "are 6 ranks: measured are 2, 4, 8, 16, 32 ranks"),
        ((*NODES, "--hosts", "n1"), "the hosts are n1: give one for each of 2 nodes"),
        ((*NODES[:3], "eth"), "torchrun needs the names of the hosts, which it reaches by ssh"),
    ],
)
def test_what_cannot_be_planned_is_one_line(project, options, message):
    """And no plan is written."""
    status, _, wrong = plan(*options)
    assert status
    assert message in wrong
    assert 1 == len(wrong.splitlines())
    assert not (project / "fleet" / "plan.json").exists()


def test_trainings_alone_are_planned_unless_families_are_named(project):
    """Of the newest release of torch, each a job of its own; then after the families."""
    named = ("--training", "mmoe", "--training", "wide_deep", "--batch", "64")
    status, said, wrong = command.deepbench(*HERE, *NODES, *named)
    assert 0 == status, wrong
    assert "training of mmoe float32, batch 64; training of wide_deep float32, batch 64" in said
    assert [("mmoe", 64), ("wide_deep", 64)] == [
        (job["training"]["network"], job["training"]["batch"]) for job in jobs(project)
    ]
    assert all(job["release"].startswith("torch-") for job in jobs(project))
    status, _, wrong = plan(*NODES, "--training", "mmoe", "--replace")
    assert 0 == status, wrong
    assert [["all_reduce"], []] == [job["families"] for job in jobs(project)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--training", "mmoe"), "--nodes is missing: --training is over several nodes; deepbench"),
        ((*NODES, "--training", "mmo"), "unknown model 'mmo'"),
        ((*NODES, "--training", "mmoe", "--batch", "0"), "batch is 0: give 1 or more"),
        ((*NODES, "--training", "mmoe", "--split"), "mmoe has no tables to split"),
        ((*NODES, "--batch", "8"), "--training is missing: --batch and --split are for the"),
        ((*NODES, "--training", "mmoe", "--framework", "numpy"), "does not train networks here"),
        ((*NODES, "--training", "mmoe", "--precision", "int8"), "int8 has no training steps"),
    ],
)
def test_a_training_that_cannot_be_planned_is_one_line(project, options, message):
    """And no plan is written."""
    status, _, wrong = command.deepbench(*HERE, *options)
    assert status
    assert message in wrong
    assert 1 == len(wrong.splitlines())
    assert not (project / "fleet" / "plan.json").exists()


def test_a_scheduler_that_gives_one_node_needs_the_other_hosts():
    """With them it is no matter which scheduler it is."""
    site = Site("lab", "", (Partition("lab:ssh", "here", "ssh"),))
    with pytest.raises(DeepbenchError, match="lab:ssh is scheduled by ssh, which gives a job one"):
        scheduled_jobs.demand_launcher(site, ["here"], RankPlacement(2, 1, "mpirun", "eth"))
    placed = RankPlacement(2, 1, "mpirun", "eth", ("n1", "n2"))
    scheduled_jobs.demand_launcher(site, ["here"], placed)
