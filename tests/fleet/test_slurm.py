"""A fleet on a real Slurm, with the faults that nodes and schedulers have: nothing is lost, and
nothing is counted twice."""

import json
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import command
import fleet_project
import full_disk
import local_slurm
import processes
import pytest
from local_slurm import LocalSlurm

from deepbench_ops.fleet import job_folder
from deepbench_ops.fleet import job_plan as plans
from deepbench_ops.storage import measurement_files

pytest.importorskip("reframe", reason="the extra fleet is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(local_slurm.why_not()), reason=local_slurm.why_not()),
]

FAMILIES = ("topk", "softmax", "rms_norm")
WAIT_SECONDS = 240.0


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSlurm]:
    """A controller and three nodes."""
    found = LocalSlurm(tmp_path_factory.mktemp("slurm"))
    found.start()
    yield found
    found.stop()


class Fleet:
    """A project with a plan of a job for each family, and the run of it."""

    def __init__(self, root: Path, slurm: LocalSlurm) -> None:
        self.root, self.slurm = root, slurm
        self.path = fleet_project.make(root)
        self.environ = {**fleet_project.environ(root), **slurm.variables}

    def plan(self, *shards: tuple[str, ...], **more: object) -> None:
        """Write a plan of jobs with these families."""
        jobs = [fleet_project.job(n, families=each) for n, each in enumerate(shards, 1)]
        site = {"system": "slurm", "config": str(local_slurm.SITE)}
        fleet_project.write(self.path, fleet_project.plan(*jobs, **site, **more))

    def start(self, *more: str) -> "subprocess.Popen[str]":
        """Start `deepbench fleet run`."""
        options = [str(self.path), "--", *more] if more else []
        return subprocess.Popen(
            [*command.COMMAND, "fleet", "run", *options],
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *more: str) -> tuple[int, str]:
        """Run it to its end; return its status and output."""
        return ended(self.start(*more))

    def wait(self, what: Callable[[], object]) -> None:
        """Return when something is true. Fails where it does not become so."""
        until = time.monotonic() + WAIT_SECONDS
        while not what():
            assert time.monotonic() < until, "it did not happen"
            time.sleep(0.2)

    def wait_for_points(self, number: int = 1) -> None:
        """Return when so many jobs have measured a point."""
        self.wait(lambda: len(self.journals()) >= number)

    def journals(self) -> list[Path]:
        """The journals of unfinished jobs."""
        return [
            path
            for path in self.path.parent.glob("jobs/**/unfinished/*.jsonl")
            if path.stat().st_size
        ]

    def states(self) -> Counter[str]:
        """How many jobs are in each state."""
        plan = plans.read(self.path)
        return Counter(each.state() for each in job_folder.folders(plan, self.path))

    def demand_all_once(self, families: tuple[str, ...] = FAMILIES, jobs: int = 3) -> None:
        """Every kernel of the plan is in the results, with the records of its two processes."""
        found: Counter[tuple[str, str]] = Counter()
        for path in measurement_files.paths(self.root / "results" / fleet_project.MACHINE):
            for each in measurement_files.load(path)[1]:
                found[each["benchmark"], each["params"][0]] += 1
        assert {"measured": jobs} == dict(self.states())
        assert set(families) == {name.partition(".")[0] for name, _ in found}
        assert {2} == set(found.values())


def ended(run: "subprocess.Popen[str]") -> tuple[int, str]:
    """The status and output of a command when it has ended."""
    said, _ = run.communicate(timeout=600)
    assert "Traceback" not in said, said
    return run.returncode, said


@pytest.fixture
def fleet(tmp_path: Path, slurm: LocalSlurm) -> Fleet:
    """A project with a plan of three jobs."""
    found = Fleet(tmp_path, slurm)
    found.plan(*((family,) for family in FAMILIES))
    return found


