"""The tests of a plan, run by a ReFrame that is installed apart from the project."""

import json
import os
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import command
import fleet_project
import processes
import pytest
import wheelhouse
from packaging.requirements import Requirement

from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet import job_folder
from deepbench_ops.fleet.fleet_run import CHECKS
from deepbench_ops.fleet.scheduled_jobs import PLAN_VARIABLE
from deepbench_ops.storage import measurement_files

pytest.importorskip("reframe", reason="the extra fleet is not installed")
pytestmark = pytest.mark.slow

REFRAME = "reframe-hpc"
PYTHON_VARIABLE = "DEEPBENCH_FLEET_PYTHON"

SITE = {
    "systems": [
        {
            "name": "lab",
            "hostnames": [".*"],
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "login",
                    "scheduler": "local",
                    "launcher": "local",
                    "environs": ["gnu"],
                    "extras": {"deepbench_machine": "here"},
                }
            ],
        }
    ],
    "environments": [{"name": "gnu", "cc": "gcc", "target_systems": ["lab"]}],
    "general": [{"save_log_files": True}],
}
"""A site's own configuration, with an environment of its own."""


def needed(name: str, found: set[str]) -> set[str]:
    """A distribution and all that it needs here."""
    if name not in found:
        found.add(name)
        for text in metadata.distribution(name).requires or ():
            each = Requirement(text)
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                needed(each.name, found)
    return found


@pytest.fixture(scope="module")
def reframe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of a ReFrame in an environment without this project."""
    wheels, folder = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site") / "venv"
    for name in needed(REFRAME, set()):
        wheelhouse.repack_whole(wheels, name)
    venv.create(folder, with_pip=True)
    environ = {**os.environ, **wheelhouse.pip_environment(wheels)}
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", REFRAME]
    subprocess.run(pip, env=environ, check=True)
    return folder / "bin" / "reframe"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The Python of the project, whose packages no other Python finds."""
    path = tmp_path / "bin" / "python"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nPYTHONPATH={fleet_project.ROOT} exec {sys.executable} "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a plan of a job for that site."""
    (tmp_path / "site.py").write_text(f"site_configuration = {SITE!r}\n")
    path = fleet_project.make(tmp_path)
    site = {"system": "lab", "config": str(tmp_path / "site.py")}
    fleet_project.write(path, fleet_project.plan(**site))
    return tmp_path


def run(
    reframe: Path, root: Path, checks: Path, *options: str, status: int = 0, **variables: str
) -> str:
    """Give a file of tests to the site's ReFrame, without this project; return its output.

    status: the one that it has to end with.
    """
    shell = {"PWD": str(root), PLAN_VARIABLE: "fleet/plan.json"}
    environ = {**fleet_project.environ(root), **shell, **variables}
    del environ["PYTHONPATH"]
    asked = [str(reframe), "-C", "site.py", "--system=lab", "-c", str(checks), *options]
    done = processes.run([*asked, "--prefix", str(root / "reframe")], root, environ)
    assert status == done.returncode, done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    return done.stdout


def test_a_site_measures_a_plan_with_its_own_reframe(
    reframe: Path, root: Path, python: Path
) -> None:
    """By its own configuration; the times are merged afterwards, and nothing is measured again."""
    own = [str(reframe.with_name("python")), "-c", "import deepbench_ops"]
    assert "No module named 'deepbench_ops'" in processes.run(own, root, {}).stdout
    named = {PYTHON_VARIABLE: str(python)}
    said = run(reframe, root, CHECKS, "-r", **named)
    assert "Ran 1/1 test case(s) from 1 check(s) (0 failure(s)" in said
    path = root / "fleet" / "plan.json"
    (folder,) = job_folder.folders(plans.read(path), path)
    outcome = folder.outcome()
    assert outcome and outcome.measured
    (script,) = root.glob("reframe/output/**/rfm_job.sh")
    assert f"{python} -m deepbench_ops.fleet.node_job {path} " in script.read_text()
    done = processes.run([*command.COMMAND, "fleet", "run"], root, fleet_project.environ(root))
    assert 0 == done.returncode, done.stdout
    assert f"measured times stored in results: {fleet_project.POINTS}" in done.stdout
    assert outcome == folder.outcome()
    (records,) = measurement_files.paths(root / "results" / fleet_project.MACHINE)
    assert 2 * fleet_project.POINTS == len(measurement_files.load(records)[1])
    assert "Running 0 check(s)" in run(reframe, root, CHECKS, "-r", **named)


def test_the_python_of_an_installed_project_is_found(
    reframe: Path, root: Path, python: Path
) -> None:
    """In whose environment the file of tests lies."""
    installed = root / "lib" / "python3" / "site-packages" / "deepbench_ops" / "fleet" / "checks"
    installed.mkdir(parents=True)
    (root / "pyvenv.cfg").touch()
    shutil.copy(CHECKS, installed)
    said = run(reframe, root, installed / CHECKS.name, "--describe")
    described = json.loads(said[said.index("[") :])
    assert [str(python)] == [each["executable"] for each in described]


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({}, f"set {PYTHON_VARIABLE} to the Python in which deepbench is installed"),
        ({PYTHON_VARIABLE: "/missing/python"}, "/missing/python: No such file or directory"),
        ({PYTHON_VARIABLE: "own"}, "No module named 'deepbench_ops'"),
        ({PLAN_VARIABLE: "missing.json", PYTHON_VARIABLE: "python"}, "/missing.json: no such plan"),
    ],
)
def test_jobs_that_cannot_be_listed_have_a_reason(
    reframe: Path, root: Path, python: Path, variables: dict[str, str], reason: str
) -> None:
    """A line, with which ReFrame ends."""
    known = {"own": str(reframe.with_name("python")), "python": str(python)}
    alone = root / "alone" / CHECKS.name
    alone.parent.mkdir()
    shutil.copy(CHECKS, alone)
    named = {name: known.get(value, value) for name, value in variables.items()}
    said = run(reframe, root, alone, "-r", status=1, **named)
    assert 1 == sum(reason in line for line in said.splitlines()), said
    assert "Running" not in said
