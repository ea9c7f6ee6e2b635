"""Sites as ReFrame's configuration has them, and the fault of one in a line."""

import json

import command
import fleet_project
import pytest

from deepbench_ops.commands.fleet.plan_file import node_hours
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import reframe_site
from deepbench_ops.fleet.reframe_site import Partition, Site

CONFIGURATION = {
    "systems": [
        {
            "name": "lab",
            "hostnames": [".*"],
            "partitions": [
                {"name": "cpu", "scheduler": "slurm", "launcher": "srun", "environs": ["builtin"]},
                {
                    "name": "gpu",
                    "scheduler": "local",
                    "launcher": "local",
                    "environs": ["builtin"],
                    "extras": {"deepbench_machine": "vendor-card"},
                },
            ],
        }
    ],
    "environments": [{"name": "builtin"}],
}


@pytest.fixture
def config(tmp_path):
    """The path of a configuration with two partitions."""
    path = tmp_path / "site.py"
    path.write_text(f"site_configuration = {CONFIGURATION!r}\n")
    return path


@pytest.fixture
def reframe():
    """Skips where ReFrame is not installed."""
    pytest.importorskip("reframe", reason="the extra fleet is not installed")


def test_a_partition_is_a_machine_type(config, reframe):
    """Of its own name, or of the extra's."""
    found = reframe_site.read("lab", str(config))
    expected = (
        Partition("lab:cpu", "cpu", "slurm"),
        Partition("lab:gpu", "vendor-card", "local"),
    )
    assert expected == found.partitions
    assert ("cpu", "vendor-card") == found.machines


def test_a_configuration_is_read_without_a_log_left_behind(config, reframe, tmp_path, monkeypatch):
    """ReFrame writes one into the folder of temporary files, whatever it is asked."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    reframe_site.read("lab", str(config))
    assert [] == list(temporary.iterdir())


def test_an_unknown_machine_type_is_named_with_the_known_ones(config, reframe):
    """In one line."""
    with pytest.raises(DeepbenchError, match="machine type of lab 'gpus'; known: cpu, vendor-card"):
        reframe_site.read("lab", str(config)).partition_of("gpus")


def test_a_partition_is_found_by_its_own_name_too(config, reframe):
    """Also where an extra names its machine type."""
    assert "vendor-card" == reframe_site.read("lab", str(config)).partition_of("gpu").machine


def test_nodes_that_cannot_be_listed_are_named():
    """For each scheduler that does not tell ReFrame of its nodes."""
    Site("lab", "", (Partition("lab:cpu", "cpu", "slurm"),)).demand_node_lists()
    site = Site("lab", "", (Partition("lab:a", "a", "slurm"), Partition("lab:b", "b", "pbs")))
    with pytest.raises(
        DeepbenchError, match="no nodes of lab:b, which is scheduled by pbs, but of"
    ):
        site.demand_node_lists()


@pytest.mark.parametrize("text", ["", "site_configuration = {", "site_configuration = {'a': 1}"])
def test_a_configuration_that_reframe_refuses_is_one_line(config, reframe, text):
    """With its reason."""
    config.write_text(text)
    with pytest.raises(DeepbenchError) as refused:
        reframe_site.read("lab", str(config))
    assert str(refused.value).startswith(f"{config}: ")
    assert 1 == len(str(refused.value).splitlines())


def test_an_unknown_system_is_one_line(config, reframe):
    """With ReFrame's reason."""
    with pytest.raises(DeepbenchError, match="other"):
        reframe_site.read("other", str(config))


