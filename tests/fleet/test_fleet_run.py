"""Plans run on this machine without a scheduler, by the command as its users meet it."""

import errno
import getpass
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import command
import fleet_project
import processes
import pytest

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet import job_folder, job_result_merging, scheduled_jobs
from deepbench_ops.fleet.fleet_run import FleetRun
from deepbench_ops.fleet.planned_training import PlannedTraining
from deepbench_ops.storage import measurement_files, model_runs

pytest.importorskip("reframe", reason="the extra fleet is not installed")

FAMILIES = ("topk", "softmax")
TIMES = 5
"""Kernels of both families."""

ROUNDED_SECONDS = 0.1
"""Precision of the time at which a job began."""


@pytest.fixture
def root(tmp_path):
    """A project folder with a plan of two jobs."""
    path = fleet_project.make(tmp_path)
    jobs = [fleet_project.job(n, families=(each,)) for n, each in enumerate(FAMILIES, 1)]
    fleet_project.write(path, fleet_project.plan(*jobs))
    return tmp_path


def deepbench(root: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a project."""
    environ = {**fleet_project.environ(root), **variables}
    return processes.run([*command.COMMAND, *arguments], root, environ)


def records(results: Path) -> Counter[tuple[str, str]]:
    """How many records there are of each kernel."""
    found: Counter[tuple[str, str]] = Counter()
    for path in measurement_files.paths(results / fleet_project.MACHINE):
        for each in measurement_files.load(path)[1]:
            found[each["benchmark"], each["params"][0]] += 1
    return found


def states(root: Path) -> dict[str, str]:
    """The state of each job."""
    path = root / "fleet" / "plan.json"
    return {folder.name: folder.state() for folder in job_folder.folders(plans.read(path), path)}


@pytest.mark.slow
def test_a_plan_is_measured_once(root):
    """Its times are in the results, each record names its node, and a second run does nothing."""
    done = deepbench(root, "fleet", "run")
    assert 0 == done.returncode, done.stdout
    assert "2 jobs of fleet/plan.json measured" in done.stdout
    (locks,) = Path(fleet_project.environ(root)["TMPDIR"]).iterdir()
    assert f"deepbench-{getpass.getuser()}" == locks.name
    found = records(root / "results")
    assert (TIMES, {2}) == (len(found), set(found.values()))
    (path,) = measurement_files.paths(root / "results" / fleet_project.MACHINE)
    assert {os.uname().nodename} == {
        facts["node"] for facts in measurement_files.load(path)[0].values()
    }
    before = path.read_bytes()
    status = json.loads(deepbench(root, "fleet", "status", "--format", "json").stdout)
    assert (2, 0, 0.0) == tuple(
        status[fleet_project.MACHINE][key] for key in ("measured", "left", "node_hours_left")
    )
    began = time.monotonic()
    again = deepbench(root, "fleet", "run")
    assert (0, before) == (again.returncode, path.read_bytes())
    assert time.monotonic() - began < 20


@pytest.mark.slow
def test_a_job_is_merged_before_another_one_ends(root):
    """The second job waits until the times of the first are in the results."""
    python = root / "python"
    python.write_text(
        f"""#!/bin/bash
mkdir {root}/first 2>/dev/null || while [ ! -e {root}/merged ]; do sleep 0.1; done
exec {sys.executable} "$@"
"""
    )
    python.chmod(0o755)
    run = subprocess.Popen(
        [*command.COMMAND, "fleet", "run", "--", "-S", f"executable={python}"],
        cwd=root,
        env=fleet_project.environ(root),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until = time.monotonic() + 120
    while not records(root / "results") and time.monotonic() < until:
        time.sleep(0.2)
    families = {benchmark.partition(".")[0] for benchmark, _ in records(root / "results")}
    found = Counter(states(root).values())
    (root / "merged").touch()
    said, _ = run.communicate(timeout=120)
    assert 0 == run.returncode, said
    assert 1 == len(families & {*FAMILIES}) == len(families)
    assert {"measured": 1, "left": 1} == found
    assert TIMES == len(records(root / "results"))


@pytest.mark.slow
def test_a_disk_that_is_full_for_a_while_costs_no_job(root, monkeypatch):
    """Jobs go on while their times cannot be merged, and are merged at the end of the run."""
    path = root / "fleet" / "plan.json"
    monkeypatch.chdir(root)
    for name, value in fleet_project.environ(root).items():
        monkeypatch.setenv(name, value)
    merge, said = job_result_merging.collect, []

    def full(results, folders, say):
        if {folder.state() for folder in folders} not in ({"left"}, {"measured"}):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(results))
        return merge(results, folders, say)

    monkeypatch.setattr(job_result_merging, "collect", full)
    run = FleetRun(scheduled_jobs.of(path, plans.read(path)), root / "results", (), said.append)
    assert run.run()
    assert TIMES == len(records(root / "results"))
    assert 1 == sum("No space left on device" in line for line in said)


@pytest.mark.slow
def test_a_training_over_two_nodes_is_tried_on_this_machine(tmp_path):
    """One rank alone and both, on the loopback interface, under a profile of their own."""
    pytest.importorskip("torch", reason="torch is not installed")
    release = f"torch-{metadata.version('torch').partition('+')[0]}"
    machine = "here-2x1-loopback-torchrun"
    path = fleet_project.make(tmp_path, release, machine)
    job = fleet_project.job(
        machine=machine, release=release, families=(), training=PlannedTraining("mmoe")
    )
    placement = RankPlacement(2, 1, "torchrun", "loopback")
    fleet_project.write(path, fleet_project.plan(job, placement=placement))
    done = deepbench(tmp_path, "fleet", "run", DEEPBENCH_THREADS="2")
    assert 0 == done.returncode, done.stdout
    assert {job.id: "measured"} == states(tmp_path)
    found = model_runs.load(tmp_path / "results" / machine)
    assert [1, 2] == [run["ranks"] for run in found]
    assert [None, "2"] == [run["conditions"].get("nodes") for run in found]


@pytest.mark.slow
@pytest.mark.parametrize(("by", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_ended_run_ends_all_jobs_and_the_next_one_goes_on(root, mark, by, status):
    """After Ctrl-C and after kill -9 no process is left, and no point is measured again."""
    environ = {**fleet_project.environ(root), processes.MARK: mark}
    run = subprocess.Popen(
        [*command.COMMAND, "fleet", "run"],
        cwd=root,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    journals = root / "fleet" / "jobs"
    until = time.monotonic() + 120
    while not list(journals.rglob("begun.json")) and time.monotonic() < until:
        time.sleep(0.01)
    run.send_signal(by)
    said, _ = run.communicate(timeout=60)
    assert status == run.returncode, said
    assert (by == signal.SIGINT) == ("of 2; the same command goes on from there" in said)
    assert "Traceback" not in said
    assert processes.eventually_gone(mark)
    assert "measured" not in states(root).values()
    done = deepbench(root, "fleet", "run")
    assert 0 == done.returncode, done.stdout
    found = records(root / "results")
    assert (TIMES, {2}) == (len(found), set(found.values()))


@pytest.mark.slow
def test_a_release_that_cannot_be_installed_costs_no_other_job(root):
    """It is a line with its reason and status 1; the other job is measured."""
    with (root / "releases.csv").open("a") as table:
        table.write("numpy,0.0.1,2020-01-01,,no,\n")
    path = root / "fleet" / "plan.json"
    lost = fleet_project.job(release="numpy-0.0.1")
    fleet_project.write(path, fleet_project.plan(lost, fleet_project.job()))
    done = deepbench(root, "fleet", "run", PIP_NO_INDEX="1", UV_OFFLINE="1")
    assert 1 == done.returncode, done.stdout
    assert f"{lost.id}: numpy-0.0.1 is not installed (numpy==0.0.1): " in done.stdout
    assert {"failed", "measured"} == set(states(root).values())
    status = deepbench(root, "fleet", "status")
    assert "numpy-0.0.1 is not installed" in status.stdout


def break_kernels(root: Path, which: str) -> Path:
    """Let the kernels of topk for which a condition on `kth` holds raise while a file is there."""
    broken = root / "broken"
    broken.touch()
    with (root / "benchmarks" / "__init__.py").open("a") as suite:
        suite.write(
            f"""
import numpy
from pathlib import Path

usual = numpy.argpartition

def argpartition(x, kth, axis):
    if ({which}) and Path("{broken}").exists():
        raise MemoryError("the device is lost")
    return usual(x, kth, axis=axis)

numpy.argpartition = argpartition
"""
        )
    return broken


@pytest.mark.slow
def test_a_kernel_that_fails_costs_no_other_and_is_tried_again(root):
    """The others are merged, status and run name the reason, and the next run measures it alone."""
    path = root / "fleet" / "plan.json"
    job = fleet_project.job(families=FAMILIES)
    fleet_project.write(path, fleet_project.plan(job))
    broken = break_kernels(root, "kth == -50")
    done = deepbench(root, "fleet", "run")
    assert 1 == done.returncode, done.stdout
    line = f"{job.id}: 1 of {TIMES} kernels failed: MemoryError: the device is lost"
    assert line in done.stdout.splitlines()
    assert f"{line} [{os.uname().nodename}]" in deepbench(root, "fleet", "status").stdout
    before = records(root / "results")
    assert TIMES - 1 == len(before)
    broken.unlink()
    again = deepbench(root, "fleet", "run")
    assert 0 == again.returncode, again.stdout
    assert {job.id: "measured"} == states(root)
    after = records(root / "results")
    assert TIMES == len(after)
    assert before == {kernel: after[kernel] for kernel in before}


@pytest.mark.slow
def test_a_job_without_times_has_failed(root):
    """Its reason is the first that asv printed, and the next run measures it."""
    broken = break_kernels(root, "True")
    path = root / "fleet" / "plan.json"
    fleet_project.write(path, fleet_project.plan(fleet_project.job()))
    done = deepbench(root, "fleet", "run")
    assert 1 == done.returncode, done.stdout
    assert f"{fleet_project.RELEASE}: MemoryError: the device is lost" in done.stdout
    assert ["failed"] == [*states(root).values()]
    assert not records(root / "results")
    broken.unlink()
    again = deepbench(root, "fleet", "run")
    assert 0 == again.returncode, again.stdout


def node_job(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program of a job script."""
    program = [sys.executable, "-m", "deepbench_ops.fleet.node_job"]
    return processes.run([*program, *arguments], root, fleet_project.environ(root))


@pytest.mark.slow
def test_jobs_on_one_node_measure_one_after_the_other(root):
    """Also where a scheduler starts both at once."""
    path = root / "fleet" / "plan.json"
    plan = plans.read(path)
    with ThreadPoolExecutor() as threads:
        done = list(
            threads.map(lambda job: node_job(root, str(path), job.id, plan.digest), plan.jobs)
        )
    assert [0, 0] == [each.returncode for each in done], done
    folders = sorted(job_folder.folders(plan, path), key=lambda each: each.begun_at)
    ended = (folders[0].path / job_folder.OUTCOME).stat().st_mtime
    assert folders[1].begun_at > ended - ROUNDED_SECONDS
    assert all(each.outcome().seconds > 2 * ROUNDED_SECONDS for each in folders)


def test_the_line_of_a_measured_job_is_that_of_no_other():
    """Neither of another job of the plan, nor of a job with its name in another plan."""
    pattern = job_folder.done_pattern("here/numpy-2.4.6/1", "ab12")
    done = f"{job_folder.DONE} here/numpy-2.4.6"
    assert re.search(pattern, f"{done}/1 of the plan ab12: 3 points in 5 s on n1")
    assert re.search(pattern, f"{done}/1@n1 of the plan ab12 was measured before, on n1")
    for other in ("/2 of the plan ab12", "/11 of the plan ab12", "/1 of the plan ab13"):
        assert not re.search(pattern, f"{done}{other}: 3 points in 5 s on n1")


ALTERED = {
    "another job of the plan": ("{plan} {job} {digest}", "{plan} {other_job} {digest}"),
    "the fingerprint of another plan": ("{plan} {job} {digest}", "{plan} {job} {other_digest}"),
    "a job of another plan": ("{plan} {job} {digest}", "{other_plan} {job} {other_digest}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("altered", ALTERED)
def test_a_job_script_of_another_valid_job_costs_nothing(root, altered):
    """It is a line, the same run gives the job to ReFrame again, and nothing is measured twice."""
    path, other_path = root / "fleet" / "plan.json", root / "other" / "plan.json"
    plan = plans.read(path)
    other = fleet_project.plan(fleet_project.job(families=FAMILIES[:1], seconds=11.0))
    fleet_project.write(other_path, other)
    names = {"plan": path, "job": plan.jobs[0].id, "digest": plan.digest}
    names |= {"other_plan": other_path, "other_digest": other.digest, "other_job": plan.jobs[1].id}
    python = root / "python"
    before, after = (text.format(**names) for text in ALTERED[altered])
    python.write_text(
        f"""#!/bin/bash
if [[ "$*" == *"{before}" ]] && mkdir {root}/altered 2>/dev/null; then
    exec {sys.executable} -m deepbench_ops.fleet.node_job {after}
fi
exec {sys.executable} "$@"
"""
    )
    python.chmod(0o755)
    done = deepbench(root, "fleet", "run", "--", "-S", f"executable={python}")
    assert 0 == done.returncode, done.stdout
    assert (root / "altered").is_dir()
    lines = [line for line in done.stdout.splitlines() if "job script" in line]
    assert 1 == len(lines), done.stdout
    refused = f"this job script does not belong to {path}"
    changed = f"the job script of {plan.jobs[0].id} was changed: "
    assert (refused if "fingerprint" in altered else changed) in lines[0]
    assert {"measured"} == set(states(root).values())
    found = records(root / "results")
    assert (TIMES, {2}) == (len(found), set(found.values()))
    folders = job_folder.folders(other, other_path)
    assert [altered == "a job of another plan"] == [each.state() == "measured" for each in folders]


def test_an_altered_job_script_measures_nothing(root):
    """Nor does one whose plan was changed since."""
    path = root / "fleet" / "plan.json"
    plan = plans.read(path)
    other = fleet_project.plan(fleet_project.job())
    for id, digest, line in (
        (plan.jobs[0].id, other.digest, "this job script does not belong to"),
        (plan.jobs[0].id, "0" * 16, "this job script does not belong to"),
        ("here/numpy-9/1", plan.digest, "unknown job of the plan 'here/numpy-9/1'"),
    ):
        done = node_job(root, str(path), id, digest)
        assert 2 == done.returncode
        assert line in done.stdout
        assert 1 == len(done.stdout.splitlines())
    assert {"left"} == set(states(root).values())


def test_a_node_of_another_type_is_refused(root):
    """The line names the difference."""
    fleet_project.describe(root / "results", fleet_project.MACHINE, cpu="another processor")
    path = root / "fleet" / "plan.json"
    plan = plans.read(path)
    done = node_job(root, str(path), plan.jobs[0].id, plan.digest)
    assert 2 == done.returncode
    assert "is no here: cpu is" in done.stdout
    assert "'another processor' in here's description" in done.stdout
    assert "failed" in states(root).values()


def test_a_job_that_is_measured_is_not_measured_again(root):
    """A second submission says so and ends well."""
    path = root / "fleet" / "plan.json"
    plan = plans.read(path)
    folder = job_folder.folder_of(plan, path, plan.jobs[0], "")
    folder.end(job_folder.Outcome(True, "n1", 3.0))
    done = node_job(root, str(path), plan.jobs[0].id, plan.digest)
    assert 0 == done.returncode
    assert "was measured before, on n1" in done.stdout


def test_a_node_without_python_is_named(tmp_path):
    """The job script ends with one line."""
    missing = shlex.quote(str(tmp_path / "no python"))
    line = scheduled_jobs.DEMAND_PYTHON.replace("PYTHON", missing)
    done = subprocess.run(["bash", "-c", f"{line}; echo on"], capture_output=True, text=True)
    assert (1, "") == (done.returncode, done.stdout)
    assert "the node has no Python at" in done.stderr
    assert 1 == len(done.stderr.splitlines())
    usual = scheduled_jobs.DEMAND_PYTHON.replace("PYTHON", shlex.quote(sys.executable))
    assert 0 == subprocess.run(["bash", "-c", usual], check=False).returncode


@pytest.mark.slow
def test_a_machine_type_without_a_profile_is_described_by_its_first_job(root):
    """The home folder stays as it was."""
    path = root / "fleet" / "plan.json"
    fleet_project.write(path, fleet_project.plan(fleet_project.job(machine="new-type")))
    done = deepbench(root, "fleet", "run")
    assert 0 == done.returncode, done.stdout
    described = json.loads((root / "results" / "new-type" / "machine.profile").read_text())
    assert described["yardsticks"]["1"]
    assert not (root / ".asv-machine.json").exists()
