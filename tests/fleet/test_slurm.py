"""A fleet on a real Slurm, with the faults that nodes and schedulers have: nothing is lost, and
nothing is counted twice."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import command
import fleet_project
import full_disk
import local_slurm
import processes
import pytest
from local_slurm import LocalSlurm
from running_fleet import FAMILIES, Fleet, ended

from deepbench_ops.distributed.launchers.rank_placement import LAUNCHERS, RankPlacement
from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet import fleet_run, pending_jobs
from deepbench_ops.fleet.planned_training import PlannedTraining
from deepbench_ops.releases import installed_release
from deepbench_ops.storage import measurement_files, model_runs

pytest.importorskip("reframe", reason="the extra fleet is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(local_slurm.why_not()), reason=local_slurm.why_not()),
]


def started(found: LocalSlurm) -> Iterator[LocalSlurm]:
    """A Slurm that is stopped after the tests."""
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSlurm]:
    """A controller and three nodes."""
    yield from started(LocalSlurm(tmp_path_factory.mktemp("slurm")))


@pytest.fixture(scope="module")
def slurm_with_accounting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSlurm]:
    """The same with slurmdbd and its database, so that sacct answers."""
    if reason := local_slurm.why_not(accounting=True):
        pytest.skip(reason)
    yield from started(LocalSlurm(tmp_path_factory.mktemp("sacct"), accounting=True))


SHORT_SILENCE = (
    *(sys.executable, "-c"),
    "from deepbench_ops.fleet import left_jobs; left_jobs.SILENCE_SECONDS = 1.0;"
    "from deepbench_ops.cli import main; main()",
)
"""The command, which waits for a Slurm that does not answer for a second."""


class SlurmFleet(Fleet):
    """A fleet on the three nodes, by sacct where Slurm has accounting, else by squeue."""

    def __init__(self, root: Path, slurm: LocalSlurm, *more: str) -> None:
        self.slurm = slurm
        system = "accounting" if slurm.accounting else "slurm"
        site = {"system": system, "config": str(local_slurm.SITE)}
        super().__init__(root, site, slurm.variables, *more)

    def stand_in(self, name: str, script: str) -> Path:
        """Put a shell script in the place of a command; return its path."""
        path = self.root / "bin" / name
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        self.environ["PATH"] = f"{path.parent}{os.pathsep}{self.environ['PATH']}"
        return path

    def submitted(self) -> list[str]:
        """The numbers of all jobs that Slurm got from this fleet, also of those that have ended."""
        listed = self.slurm.ask("scontrol", "show", "jobs", "--oneliner").splitlines()
        return [
            line.split()[0].removeprefix("JobId=")
            for line in listed
            if f"WorkDir={self.root}/" in line
        ]


@pytest.fixture
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> SlurmFleet:
    """A project with a plan of three jobs, on a Slurm without accounting unless a test names one
    that has it."""
    slurm = request.getfixturevalue(getattr(request, "param", "slurm"))
    slurm.use_all()
    found = SlurmFleet(tmp_path, slurm)
    found.plan(*((family,) for family in FAMILIES))
    return found


BY_SACCT = pytest.mark.parametrize("fleet", ["slurm_with_accounting"], indirect=True)
BY_EACH = pytest.mark.parametrize("fleet", ["slurm", "slurm_with_accounting"], indirect=True)
"""ReFrame asks squeue for the states of jobs, and sacct."""


@BY_EACH
def test_three_jobs_on_three_nodes(fleet: SlurmFleet) -> None:
    """At the same time, each on a node of its own; the records name the nodes."""
    run = fleet.start()
    fleet.wait(lambda: len(fleet.slurm.jobs()) == 3)
    assert set(local_slurm.NODES) == set(fleet.slurm.jobs().values())
    status, said = ended(run)
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=3)
    (path,) = measurement_files.paths(fleet.root / "results" / fleet_project.MACHINE)
    assert set(local_slurm.NODES) == {
        each["node"] for each in measurement_files.load(path)[0].values()
    }
    (script, *_) = fleet.path.parent.glob("reframe/output/**/rfm_job.sh")
    options = {line for line in script.read_text().splitlines() if line.startswith("#SBATCH")}
    assert {"#SBATCH --exclusive", "#SBATCH --no-requeue", "#SBATCH --ntasks=1"} <= options


@BY_EACH
def test_a_cancelled_job_is_submitted_again_and_goes_on(fleet: SlurmFleet) -> None:
    """By the same run."""
    fleet.plan(FAMILIES)
    run = fleet.start()
    fleet.wait_for_points()
    fleet.slurm.ask("scancel", next(iter(fleet.slurm.jobs())))
    status, said = ended(run)
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=1)


@pytest.mark.parametrize("lose", [LocalSlurm.lose_node, LocalSlurm.lose_slurmd])
def test_a_lost_node_costs_nothing_that_is_measured(
    fleet: SlurmFleet, lose: Callable[[LocalSlurm, str], None]
) -> None:
    """Its slurmd is killed, with its job or without: the job goes on, here or on another node, or
    there without slurmd, and no point is measured twice."""
    run = fleet.start()
    fleet.wait_for_points()
    node = next(iter(fleet.slurm.jobs().values()))
    lose(fleet.slurm, node)
    try:
        status, said = fleet.finish(run)
    finally:
        fleet.slurm.start_node(node)
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=3)


def test_a_node_that_is_down_is_not_waited_for(fleet: SlurmFleet) -> None:
    """The others measure all jobs."""
    with fleet.slurm.out_of_use("node1"):
        status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=3)


def test_a_node_that_is_set_down_under_its_job_costs_nothing(fleet: SlurmFleet) -> None:
    """Slurm ends the job there; it goes on elsewhere, by the same run."""
    fleet.plan(FAMILIES)
    run = fleet.start()
    fleet.wait_for_points()
    ((job, node),) = fleet.slurm.jobs().items()
    with fleet.slurm.out_of_use(node):
        fleet.wait(lambda: "=NODE_FAIL " in fleet.slurm.ask("scontrol", "show", "job", job))
        status, said = ended(run)
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=1)


def test_a_partition_that_slurm_refuses_is_a_line(fleet: SlurmFleet) -> None:
    """One for all three jobs, with Slurm's reason, and one that they are left; with a partition
    that exists the same command measures."""
    status, said = fleet.run("-J", "partition=missing")
    assert 1 == status, said
    lines = [line for line in said.splitlines() if "invalid partition specified: missing" in line]
    assert [True] == ["and 2 other jobs: " in line for line in lines], said
    assert 1 == sum(line.endswith(" and 2 other jobs: left") for line in said.splitlines()), said
    assert "Traceback" not in said
    fleet.plan(("rms_norm",))
    status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(("rms_norm",), jobs=1)


def test_a_node_without_python_is_a_line(fleet: SlurmFleet) -> None:
    """It names the node and the path, and the mend; a line for each node, at most."""
    status, said = fleet.run("-S", "executable=/missing/bin/python")
    assert 1 == status, said
    wanted = "the node has no Python at /missing/bin/python: install the project where"
    assert 1 <= sum(wanted in line for line in said.splitlines()) <= 3, said
    assert "Traceback" not in said


def test_jobs_at_the_same_time_build_an_environment_once(tmp_path: Path, slurm: LocalSlurm) -> None:
    """Three nodes want one that does not exist; one of them makes it, and all measure."""
    fleet = SlurmFleet(tmp_path, slurm)
    (tmp_path / ".asv" / "env" / installed_release.FILE).unlink()
    fleet.environ["PIP_LOG"] = str(tmp_path / "pip.txt")
    fleet.plan(*((family,) for family in FAMILIES))
    run = fleet.start()
    fleet.wait(lambda: len(fleet.slurm.jobs()) == 3)
    status, said = ended(run)
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=3)
    log = Path(fleet.environ["PIP_LOG"]).read_text()
    assert 1 == len(re.findall(r"Successfully installed .*\bnumpy-", log)), log


def test_a_controller_that_is_killed_and_comes_back(fleet: SlurmFleet) -> None:
    """The same run waits for it, with the one job."""
    fleet.plan(FAMILIES)
    run = fleet.start()
    fleet.wait_for_points()
    fleet.slurm.kill(fleet.slurm.folder / "slurmctld.pid")
    time.sleep(5)
    fleet.slurm.restart("slurmctld")
    status, said = ended(run)
    assert 0 == status, said
    assert 1 == len(fleet.submitted())
    fleet.demand_all_once(FAMILIES, jobs=1)


def test_a_controller_that_is_away_for_long_is_a_line(fleet: SlurmFleet) -> None:
    """The run ends with status 2, and its job goes on; the next run merges it."""
    fleet.plan(("topk",))
    fleet.program = SHORT_SILENCE
    run = fleet.start()
    fleet.wait_for_points()
    fleet.slurm.end(fleet.slurm.folder / "slurmctld.pid")
    try:
        status, said = ended(run)
    finally:
        fleet.slurm.restart("slurmctld")
    assert 2 == status, said
    (line,) = [line for line in said.splitlines() if "Slurm has not answered for 1 s" in line]
    assert line.endswith("its jobs go on; when it answers, give the same command again"), said
    status, said = fleet.run()
    assert 0 == status, said
    assert 1 == len(fleet.submitted())
    fleet.demand_all_once(("topk",), jobs=1)


def test_an_accounting_that_is_away_for_long_is_a_line(fleet: SlurmFleet) -> None:
    """ReFrame gives up, and the same run waits for the job by squeue."""
    fleet.stand_in("sacct", "echo 'sacct: error: Problem talking to the database' >&2; exit 1")
    site = fleet.root / "site.py"
    site.write_text(
        local_slurm.SITE.read_text().replace('"max_sacct_failures": 60', '"max_sacct_failures": 2')
    )
    fleet.site |= {"system": "accounting", "config": str(site)}
    fleet.plan(("topk",))
    status, said = fleet.run()
    assert 0 == status, said
    assert 1 == said.count("Problem talking to the database"), said
    assert 1 == len(fleet.submitted())
    fleet.demand_all_once(("topk",), jobs=1)


@BY_SACCT
def test_an_accounting_service_that_is_killed_and_comes_back(fleet: SlurmFleet) -> None:
    """The same run waits for it, with the one job."""
    fleet.plan(FAMILIES)
    run = fleet.start()
    fleet.wait_for_points()
    fleet.slurm.kill(fleet.slurm.folder / "slurmdbd.pid")
    log = fleet.path.parent / "reframe" / fleet_run.SAID
    fleet.wait(lambda: "sacct failed" in log.read_text())
    fleet.slurm.restart("slurmdbd")
    status, said = ended(run)
    assert 0 == status, said
    assert 1 == log.read_text().count("[ RUN ")
    fleet.demand_all_once(FAMILIES, jobs=1)


def test_a_job_that_is_submitted_twice_is_measured_once(fleet: SlurmFleet) -> None:
    """The second one waits for the first, and finds it measured or is refused."""
    fleet.plan(FAMILIES)
    run = fleet.start()
    fleet.wait(lambda: list(fleet.path.parent.glob("reframe/stage/**/rfm_job.sh")))
    (script, *_) = fleet.path.parent.glob("reframe/stage/**/rfm_job.sh")
    copy = fleet.root / "again.sh"
    shutil.copy(script, copy)
    subprocess.run(["sbatch", str(copy)], cwd=fleet.root, env=fleet.environ, check=True)
    status, said = ended(run)
    assert 0 == status, said
    fleet.wait(lambda: not fleet.slurm.jobs() and not fleet.slurm.jobs("pending"))
    fleet.demand_all_once(FAMILIES, jobs=1)


@BY_EACH
def test_a_job_at_its_time_limit_is_submitted_again_and_goes_on(fleet: SlurmFleet) -> None:
    """By the same run. The job is held until its limit: Slurm looks every half a minute."""
    fleet.plan(FAMILIES)
    run = fleet.start()
    fleet.wait_for_points()
    ((job, node),) = fleet.slurm.jobs().items()
    fleet.slurm.signal_jobs(node, signal.SIGSTOP)
    fleet.slurm.ask("scontrol", "update", f"JobId={job}", "EndTime=now")
    fleet.wait(lambda: job not in fleet.slurm.jobs())
    fleet.wait(lambda: "=TIMEOUT " in fleet.slurm.ask("scontrol", "show", "job", job))
    status, said = ended(run)
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=1)


def test_ctrl_c_cancels_the_jobs_of_the_scheduler(fleet: SlurmFleet) -> None:
    """None is left there, and the next run goes on."""
    fleet.plan(FAMILIES)
    run = fleet.start()
    fleet.wait_for_points()
    run.send_signal(signal.SIGINT)
    status, said = ended(run)
    assert 130 == status, said
    assert "the same command goes on from there" in said
    fleet.wait(lambda: not fleet.slurm.jobs())
    assert not fleet.slurm.jobs("pending")
    status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=1)


@pytest.mark.parametrize(
    ("fleet", "sign"),
    [("slurm", signal.SIGKILL), ("slurm_with_accounting", signal.SIGHUP)],
    indirect=["fleet"],
)
def test_a_lost_terminal_cancels_the_jobs_of_the_scheduler(
    fleet: SlurmFleet, sign: signal.Signals
) -> None:
    """Running and waiting ones: ReFrame outlives the command, also a killed one, until none is
    left, and where its signal comes again. The next run goes on."""
    fleet.plan(FAMILIES[:2], FAMILIES[2:])
    with fleet.slurm.out_of_use("node2"), fleet.slurm.out_of_use("node3"):
        run = fleet.start()
        fleet.wait(lambda: len(fleet.submitted()) == 2 and fleet.slurm.jobs())
        jobs = fleet.submitted()
        reframe = reframe_of(run)
        run.send_signal(sign)
        for _ in range(100):
            time.sleep(0.02)
            with suppress(ProcessLookupError):
                os.kill(reframe, fleet_run.CANCEL)
        status, said = ended(run)
        assert -sign == status, said
        fleet.wait(lambda: not fleet.slurm.ask("squeue", "--noheader"))
    for job in jobs:
        assert "JobState=CANCELLED" in fleet.slurm.ask("scontrol", "show", "job", job)
    assert "measured" not in fleet.states()
    status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=2)


def reframe_of(run: "subprocess.Popen[str]") -> int:
    """The process of a run's ReFrame."""
    return int(Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text())


