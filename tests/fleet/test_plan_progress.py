"""Node hours and time left, from the states of jobs and the pace of the measured ones."""

import time
from contextlib import ExitStack

import fleet_project
import pytest

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.fleet import job_folder, plan_progress
from deepbench_ops.fleet.job_folder import Outcome
from deepbench_ops.storage import locks


@pytest.fixture
def plan(tmp_path):
    """Four jobs of 10 s, and the plan's path."""
    jobs = [fleet_project.job(number) for number in (1, 2, 3, 4)]
    return fleet_project.plan(*jobs), tmp_path / "plan.json"


def end(plan, number, outcome):
    """Write the outcome of a job."""
    plan, path = plan
    job_folder.folder_of(plan, path, plan.jobs[number], "").end(outcome)


def test_at_first_the_expected_seconds_are_left(plan):
    """Of all jobs."""
    found = plan_progress.of(*plan)["here"]
    assert (4, 40.0, 1.0) == (found.jobs, found.left_seconds, found.pace)


def test_the_rest_goes_at_the_pace_of_the_measured_ones(plan):
    """A failed job is left."""
    end(plan, 0, Outcome(True, "n1", 20.0))
    end(plan, 1, Outcome(False, "n1", 1.0, "why"))
    found = plan_progress.of(*plan)["here"]
    assert {"measured": 1, "failed": 1, "left": 2} == dict(found.states)
    assert (2.0, 60.0, 60.0) == (found.pace, found.left_seconds, found.seconds)


def test_nothing_is_left_when_all_are_measured(plan):
    """Whatever they took."""
    for number in range(4):
        end(plan, number, Outcome(True, "n1", 7.0))
    assert 0.0 == plan_progress.of(*plan)["here"].left_seconds


def test_of_a_job_that_measured_most_kernels_the_failed_ones_are_left(plan):
    """Also when it has begun again."""
    end(plan, 0, Outcome(False, "n1", 10.0, "why", failed_kernels=1))
    assert 35.0 == plan_progress.of(*plan)["here"].left_seconds
    job_folder.folder_of(plan[0], plan[1], plan[0].jobs[0], "").begin("n1")
    assert 35.0 == plan_progress.of(*plan)["here"].left_seconds


def test_a_running_job_has_less_left_and_others_share_the_time(plan, monkeypatch):
    """Two run at once: the rest takes half as long."""
    folders = [job_folder.folder_of(plan[0], plan[1], job, "") for job in plan[0].jobs[:2]]
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    with ExitStack() as held:
        for folder in folders:
            held.enter_context(locks.writing(folder.path, doing="a job"))
            folder.begin("n1")
        monkeypatch.setattr(time, "time", lambda: 1004.0)
        found = plan_progress.of(*plan)["here"]
        assert {"running": 2, "left": 2} == dict(found.states)
        assert (32.0, 16.0) == (found.left_seconds, found.seconds)
        monkeypatch.setattr(time, "time", lambda: 1999.0)
        assert 20.0 == plan_progress.of(*plan)["here"].left_seconds


def test_a_job_over_several_nodes_takes_node_hours_on_each(tmp_path):
    """The time until the end is that of one."""
    placement = RankPlacement(4, 1, "srun", "hdr200")
    plan = fleet_project.plan(fleet_project.job(), placement=placement)
    found = plan_progress.of(plan, tmp_path / "plan.json")["here"]
    assert (40.0, 10.0) == (found.left_seconds, found.seconds)


def test_measured_times_that_are_not_in_the_results_are_counted(plan):
    """Where every node is compared nothing is merged, and none are."""
    for number in (0, 1):
        end(plan, number, Outcome(True, "n1", 10.0))
    folder = next(iter(job_folder.folders(*plan)))
    folder.end_merge(folder.outcome(), times=2)
    assert 1 == plan_progress.of(*plan)["here"].not_merged
    every = fleet_project.plan(*plan[0].jobs, every_node=True)
    assert 0 == plan_progress.of(every, plan[1])["here"].not_merged