def test_three_jobs_on_three_nodes(fleet: Fleet) -> None:
    """At the same time, each on a node of its own; the records name the nodes."""
    run = fleet.start()
    fleet.wait(lambda: len(fleet.slurm.jobs()) == 3)
    assert set(local_slurm.NODES) == set(fleet.slurm.jobs().values())
    status, said = ended(run)
    assert 0 == status, said
    fleet.demand_all_once()
    (path,) = measurement_files.paths(fleet.root / "results" / fleet_project.MACHINE)
    assert set(local_slurm.NODES) == {
        each["node"] for each in measurement_files.load(path)[0].values()
    }
    (script, *_) = fleet.path.parent.glob("reframe/output/**/rfm_job.sh")
    options = {line for line in script.read_text().splitlines() if line.startswith("#SBATCH")}
    assert {"#SBATCH --exclusive", "#SBATCH --no-requeue", "#SBATCH --ntasks=1"} <= options


def test_a_cancelled_job_is_submitted_again_and_goes_on(fleet: Fleet) -> None:
    """By the same run."""
    run = fleet.start()
    fleet.wait_for_points()
    fleet.slurm.ask("scancel", next(iter(fleet.slurm.jobs())))
    status, said = ended(run)
    assert 0 == status, said
    fleet.demand_all_once()


def test_a_lost_node_costs_nothing_that_is_measured(fleet: Fleet) -> None:
    """Its slurmd and its job are killed; the job goes on, here or on another node."""
    run = fleet.start()
    fleet.wait_for_points()
    node = next(iter(fleet.slurm.jobs().values()))
    fleet.slurm.lose_node(node)
    try:
        status, said = ended(run)
        if status:
            status, said = fleet.run()
    finally:
        fleet.slurm.start_node(node)
    assert 0 == status, said
    fleet.demand_all_once()


def test_a_node_that_is_down_is_not_waited_for(fleet: Fleet) -> None:
    """The others measure all jobs."""
    fleet.slurm.ask("scontrol", "update", "NodeName=node1", "State=DOWN", "Reason=test")
    try:
        status, said = fleet.run()
    finally:
        fleet.slurm.ask("scontrol", "update", "NodeName=node1", "State=RESUME")
    assert 0 == status, said
    fleet.demand_all_once()


def test_a_controller_that_is_killed_and_comes_back(fleet: Fleet) -> None:
    """The run may fail meanwhile; the next one measures the rest and no point again."""
    run = fleet.start()
    fleet.wait_for_points()
    fleet.slurm.kill(fleet.slurm.folder / "slurmctld.pid")
    time.sleep(5)
    fleet.slurm.restart_controller()
    status, said = ended(run)
    if status:
        fleet.wait(lambda: not fleet.slurm.jobs())
        status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once()


def test_a_job_that_is_submitted_twice_is_measured_once(fleet: Fleet) -> None:
    """The second one waits for the first, and finds it measured or is refused."""
    run = fleet.start()
    fleet.wait(lambda: list(fleet.path.parent.glob("reframe/stage/**/rfm_job.sh")))
    (script, *_) = fleet.path.parent.glob("reframe/stage/**/rfm_job.sh")
    copy = fleet.root / "again.sh"
    shutil.copy(script, copy)
    subprocess.run(["sbatch", str(copy)], cwd=fleet.root, env=fleet.environ, check=True)
    status, said = ended(run)
    assert 0 == status, said
    fleet.wait(lambda: not fleet.slurm.jobs() and not fleet.slurm.jobs("pending"))
    fleet.demand_all_once()


def test_a_job_at_its_time_limit_goes_on_the_next_time(fleet: Fleet) -> None:
    """Slurm ends it after a minute or a little more; each start measures more."""
    families = ("gemm", "layer_norm", "kl_div")
    fleet.plan(families)
    status, runs = 1, 0
    while status and runs < 10:
        status, said = fleet.run("-S", "time_limit=1m")
        runs += 1
    assert 0 == status, said
    fleet.demand_all_once(families, jobs=1)


def test_ctrl_c_cancels_the_jobs_of_the_scheduler(fleet: Fleet) -> None:
    """None is left there, and the next run goes on."""
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
    fleet.demand_all_once()


def test_a_full_shared_disk_is_a_line_and_nothing_is_lost(fleet: Fleet) -> None:
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
        fleet.demand_all_once()


def test_every_node_measures_a_plan_for_every_node(fleet: Fleet) -> None:
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