def test_jobs_of_a_killed_reframe_are_not_submitted_twice(fleet: SlurmFleet) -> None:
    """A running and a waiting one: the same run waits for them, and when that is killed too the
    next one, which the status announces."""
    fleet.plan(("topk",), ("rms_norm",))
    with fleet.slurm.out_of_use("node2"), fleet.slurm.out_of_use("node3"):
        run = fleet.start()
        fleet.wait(lambda: len(fleet.submitted()) == 2)
        numbers = fleet.submitted()
        os.kill(reframe_of(run), signal.SIGKILL)
        assert run.stdout is not None
        found = next(line for line in run.stdout if line.endswith(": waiting for them\n"))
        assert all(f"{number} here/{fleet_project.RELEASE}/" in found for number in numbers), found
        run.kill()
        run.communicate()
        asked = [*command.COMMAND, "fleet", "status"]
        said = processes.run(asked, fleet.root, fleet.environ).stdout
        assert f"{found.partition(' (')[0]} (" in said, said
        assert f"{numbers[1]} here/" in said, said
    status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(("topk", "rms_norm"), jobs=2)
    assert numbers == fleet.submitted()


SLOW_SBATCH = {
    "before": 'touch {root}/asked; sleep 8; exec {sbatch} "$@"',
    "after": '{sbatch} "$@" > said; touch {root}/asked; sleep 5; cat said',
}
"""An sbatch that waits for a slow controller before the job is submitted, or after it."""