def test_a_host_without_the_scheduler_is_refused(monkeypatch):
    """With the command that it lacks; partitions without a scheduler need none."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = reframe_site.Site(
        "lab", "", (Partition("lab:cpu", "cpu", "slurm"), *reframe_site.here("own").partitions)
    )
    found.demand_schedulers(["own"])
    with pytest.raises(DeepbenchError, match="lab:cpu is scheduled by slurm, and this host has no"):
        found.demand_schedulers(["own", "cpu"])


def test_without_reframe_the_extra_is_named(monkeypatch):
    """In one line."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DeepbenchError, match=r"pip install 'asv_bench_deepbench\[fleet\]'"):
        reframe_site.command()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project folder, the current one."""
    fleet_project.make(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_plan_is_made_and_shown(project):
    """As a table and as JSON, with node hours."""
    asked = ("--machine-types", "here", "--framework", "numpy", "--family", "topk")
    status, said, notes = command.deepbench("fleet", "plan", *asked)
    assert 0 == status, notes
    assert "node hours" in said
    assert "fleet/plan.json: 1 job, about 0.0033 node hours; deepbench fleet run measures" in notes
    status, said, _ = command.deepbench("fleet", "plan", *asked, "--format", "json")
    (job,) = json.loads(said)["jobs"]
    assert ("here", ["topk"], 2) == (job["machine"], job["families"], job["points"])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(36, "0.01"), (12, "0.0033"), (0, "0"), (360, "0.10"), (4e6, "1111.11")],
)
def test_node_hours_have_two_digits_at_least(seconds, text):
    """A plan of seconds is not one of 0.0 hours."""
    assert text == node_hours(seconds)


def test_a_plan_does_not_take_the_place_of_one_that_has_jobs(project):
    """Their folders would belong to no plan."""
    (project / "fleet" / "jobs").mkdir(parents=True)
    status, _, said = command.deepbench("fleet", "plan", "--machine-types", "here")
    assert 2 == status
    assert "holds the jobs of an earlier plan: name a plan in another folder" in said


def test_another_plan_is_replaced_on_request_alone(project):
    """The same plan again, or one in the place of a damaged file, needs no --replace."""
    asked = ("fleet", "plan", "--machine-types", "here", "--framework", "numpy", "--family")
    path = project / "fleet" / "plan.json"
    assert 0 == command.deepbench(*asked, "topk")[0]
    assert 0 == command.deepbench(*asked, "topk")[0]
    first = path.read_text()
    status, _, said = command.deepbench(*asked, "softmax")
    assert (2, first) == (status, path.read_text())
    assert "fleet/plan.json holds another plan, of 1 job: name another file, or replace" in said
    assert 0 == command.deepbench(*asked, "softmax", "--replace")[0]
    assert first != path.read_text()
    path.write_text(first[:40])
    assert 0 == command.deepbench(*asked, "topk")[0]
    assert first == path.read_text()


def test_a_partition_that_the_site_lacks_is_refused(project, config, reframe):
    """When the plan is made."""
    asked = ("--system", "lab", "--config", str(config), "--machine-types", "cpu,big")
    status, _, said = command.deepbench("fleet", "plan", *asked)
    assert 2 == status
    assert "unknown machine type of lab 'big'; known: cpu, vendor-card" in said


def test_a_run_without_the_scheduler_is_refused(project, config, reframe, monkeypatch):
    """Before anything is submitted."""
    asked = ("--system", "lab", "--config", str(config), "--machine-types", "cpu")
    assert 0 == command.deepbench("fleet", "plan", *asked, "--family", "topk")[0]
    monkeypatch.setattr("shutil.which", lambda name: None)
    status, _, said = command.deepbench("fleet", "run")
    assert 2 == status
    assert "lab:cpu is scheduled by slurm, and this host has no sbatch" in said


def test_a_run_without_a_plan_names_the_command_that_makes_one(project):
    """In one line; options for ReFrame are no plan."""
    for asked in (("run",), ("run", "--", "-S", "time_limit=30m"), ("status",), ("nodes",)):
        status, _, said = command.deepbench("fleet", *asked)
        assert 2 == status
        assert "fleet/plan.json: no such plan: make it again with deepbench fleet plan" in said


@pytest.mark.parametrize(
    ("access", "name"),
    [
        (["--partition=cpu", "--account=perf"], "cpu"),
        (["--account=perf -p cpu"], "cpu"),
        (["-pcpu"], "cpu"),
        (["--partition", "cpu"], "cpu"),
        (["--partition=cpu,gpu"], ""),
        (["--account=cpu"], ""),
        ([], ""),
    ],
)
def test_the_partition_of_slurm_is_the_one_that_the_options_ask_for(access, name):
    """Among several Slurm chooses."""
    found = reframe_site.partition("lab", {"name": "a", "scheduler": "slurm", "access": access})
    assert name == found.of_slurm
