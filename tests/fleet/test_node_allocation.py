"""Hosts of a plan against the nodes that a scheduler gave its job."""

import pytest

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.fleet import node_allocation

PLACEMENT = RankPlacement(2, 1, "torchrun", "hdr200", ("n1", "n2.cluster.org"))


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Environment variables of a job of Slurm, whose scontrol prints the names that it is given."""
    script = tmp_path / "scontrol"
    script.write_text('#!/bin/sh\necho "$3" | tr , "\\n"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return lambda nodes: {"SLURM_JOB_NODELIST": nodes}


@pytest.fixture
def pbs(tmp_path):
    """Environment variables of a job of PBS, whose file names a node once for each processor."""

    def variables(nodes):
        file = tmp_path / "nodes"
        file.write_text("".join(2 * f"{name}.cluster.org\n" for name in nodes.split(",")))
        return {"PBS_NODEFILE": str(file)}

    return variables


@pytest.fixture(params=["slurm", "pbs"])
def job(request):
    """Environment variables of a job on some nodes."""
    return request.getfixturevalue(request.param)


def test_the_nodes_of_the_job_are_taken(job):
    """With and without the name of the network, whatever follows the first."""
    assert "" == node_allocation.why_not(PLACEMENT, job("n1,n2"))
    three = RankPlacement(3, 1, "mpirun", "hdr200", ("n1", "n2", "n3"))
    assert "" == node_allocation.why_not(three, job("n1,n3,n2"))


@pytest.mark.parametrize("nodes", ["n7,n8", "n7,n2", "n2,n1", "n1", "n1,n2,n3"])
def test_other_nodes_are_refused(job, nodes):
    """Ranks would run where another job may be."""
    given = ", ".join(nodes.split(","))
    expected = f"the job has the nodes {given}, and --hosts of the plan are n1, n2.cluster.org: ask"
    assert node_allocation.why_not(PLACEMENT, job(nodes)).startswith(expected)


def test_where_nothing_names_the_nodes_any_hosts_are_taken(job, tmp_path):
    """As over ssh, without a scheduler; and where the plan names no hosts."""
    assert "" == node_allocation.why_not(PLACEMENT, {})
    assert "" == node_allocation.why_not(PLACEMENT, {"PBS_NODEFILE": str(tmp_path / "missing")})
    assert "" == node_allocation.why_not(RankPlacement(2, 1, "srun", "hdr200"), job("n7,n8"))
