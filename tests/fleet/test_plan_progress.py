"""Node hours and time left, from the states of jobs and the pace of the measured ones."""

import fleet_project
import pytest

from deepbench_ops.fleet import job_folder, plan_progress
from deepbench_ops.fleet.job_folder import Outcome


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
