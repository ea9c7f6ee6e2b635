"""States of a job, as its folder shows them."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import fleet_project
import pytest

from deepbench_ops.fleet import job_folder, slurm_nodes
from deepbench_ops.fleet.job_folder import Outcome
from deepbench_ops.fleet.reframe_site import Partition, Site
from deepbench_ops.fleet.scheduled_jobs import FleetJobs
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


def test_a_lock_of_another_user_is_only_read(folder, monkeypatch):
    """One that this user may not read either is not known to be held."""
    usual = os.open

    def reading(path, flags, *more, **named):
        if flags & (os.O_RDWR | os.O_WRONLY):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return usual(path, flags, *more, **named)

    def nothing(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with locks.writing(folder.path, doing="a job"):
        monkeypatch.setattr(os, "open", reading)
        assert "running" == folder.state()
        monkeypatch.setattr(Path, "open", nothing)
        assert not job_folder.is_locked(folder.path / locks.NAME)
        monkeypatch.undo()
    assert "interrupted" == folder.state()


def test_times_await_their_merge_until_it_is_noted(folder):
    """A job without times awaits none; one that is measured again after a merge awaits another."""
    assert not folder.awaits_merge
    folder.end(Outcome(False, "n1", 1.5, "why"))
    assert not folder.awaits_merge
    partly = Outcome(False, "n1", 1.5, "why", failed_kernels=1)
    folder.end(partly)
    assert folder.awaits_merge
    folder.end_merge(partly, times=3)
    assert not folder.awaits_merge
    folder.begin("n2")
    folder.end(Outcome(True, "n2", 0.5))
    assert folder.awaits_merge


def test_a_merge_that_ends_after_the_job_began_again_is_not_that_of_its_new_times(folder):
    """Those are merged too."""
    partly = Outcome(False, "n1", 1.5, "why", failed_kernels=1)
    folder.end(partly)
    folder.begin("n1")
    folder.end_merge(partly, times=3)
    folder.end(Outcome(True, "n1", 0.5))
    assert folder.awaits_merge


def test_a_refused_merge_has_its_reason_and_is_awaited(folder):
    """Until the times are merged."""
    done = Outcome(True, "n1", 1.5)
    folder.end(done)
    folder.end_merge(done, refused="another processor")
    assert ("another processor", True) == (folder.refusal, folder.awaits_merge)
    folder.end_merge(done, times=3)
    assert ("", False) == (folder.refusal, folder.awaits_merge)


def test_files_of_earlier_versions_say_how_far_a_job_is(folder):
    """They know neither failed kernels nor refusals, and name no outcome next to a merge."""
    folder.path.mkdir(parents=True)
    old = '{"measured": true, "node": "n1", "seconds": 1.5, "reason": ""}'
    (folder.path / job_folder.OUTCOME).write_text(old)
    (folder.path / job_folder.BEGUN).write_text('{"node": "n1", "at": 5.0}')
    assert Outcome(True, "n1", 1.5) == folder.outcome()
    assert (5.0, 0) == (folder.begun_at, folder.failed_before)
    assert folder.awaits_merge
    (folder.path / job_folder.COLLECTED).write_text('{"times": 3}')
    assert (False, "") == (folder.awaits_merge, folder.refusal)


def test_a_damaged_note_of_a_merge_is_none(folder):
    """The times are merged again, which changes nothing."""
    folder.end(Outcome(True, "n1", 1.5))
    for text in ("", "[]", "{", "7", '{"outcome": 3}'):
        (folder.path / job_folder.COLLECTED).write_text(text)
        assert folder.awaits_merge


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


def test_nodes_that_measured_all_jobs_are_found_by_one_listing(tmp_path, monkeypatch):
    """However many nodes are left out; lines name the others alone."""
    jobs = [fleet_project.job(number) for number in (1, 2)]
    plan, path = fleet_project.plan(*jobs, every_node=True), tmp_path / "plan.json"
    part = Partition("lab:cpu", fleet_project.MACHINE, "slurm", ("-p cpu",))
    found = FleetJobs(path, plan, Site("lab", "", (part,)))
    for node, number in (("n1", 1), ("n1", 2), ("n2", 1)):
        job_folder.folder_of(plan, path, jobs[number - 1], node).end(Outcome(True, node, 1.0))
    down = {node: f"{node} is down" for node in ("n1", "n2", "n3")}
    monkeypatch.setattr(slurm_nodes, "all_left_out", lambda *_: down)
    usual, calls = job_folder.folders, []
    monkeypatch.setattr(job_folder, "folders", lambda *a: [calls.append(a), *usual(*a)][1:])
    assert {"n2", "n3"} == found.left_out().keys()
    assert 1 == len(calls)


@pytest.mark.parametrize("option", ["-Jp=other", "--job-option=partition=other"])
def test_nodes_of_a_partition_that_reframe_is_given_are_not_known(tmp_path, option, monkeypatch):
    """Options of ReFrame that look alike change nothing."""
    plan = fleet_project.plan(every_node=True)
    part = Partition("lab:cpu", fleet_project.MACHINE, "slurm", ("-p cpu",))
    found = FleetJobs(tmp_path / "plan.json", plan, Site("lab", "", (part,)))
    monkeypatch.setattr(
        slurm_nodes, "states", lambda names: {each: {"n1": "down"} for each in names}
    )
    monkeypatch.setattr(slurm_nodes, "reservations", dict)
    assert {} == found.left_out([option])
    assert {"n1"} == found.left_out(["-x", "Foo", "-C", "partition=x.py"]).keys()


def test_where_every_node_runs_a_job_each_has_a_folder(tmp_path):
    """Named after the node; before any has begun there is one that is left."""
    plan, path = fleet_project.plan(every_node=True), tmp_path / "plan.json"
    assert ["left"] == [each.state() for each in job_folder.folders(plan, path)]
    for node in ("n1", "n2"):
        job_folder.folder_of(plan, path, plan.jobs[0], node).end(Outcome(True, node, 1.0))
    found = list(job_folder.folders(plan, path))
    assert [f"{plan.jobs[0].id}@n1", f"{plan.jobs[0].id}@n2"] == [each.name for each in found]


def test_a_node_that_began_one_job_has_all_of_its_machine_before_it(tmp_path):
    """The others are left there; those of another machine are not."""
    other = fleet_project.job(machine="there")
    jobs = (fleet_project.job(1), fleet_project.job(2), other)
    plan, path = fleet_project.plan(*jobs, every_node=True), tmp_path / "plan.json"
    for number, node in ((0, "n1"), (1, "n2")):
        job_folder.folder_of(plan, path, jobs[number], node).end(Outcome(True, node, 1.0))
    found = {each.name: each.state() for each in job_folder.folders(plan, path)}
    first, second = (each.id for each in jobs[:2])
    assert {
        f"{first}@n1": "measured",
        f"{first}@n2": "left",
        f"{second}@n1": "left",
        f"{second}@n2": "measured",
        other.id: "left",
    } == found