@pytest.mark.parametrize("sign", [signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("slow", SLOW_SBATCH)
def test_a_job_whose_number_did_not_arrive_is_not_submitted_twice(
    fleet: SlurmFleet, slow: str, sign: signal.Signals
) -> None:
    """The terminal is lost while sbatch has not answered: the next run waits for it, and for the
    job. After Ctrl-C the job is cancelled."""
    fleet.plan(("topk",))
    names = {"root": fleet.root, "sbatch": shutil.which("sbatch")}
    sbatch = fleet.stand_in("sbatch", SLOW_SBATCH[slow].format(**names))
    run = fleet.start()
    fleet.wait((fleet.root / "asked").exists)
    run.send_signal(sign)
    status, said = ended(run)
    sbatch.unlink()
    assert {signal.SIGHUP: -signal.SIGHUP, signal.SIGINT: 130}[sign] == status, said
    if sign == signal.SIGINT:
        (number,) = fleet.submitted()
        fleet.wait(lambda: "=CANCELLED" in fleet.slurm.ask("scontrol", "show", "job", number))
        return
    status, said = fleet.run()
    assert 0 == status, said
    assert 1 == len(fleet.submitted())
    fleet.demand_all_once(("topk",), jobs=1)


def test_a_full_shared_disk_is_a_line_and_nothing_is_lost(fleet: SlurmFleet) -> None:
    """After there is room the same command goes on."""
    with full_disk.mounted(fleet.path.parent, "32m"):
        run = fleet.start()
        fleet.wait_for_points()
        full_disk.fill(fleet.path.parent / "filler")
        status, said = ended(run)
        assert status, said
        assert "No space left on device" in said
        (fleet.path.parent / "filler").unlink()
        status, said = fleet.run()
        assert 0 == status, said
        fleet.demand_all_once(FAMILIES, jobs=3)


def test_a_full_disk_of_a_node_is_a_line_and_nothing_is_lost(fleet: SlurmFleet) -> None:
    """Its folder for temporary files fills up while a job runs; another time the job goes on."""
    fleet.plan(FAMILIES[:2])
    own = Path(fleet.environ["TMPDIR"], local_slurm.NODES[0])
    with full_disk.mounted(own):
        run = fleet.start()
        fleet.wait_for_points()
        full_disk.fill(own / "filler")
        status, said = ended(run)
        assert 1 == status, said
        assert f"{own}: No space left on device: make room there" in said
    status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES[:2], jobs=1)


def test_every_node_measures_a_plan_for_every_node(fleet: SlurmFleet) -> None:
    """Nothing is merged, and the nodes are compared."""
    fleet.plan(("rms_norm",), every_node=True)
    status, said = fleet.run()
    assert 0 == status, said
    assert {"measured": 3} == dict(fleet.states())
    assert [] == measurement_files.paths(fleet.root / "results" / fleet_project.MACHINE)
    asked = [*command.COMMAND, "fleet", "nodes", "--format", "json"]
    done = processes.run(asked, fleet.root, fleet.environ)
    assert done.returncode in (0, 1), done.stdout
    assert set(local_slurm.NODES) == {row["node"] for row in json.loads(done.stdout)}


@BY_EACH
def test_a_drained_node_is_left_out_of_a_plan_for_every_node(fleet: SlurmFleet) -> None:
    """The run names it and ends with status 1; the next one measures on that node alone."""
    fleet.plan(("rms_norm",), every_node=True)
    with fleet.slurm.out_of_use("node1", "DRAIN"):
        status, said = fleet.run()
    assert 1 == status, said
    assert 1 == said.count("node1 of cpu is drained (test): left out"), said
    assert "not every node has measured all jobs" in said
    assert "No such file" not in said
    assert {"measured": 2} == dict(fleet.states())
    status, said = fleet.run()
    assert 0 == status, said
    assert "3 jobs of" in said
    assert {"measured": 3} == dict(fleet.states())
    output = (fleet.path.parent / "reframe" / "reframe.txt").read_text()
    assert "Running 1 check(s)" in output, output


def test_a_reserved_node_is_left_out_of_a_plan_for_every_node(fleet: SlurmFleet) -> None:
    """With a line, and status 1."""
    fleet.plan(("rms_norm",), every_node=True)
    with fleet.slurm.reserved("node2"):
        status, said = fleet.run()
        assert 1 == status, said
        assert 1 == said.count("node2 of cpu is in the reservation upkeep: left out"), said
        assert "not every node has measured all jobs" in said
        assert {"measured": 2} == dict(fleet.states())


def test_a_busy_node_is_waited_for_unless_it_goes_down(fleet: SlurmFleet) -> None:
    """Also one that is draining: it is left out when its job has ended."""
    fleet.plan(("rms_norm",), every_node=True)
    busy = [fleet.slurm.occupy(node) for node in ("node1", "node2")]
    with fleet.slurm.out_of_use("node1", "DRAIN"):
        run = fleet.start()
        fleet.wait(lambda: fleet.states()["measured"] == 1)
        time.sleep(1.5 * pending_jobs.LOOK_SECONDS)
        assert {"node1", "node2"} == set(fleet.slurm.wanted_nodes())
        fleet.slurm.ask("scancel", *busy)
        status, said = ended(run)
    assert 1 == status, said
    assert 1 == said.count("node1 of cpu is drained (test): left out"), said
    assert {"measured": 2} == dict(fleet.states())


def test_a_job_that_is_held_is_named_and_waited_for(fleet: SlurmFleet) -> None:
    """Until someone releases it."""
    fleet.plan(FAMILIES)
    busy = [fleet.slurm.occupy(node) for node in local_slurm.NODES]
    run = fleet.start()
    fleet.wait(lambda: bool(fleet.submitted()))
    (number,) = fleet.submitted()
    fleet.slurm.ask("scontrol", "hold", number)
    fleet.slurm.ask("scancel", *busy)
    time.sleep(2.5 * pending_jobs.LOOK_SECONDS)
    fleet.slurm.ask("scontrol", "release", number)
    status, said = ended(run)
    assert 0 == status, said
    assert f"job {number} is held (JobHeldAdmin): let it start with scontrol release" in said, said
    fleet.demand_all_once(FAMILIES, jobs=1)


@BY_EACH
def test_a_time_limit_above_that_of_the_partition_is_a_line(fleet: SlurmFleet) -> None:
    """With a shorter one the same command measures."""
    fleet.plan(("topk",), ("rms_norm",))
    fleet.slurm.ask("scontrol", "update", "PartitionName=cpu", "MaxTime=30")
    try:
        status, said = fleet.run()
        assert 1 == status, said
        wanted = "Slurm starts no such job in cpu (PartitionTimeLimit): give a shorter time limit"
        assert 1 == said.count(wanted), said
        assert "No such file" not in said
        status, said = fleet.run("-S", "time_limit=20m")
    finally:
        fleet.slurm.ask("scontrol", "update", "PartitionName=cpu", "MaxTime=INFINITE")
    assert 0 == status, said
    fleet.demand_all_once(("topk", "rms_norm"), jobs=2)


OVER_SRUN = """# ssh -o BatchMode=yes HOST COMMAND, on a node of this job
exec srun --overlap --nodes=1 --ntasks=1 --nodelist="$3" --mpi=none --cpu-bind=none sh -c "$4"
"""
"""An ssh for nodes that have no sshd of their own, since they share this machine."""


MPI_OF_ONE_MACHINE = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}
"""Without shared memory: Open MPI names a rank's by its host and its number on its node, so that
ranks of two nodes on this machine would write to the same."""


