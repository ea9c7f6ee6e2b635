"""A fleet over ssh: two hosts with a real sshd each, without a scheduler."""

import signal
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import fleet_project
import local_sshd
import processes
import pytest
from local_sshd import SshHosts
from running_fleet import FAMILIES, Fleet, ended

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet.planned_training import PlannedTraining
from deepbench_ops.storage import measurement_files, model_runs

pytest.importorskip("reframe", reason="the extra fleet is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(local_sshd.why_not()), reason=local_sshd.why_not()),
]


SITE = """\
site_configuration = {{
    "systems": [
        {{
            "name": "pair",
            "hostnames": [".*"],
            "modules_system": "nomod",
            "partitions": [
                {{
                    "name": "cpu",
                    "scheduler": "ssh",
                    "launcher": "local",
                    "sched_options": {{"ssh_hosts": {hosts}}},
                    "access": {options},
                    "environs": ["builtin"],
                    "max_jobs": {count},
                    # each host has a folder for temporary files, and with it a lock, of its own
                    "prepare_cmds": ["mkdir -p {temporary}/$(hostname)"],
                    "env_vars": {variables},
                    "extras": {{"deepbench_machine": "here"}},
                }}
            ],
        }}
    ],
    "environments": [{{"name": "builtin", "target_systems": ["pair"]}}],
}}
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHosts]:
    """Both hosts."""
    with local_sshd.two_ssh_hosts(tmp_path_factory.mktemp("hosts")) as found:
        yield found


class SshFleet(Fleet):
    """A fleet on the hosts, run from the first one; its processes are marked.

    used: the hosts that ReFrame gives jobs to.
    """

    def __init__(
        self, root: Path, hosts: SshHosts, *more: str, used: tuple[str, ...] | None = None
    ) -> None:
        self.hosts, self.mark = hosts, root.name
        site = {"system": "pair", "config": str(root / "site.py")}
        own = {processes.MARK: self.mark, "PATH": hosts.path}
        super().__init__(root, site, own, *more, inside=hosts.hosts[0].command)
        temporary = self.environ["TMPDIR"]
        passed = ("PYTHONPATH", "HOME", "DEEPBENCH_THREADS", "PATH", processes.MARK)
        variables = [[name, self.environ[name]] for name in passed]
        names = used or hosts.names
        text = SITE.format(
            hosts=list(names),
            options=hosts.options,
            count=len(names),
            temporary=temporary,
            variables=[*variables, ["TMPDIR", f"{temporary}/$(hostname)"]],
        )
        (root / "site.py").write_text(text)

    def begun_on(self) -> set[str]:
        """The hosts on which jobs have begun."""
        return {path.read_text() for path in self.path.parent.glob("jobs/**/begun.json")}


@pytest.fixture
def fleet(tmp_path: Path, hosts: SshHosts) -> SshFleet:
    """A project with a plan of three jobs."""
    found = SshFleet(tmp_path, hosts)
    found.plan(*((family,) for family in FAMILIES))
    return found


def test_three_jobs_on_two_hosts(fleet: SshFleet) -> None:
    """Both measure, and the records name them."""
    status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=3)
    (path,) = measurement_files.paths(fleet.root / "results" / fleet_project.MACHINE)
    assert set(fleet.hosts.names) == {
        each["node"] for each in measurement_files.load(path)[0].values()
    }


def test_ctrl_c_ends_the_jobs_on_the_hosts(fleet: SshFleet) -> None:
    """No process goes on measuring there, and the next run goes on."""
    fleet.plan(FAMILIES)
    run = fleet.start()
    fleet.wait_for_points()
    run.send_signal(signal.SIGINT)
    status, said = ended(run)
    assert 130 == status, said
    assert "the same command goes on from there" in said
    assert processes.eventually_gone(fleet.mark)
    assert {"interrupted": 1} == dict(fleet.states())
    status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=1)


def test_a_lost_host_costs_nothing_that_is_measured(tmp_path: Path, hosts: SshHosts) -> None:
    """All of its processes are killed in a job; the job goes on when it is back."""
    _, other = hosts.hosts
    fleet = SshFleet(tmp_path, hosts, used=(other.namespace,))
    fleet.plan(FAMILIES)
    run = fleet.start()
    fleet.wait_for_points()
    hosts.lose(other)
    status, said = ended(run)
    hosts.start(other)
    if status:
        status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(FAMILIES, jobs=1)


def test_a_host_that_does_not_answer_is_a_line(tmp_path: Path, hosts: SshHosts) -> None:
    """It names the host, and nothing is lost."""
    fleet = SshFleet(tmp_path, hosts, used=("nowhere.invalid",))
    fleet.plan(FAMILIES[:1])
    status, said = fleet.run()
    assert 1 == status, said
    assert "nowhere.invalid" in said
    assert {"left": 1} == dict(fleet.states())


LAUNCHERS = pytest.mark.parametrize("launcher", ["torchrun", "mpirun"])


def over_both(
    tmp_path: Path, hosts: SshHosts, launcher: str, framework: str, **of_job: Any
) -> tuple[SshFleet, str]:
    """A fleet with a job over both hosts, a rank on each, and the name of their machine.

    framework: the job has the installed release of it. of_job: its other fields.
    """
    pytest.importorskip("torch", reason="torch is not installed")
    if launcher == "mpirun":
        pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    placement = RankPlacement(2, 1, launcher, "cable", hosts.names)
    machine = plans.profile(fleet_project.MACHINE, placement)
    release = f"{framework}-{metadata.version(framework).partition('+')[0]}"
    fleet = SshFleet(tmp_path, hosts, release, machine, used=hosts.names[:1])
    job = fleet_project.job(machine=machine, release=release, **of_job)
    fleet.write([job], placement=placement)
    return fleet, machine


@LAUNCHERS
def test_collectives_over_two_hosts(tmp_path: Path, hosts: SshHosts, launcher: str) -> None:
    """The launcher starts a rank on each over ssh; ranks meet over the cable."""
    framework = {"torchrun": "torch", "mpirun": "numpy"}[launcher]
    fleet, machine = over_both(tmp_path, hosts, launcher, framework, families=("all_gather",))
    status, said = fleet.run()
    assert 0 == status, said
    fleet.demand_all_once(("all_gather",), 1, machine)
    (path,) = measurement_files.paths(tmp_path / "results" / machine)
    facts, records = measurement_files.load(path)
    wanted = {"nodes": "2", "ranks_per_node": "1", "launcher": launcher, "interconnect": "cable"}
    assert all(wanted.items() <= each.items() for each in facts.values())
    assert {2} == {each["params"][2] for each in records}
    assert processes.eventually_gone(fleet.mark)


@LAUNCHERS
def test_a_training_over_two_hosts(tmp_path: Path, hosts: SshHosts, launcher: str) -> None:
    """One rank alone, then one on each host."""
    training = PlannedTraining("mmoe")
    fleet, machine = over_both(tmp_path, hosts, launcher, "torch", families=(), training=training)
    status, said = fleet.run()
    assert 0 == status, said
    found = model_runs.load(tmp_path / "results" / machine)
    assert [("mmoe", 1), ("mmoe", 2)] == [(run["model"], run["ranks"]) for run in found]
    assert {"launcher": launcher, "nodes": "2"}.items() <= found[1]["conditions"].items()
    assert processes.eventually_gone(fleet.mark)
