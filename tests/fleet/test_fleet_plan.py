"""The file of a plan: read as it was written, and refused in one line where it is none."""

import json
import math
import re
from dataclasses import asdict

import fleet_project
import pytest

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import fleet_plan as plans

FAMILIES = ("gemm", "topk")


@pytest.fixture
def written(tmp_path):
    """The path of a plan with two jobs, and the plan."""
    path = tmp_path / "plan.json"
    first = fleet_project.job(families=FAMILIES)
    return path, fleet_project.write(path, fleet_project.plan(first, fleet_project.job(2)))


def test_a_plan_is_read_as_it_was_written(written):
    """With all jobs, and the digest."""
    path, plan = written
    assert plan == plans.read(path)
    assert plan.digest == plans.read(path).digest


def test_another_plan_has_another_digest():
    """So a job script of one is known not to be of the other."""
    plan = fleet_project.plan()
    others = [
        fleet_project.plan(fleet_project.job(families=("softmax",))),
        fleet_project.plan(every_node=True),
        fleet_project.plan(system="site"),
    ]
    assert 4 == len({each.digest for each in (plan, *others)})


def test_the_pattern_of_a_job_picks_its_families_alone():
    """At the precision and in the selection of the plan."""
    job = fleet_project.job(families=FAMILIES)
    pattern = re.compile(fleet_project.plan(job).pattern(job))
    problem = "topk_batch1024_columns128_k8"
    assert pattern.search(f"topk.Modern.kernel_forward('{problem}', 'float32')")
    assert not pattern.search(f"topk.Modern.kernel_forward('{problem}', 'bfloat16')")
    assert not pattern.search("softmax.Modern.kernel_forward('softmax_batch64', 'float32')")


PLACEMENT = RankPlacement(2, 4, "srun", "hdr200")


def test_a_plan_over_several_nodes_is_read_as_it_was_written(tmp_path):
    """Its machines are profiles, of the machine types of the nodes."""
    job = fleet_project.job(machine=plans.profile("epyc", PLACEMENT), families=("all_gather",))
    plan = fleet_project.write(tmp_path / "plan", fleet_project.plan(job, placement=PLACEMENT))
    assert plan == plans.read(tmp_path / "plan")
    assert (("epyc-2x4-hdr200",), ("epyc",)) == (plan.machines, plan.machine_types)


def test_plans_of_two_launchers_file_times_under_two_names(tmp_path):
    """Both are of the same machine type."""
    machines = []
    for launcher in ("srun", "torchrun"):
        placement = RankPlacement(2, 4, launcher, "hdr200", ("n1", "n2"))
        job = fleet_project.job(machine=plans.profile("epyc", placement), families=("all_gather",))
        plan = fleet_project.write(tmp_path / "plan", fleet_project.plan(job, placement=placement))
        assert ("epyc",) == plans.read(tmp_path / "plan").machine_types
        machines += plan.machines
    assert ["epyc-2x4-hdr200", "epyc-2x4-hdr200-torchrun"] == machines


def test_a_plan_of_an_earlier_version_keeps_its_names(tmp_path):
    """They had no launcher; the times go where they went, and the machine type is found."""
    placement = RankPlacement(2, 4, "torchrun", "hdr200", ("n1", "n2"))
    job = fleet_project.job(machine="epyc-2x4-hdr200", families=("all_gather",))
    written = fleet_project.write(tmp_path / "plan", fleet_project.plan(job, placement=placement))
    plan = plans.read(tmp_path / "plan")
    assert (written.digest, ("epyc-2x4-hdr200",)) == (plan.digest, plan.machines)
    assert ("epyc",) == plan.machine_types


def test_collective_operations_run_over_all_ranks_of_the_nodes():
    """Not over the numbers of ranks of the selection."""
    job = fleet_project.job(families=("all_reduce",))
    pattern = re.compile(fleet_project.plan(job, placement=PLACEMENT).pattern(job))
    found = [
        ranks
        for ranks in (2, 4, 8, 16, 32)
        if pattern.search(f"all_reduce.Training.kernel_sum('n64500000', 'float32', {ranks})")
    ]
    assert [8] == found


PLACED = json.loads(json.dumps(asdict(PLACEMENT)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "other"}, "format: 'deepbench-fleet-plan' was expected"),
        ({"version": 9}, "version: 1 was expected"),
        ({"jobs": []}, "jobs: "),
        ({"more": 1}, "the file: "),
        ({"selection": "none"}, "unknown selection 'none'"),
        ({"placement": {**PLACED, "nodes": 1}}, "placement/nodes: 1 is less than the minimum of 2"),
        ({"placement": {**PLACED, "launcher": "prun"}}, "the launcher is 'prun': give one of"),
        ({"precisions": ["float1"]}, "unknown precision 'float1'"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_in_one_line(written, change, said):
    """The line names the file, the place and the fault."""
    path, _ = written
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(DeepbenchError) as refused:
        plans.read(path)
    assert str(refused.value).startswith(f"{path}: {said}")
    assert 1 == len(str(refused.value).splitlines())


def with_first_job(path, key, value):
    """Change a field of a plan's first job, and return the plan's path."""
    content = json.loads(path.read_text())
    content["jobs"][0][key] = value
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("machine", "../other"),
        ("machine", ".hidden"),
        ("release", "numpy-1/../../2"),
        ("shard", 0),
        ("families", []),
        ("seconds", 0),
    ],
)
def test_a_job_that_cannot_be_is_refused(written, key, value):
    """Names that lead out of the folder of jobs are among these."""
    with pytest.raises(DeepbenchError, match=f"jobs/0/{key}: "):
        plans.read(with_first_job(written[0], key, value))


@pytest.mark.parametrize(
    ("key", "value"),
    [("seconds", math.nan), ("seconds", math.inf), ("seconds", 1e9), ("points", 10**30)],
)
def test_a_job_of_an_impossible_size_is_refused(written, key, value):
    """NaN and infinity are no JSON, but Python reads them."""
    with pytest.raises(DeepbenchError, match=r"points and .* s: make it again"):
        plans.read(with_first_job(written[0], key, value))


def test_a_job_is_in_a_plan_once(written):
    """Two of one name would share a folder."""
    path, _ = written
    content = json.loads(path.read_text())
    content["jobs"].append(content["jobs"][0])
    path.write_text(json.dumps(content))
    with pytest.raises(DeepbenchError, match="is in it twice"):
        plans.read(path)


@pytest.mark.parametrize("text", ["", "[", "[]", "\x00"])
def test_a_damaged_file_is_refused(tmp_path, text):
    """Whatever it holds."""
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(DeepbenchError, match="make it again with deepbench fleet plan"):
        plans.read(path)


def test_a_missing_plan_is_named(tmp_path):
    """With the command that makes one."""
    with pytest.raises(DeepbenchError, match="no such plan: make it again with deepbench fleet"):
        plans.read(tmp_path / "plan.json")


def test_an_unknown_job_is_refused(written):
    """With those of the plan."""
    _, plan = written
    with pytest.raises(DeepbenchError, match="unknown job of the plan 'a/b/1'; known: here/"):
        plan.job("a/b/1")