def installed(framework: str) -> str:
    """The release of a framework in this interpreter; the test is skipped without it."""
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    return f"{framework}-{metadata.version(framework).partition('+')[0]}"


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_collectives_over_two_nodes(tmp_path: Path, slurm: LocalSlurm, launcher: str) -> None:
    """Two ranks of each launcher run on both nodes of a job, which the profile and the records name
    with the interconnect."""
    if launcher == "mpirun":
        pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    release = installed("numpy" if launcher == "mpirun" else "torch")
    placement = two_nodes(launcher, ranks_per_node=2)
    fleet, machine = measured(tmp_path, slurm, placement, release, families=("all_gather",))
    fleet.demand_all_once(("all_gather",), 1, machine.name)
    (path,) = measurement_files.paths(machine)
    facts, records = measurement_files.load(path)
    assert all(described(placement).items() <= each.items() for each in facts.values())
    assert {4} == {each["params"][2] for each in records}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_training_over_two_nodes(tmp_path: Path, slurm: LocalSlurm, launcher: str) -> None:
    """A rank of each launcher trains on each node of a job, after one that trains alone."""
    placement = two_nodes(launcher, ranks_per_node=1)
    training = {"families": (), "training": PlannedTraining("mmoe")}
    _, machine = measured(tmp_path, slurm, placement, installed("torch"), **training)
    alone, together = model_runs.load(machine)
    assert [1, 2] == [alone["ranks"], together["ranks"]]
    assert {"mmoe"} == {alone["model"], together["model"]}
    assert described(placement).items() <= together["conditions"].items()


