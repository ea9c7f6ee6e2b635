"""A family, a framework and a device of another distribution, from measuring to the verdict.

All commands are the real ones, in a copy of the project that nothing was edited in: the devices of
its asv.conf.json and its release table are all that a user would write.
"""

import csv
import json
import os
import shutil
import sys
from importlib import metadata
from pathlib import Path

import plugin_site
import processes
import pytest
import toy_results
import wheelhouse

from deepbench_ops.measure import yardstick
from deepbench_ops.storage import measurement_files

ROOT = Path(__file__).resolve().parents[1]
NUMPY = metadata.version("numpy")
RELEASES = f"""framework,version,date,pins,on_request,index
numpy,{NUMPY},2024-03-01,,no,
"""
MEASURED = ("toy-1.0.0", "toy-2.0.0")
SURVEY = """
from pathlib import Path
from deepbench_ops import backends
backends.NAMES = ("toy",)
from deepbench_ops.machine import machine_profile, nominal_measurement, profile_measurement
nominal_measurement.NOMINAL_SECONDS = profile_measurement.TRIAD_SECONDS = 0.2
machine_profile.write(Path("results"), profile_measurement.measure_profile("here", 1, None))
"""
"""The work of `deepbench machine` after its questions, with one framework and in less time."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project in which toy 1.0.0 and 2.0.0 and numpy have been measured."""
    root = tmp_path_factory.mktemp("project")
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("deepbench_ops", "asv_bench_deepbench", "benchmarks"):
        shutil.copytree(ROOT / name, root / name, ignore=ignore)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, root / name)
    conf = (ROOT / "asv.conf.json").read_text(encoding="utf-8")
    conf = conf.replace("deepbench_ops/releases/releases.csv", "releases.csv")
    conf = conf.replace('"DEEPBENCH_DEVICE": ["cpu"]', '"DEEPBENCH_DEVICE": ["cpu", "toy0"]')
    (root / "asv.conf.json").write_text(conf, encoding="utf-8")
    (root / "releases.csv").write_text(RELEASES)
    (root / ".asv-machine.json").write_text(json.dumps({"here": toy_results.MACHINE, "version": 1}))
    plugin_site.install(root / "site")
    stock(root / "wheels")
    run(root, "-c", SURVEY)
    measured = ("--bench", "^axpy", f"{' '.join(MEASURED)} numpy-{NUMPY}")
    run(root, "-m", "asv", "run", "--machine", "here", *measured, DEEPBENCH_THREADS="1")
    return root


def stock(folder):
    """Fill a folder with all that pip is asked for."""
    wheelhouse.stock(folder)
    for name in ("numpy", yardstick.WHEEL):
        wheelhouse.repack_whole(folder, name)
    for version in plugin_site.TIMES:
        plugin_site.library(folder, version)


def run(root, *command, code=0, **variables):
    """Run a command of Python in the project; return its output."""
    environ = {
        **os.environ,
        **wheelhouse.pip_environment(root / "wheels"),
        **variables,
        "HOME": str(root),
        "PYTHONPATH": str(root / "site"),
    }
    done = processes.run([sys.executable, *command], root, environ)
    assert "Traceback" not in done.stdout, done.stdout
    assert code == done.returncode, done.stdout
    return done.stdout


def deepbench(root, *arguments, **more):
    return run(root, "-m", "deepbench_ops.cli", *arguments, **more)


def records(root, release):
    """The raw records of a release."""
    found = [
        json.loads(line)
        for path in (root / "results" / "here").glob("*.measurements.jsonl.gz")
        for line in measurement_files.content(path).splitlines()
    ]
    return [each for each in found if each.get("release") == release and "seconds" in each]


def test_its_releases_are_measured_on_its_device(project):
    """On the device the yardstick is its own and its nominal reading the profile's, on the
    processor neither."""
    for release in MEASURED:
        kinds = {each["yardstick_kind"] for each in records(project, release)}
        assert {"compute", "toy0 compute 1", "toy0 memory 1"} <= kinds
        assert all(each["nominal"] for each in records(project, release))
    assert not any("toy0" in each["yardstick_kind"] for each in records(project, f"numpy-{NUMPY}"))


def test_the_survey_measures_its_device(project):
    profile = json.loads((project / "results" / "here" / "machine.profile").read_text())

    assert {"cpu", "toy0"} == set(profile["peaks"])
    assert profile["peaks"]["toy0"]["float32"]["value"] > 0
    assert profile["bandwidth"]["toy0"]["value"] > 0
    kinds = {"compute", "memory", "toy0 compute 1", "toy0 memory 1"}
    assert kinds == set(profile["yardsticks"]["1"])


def test_the_environments_hold_the_plugin_and_its_library(project):
    """Each has its own release of the library, and the distribution as it is installed here."""
    for release in MEASURED:
        (folder,) = (project / ".asv" / "env" / release).glob("lib/python*/site-packages")
        found = {each.name: each.version for each in metadata.distributions(path=[str(folder)])}
        assert ("1.0", release.removeprefix("toy-")) == (found["deepbench-axpy"], found["toy"])


def test_results_are_published_and_exported(project):
    """Both releases on both devices are in the pages and in the table."""
    run(project, "-m", "asv", "publish")
    deepbench(project, "export", "table.csv", "--machine", "here")

    index = json.loads((project / "html" / "index.json").read_text())
    assert {"cpu", "toy0"} == set(index["params"]["env-DEEPBENCH_DEVICE"])
    assert {"numpy", "toy"} == set(index["params"]["branch"])
    with (project / "table.csv").open() as lines:
        found = {
            (f"{row['framework']}-{row['release']}", row["problem"], row["device"])
            for row in csv.DictReader(lines)
        }
    problems = ("axpy_n1000", "axpy_n1000000")
    expected = {
        (release, problem, device)
        for release in MEASURED
        for problem in problems
        for device in ("cpu", "toy0")
    } | {(f"numpy-{NUMPY}", problem, "cpu") for problem in problems}
    assert expected == found
