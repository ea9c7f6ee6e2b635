"""Which jobs a plan has: releases by machine types, in shards of about as long as asked for."""

from datetime import date

import fleet_project
import pytest

from deepbench_ops.distributed import collective_options
from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import plan_generation
from deepbench_ops.fleet.plan_generation import PlanRequest
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.releases.release_table import Release
from deepbench_ops.suite import gemm

RELEASES = (
    Release("numpy", "2.0.0", date(2024, 6, 1)),
    Release("torch", "2.1.0", date(2024, 1, 1)),
)
USUAL_SECONDS = 3.0
"""Of a point without records."""


def request(**more):
    """Both releases on two machine types, headline, float32."""
    plain = {
        "machines": ("one", "two"),
        "releases": RELEASES,
        "selection": "headline",
        "precisions": ("float32",),
        "job_seconds": 3600.0,
    }
    return PlanRequest(**{**plain, **more})


def test_every_release_is_on_every_machine_type(tmp_path):
    """All families of a pair are in its jobs, each once."""
    plan = plan_generation.make(request(), tmp_path)
    pairs = {(job.machine, job.release) for job in plan.jobs}
    expected = {(name, each.name) for name in ("one", "two") for each in RELEASES}
    assert expected == pairs
    families = list(plan_generation.points_by_family("headline", (), ("float32",)))
    for pair in pairs:
        jobs = [job for job in plan.jobs if (job.machine, job.release) == pair]
        assert families == [family for job in jobs for family in job.families]
        assert list(range(1, len(jobs) + 1)) == [job.shard for job in jobs]


def test_a_job_takes_no_longer_than_asked_for(tmp_path):
    """Unless it is of one family."""
    plan = plan_generation.make(request(job_seconds=120.0), tmp_path)
    assert len(plan.jobs) > 4
    assert all(job.seconds <= 120 or len(job.families) == 1 for job in plan.jobs)


def test_a_point_without_records_takes_the_usual_seconds_twice(tmp_path):
    """The suite measures each point in two processes."""
    (job,) = plan_generation.make(
        request(machines=("one",), releases=RELEASES[:1], families=("topk",)), tmp_path
    ).jobs
    assert (fleet_project.POINTS, plan_generation.ROUNDS * 2 * USUAL_SECONDS) == (
        job.points,
        job.seconds,
    )
    rounds = {each.rounds for each in vars(gemm).values() if hasattr(each, "rounds")}
    assert {plan_generation.ROUNDS} == rounds


def test_a_collective_has_a_point_for_each_number_of_ranks():
    """As its benchmark has them for parameters."""
    points = plan_generation.points_by_family("headline", ("all_reduce",), ("float32",))
    assert set(map(str, TYPES["all_reduce"].headline_ranks)) == {
        params[2] for _, params in points["all_reduce"]
    }


def test_nothing_to_measure_is_refused(tmp_path):
    """With the options that choose."""
    with pytest.raises(DeepbenchError, match="headline has no kernel at fp8_row of topk: choose"):
        plan_generation.make(request(families=("topk",), precisions=("fp8_row",)), tmp_path)


def test_a_plan_over_several_nodes_has_the_collective_operations(tmp_path):
    """Those that are measured over as many ranks, under the profile of each machine type."""
    plan = plan_generation.make(request(placement=RankPlacement(2, 8, "srun", "eth")), tmp_path)
    assert {"one-2x8-eth", "two-2x8-eth"} == set(plan.machines)
    assert {"all_reduce"} == {family for job in plan.jobs for family in job.families}
    plan = plan_generation.make(request(placement=RankPlacement(2, 1, "srun", "eth")), tmp_path)
    assert set(collective_options.kinds()) == {name for job in plan.jobs for name in job.families}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"families": ("gemm",)}, "gemm runs on one node: over several nodes name --family all"),
        ({}, "3 nodes with 1 ranks each are 3 ranks: measured are 2, 4, 8, 16, 32 ranks"),
    ],
)
def test_what_several_nodes_cannot_run_is_refused(tmp_path, more, message):
    """Other families, and other numbers of ranks."""
    with pytest.raises(DeepbenchError, match=message):
        placed = request(placement=RankPlacement(3, 1, "srun", "eth"), **more)
        plan_generation.make(placed, tmp_path)


@pytest.fixture
def results(tmp_path):
    """The results of a project with releases of its own, in addition to those of the package."""
    fleet_project.make(tmp_path)
    return tmp_path / "results"


def test_the_newest_releases_are_measured_unless_others_are_named(results):
    """Of each framework that has one which is measured without asking."""
    found = plan_generation.releases(results, (), None)
    assert len(found) == len({each.framework for each in found})
    assert {"numpy", "torch"} <= {each.framework for each in found}
    assert not any(each.on_request for each in found)


def test_a_framework_that_is_named_is_measured_on_request(results):
    """Its newest release."""
    (found,) = plan_generation.releases(results, ("jax",), None)
    assert "jax" == found.framework


def test_a_span_is_of_one_framework(results):
    """Both ends are in it."""
    found = plan_generation.releases(results, ("numpy",), "2.0.0..2.0.2")
    assert ["2.0.0", "2.0.1", "2.0.2"] == [each.version for each in found]
    for frameworks in ((), ("numpy", "torch")):
        with pytest.raises(DeepbenchError, match="name one --framework, whose releases these are"):
            plan_generation.releases(results, frameworks, "2.0.0..2.0.2")


def test_an_unknown_framework_is_named(results):
    """With the known ones."""
    with pytest.raises(DeepbenchError, match="unknown framework 'nump'"):
        plan_generation.releases(results, ("nump",), None)