def two_nodes(launcher: str, ranks_per_node: int) -> RankPlacement:
    """A placement on two nodes; torchrun has to know their names."""
    hosts = local_slurm.NODES[:2] if launcher == "torchrun" else ()
    return RankPlacement(2, ranks_per_node, launcher, "wire", hosts)


def described(placement: RankPlacement) -> dict[str, str]:
    """The facts of a placement that are recorded."""
    counts = {"nodes": "2", "ranks_per_node": str(placement.ranks_per_node)}
    return counts | {"launcher": placement.launcher, "interconnect": "wire"}


def measured(
    folder: Path, slurm: LocalSlurm, placement: RankPlacement, release: str, **job: Any
) -> tuple[SlurmFleet, Path]:
    """A fleet that has run one job, which got both nodes; and the folder of its results."""
    machine = plans.profile(fleet_project.MACHINE, placement)
    assert f"here-{placement.name}" == machine
    fleet = SlurmFleet(folder, slurm, release, machine)
    fleet.stand_in("ssh", OVER_SRUN)
    fleet.environ |= MPI_OF_ONE_MACHINE
    fleet.write([fleet_project.job(machine=machine, release=release, **job)], placement=placement)
    run = fleet.start()
    fleet.wait(fleet.slurm.jobs)
    assert ["node[1-2]"] == list(fleet.slurm.jobs().values())
    status, said = ended(run)
    assert 0 == status, said
    assert {"measured": 1} == dict(fleet.states())
    return fleet, folder / "results" / machine
