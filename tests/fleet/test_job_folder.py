"""States of a job, as its folder shows them."""

import re
import subprocess
import sys

import fleet_project
import pytest

from deepbench_ops.fleet import job_folder
from deepbench_ops.fleet.job_folder import Outcome
from deepbench_ops.storage import locks


@pytest.fixture
def folder(tmp_path):
    """The folder of a plan's only job."""
    plan = fleet_project.plan()
    return job_folder.folder_of(plan, tmp_path / "plan.json", plan.jobs[0], "n1")


def test_a_job_goes_through_its_states(folder):
    """Left, running while its lock is held, interrupted without it, measured with an outcome."""
    assert "left" == folder.state()
    with locks.writing(folder.path, doing="a job"):
        folder.begin("n1")
    assert "interrupted" == folder.state()
    folder.end(Outcome(True, "n1", 1.5))
    assert "measured" == folder.state()
    assert Outcome(True, "n1", 1.5) == folder.outcome()
    assert not folder.collected


def test_a_job_whose_lock_another_process_holds_is_running(folder, tmp_path):
    """The lock ends with its process."""
    folder.path.mkdir(parents=True)
    code = (
        "import sys; from pathlib import Path; from deepbench_ops.storage import locks\n"
        "with locks.writing(Path(sys.argv[1]), doing='a job'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(folder.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        holder.stdout.readline()
        assert "running" == folder.state()
        holder.kill()
    assert "interrupted" == folder.state()


def test_a_failed_job_has_its_reason_until_it_begins_again(folder):
    """Then it is open."""
    folder.end(Outcome(False, "n1", 0.1, "no such release"))
    assert ("failed", "no such release") == (folder.state(), folder.outcome().reason)
    folder.begin("n2")
    assert "interrupted" == folder.state()


def test_a_damaged_outcome_is_a_failure_with_its_reason(folder):
    """It costs no other job, and the job is measured again."""
    folder.end(Outcome(True, "n1", 1.0))
    endless = '{"measured": true, "node": "n1", "seconds": 1e308}'
    for text in ("", "{", "[]", '{"measured": true}', endless, endless.replace("1e", "-1e")):
        (folder.path / job_folder.OUTCOME).write_text(text)
        assert "failed" == folder.state()
        reason = folder.outcome().reason
        assert re.search(r"outcome.json is not whole .*: the next run goes on", reason)


def test_where_every_node_runs_a_job_each_has_a_folder(tmp_path):
    """Named after the node; before any has begun there is one that is left."""
    plan, path = fleet_project.plan(every_node=True), tmp_path / "plan.json"
    assert ["left"] == [each.state() for each in job_folder.folders(plan, path)]
    for node in ("n1", "n2"):
        job_folder.folder_of(plan, path, plan.jobs[0], node).end(Outcome(True, node, 1.0))
    found = list(job_folder.folders(plan, path))
    assert [f"{plan.jobs[0].id}@n1", f"{plan.jobs[0].id}@n2"] == [each.name for each in found]
