"""Another distribution adds a family, a framework and a device by entry points, and edits nothing.

`test_plugin_measured.py` measures them.
"""

import json
import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import plugin_site
import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import copied_distributions

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = Path(__file__).with_name("plugin")
RECIPES = [ROOT / "docs" / "how-to" / f"add_a_{what}.md" for what in ("family", "framework")]

DISCOVER = """
import json
from asv_runner.discovery import disc_benchmarks
import benchmarks
print(json.dumps({b.name: len(b._params[0]) for b in disc_benchmarks("benchmarks")}))
"""

MEASURE = """
import json
from deepbench_ops.measure import kernel_process
task = {"family": "axpy", "problem": "axpy_n1000", "precision": "float32", "operation": "forward"}
variables = {"DEEPBENCH_FRAMEWORK": "toy", "DEEPBENCH_DEVICE": "toy0"}
print(json.dumps(kernel_process.measured(task, variables)))
"""

READINGS = """
import json
from types import SimpleNamespace
from deepbench_ops.asv_adapter.run_command import without_readings
devices = {"env_nobuild": {"DEEPBENCH_DEVICE": ["cpu", "cuda", "toy0"]}}
conf = SimpleNamespace(matrix=devices, results_dir="no-such-folder")
print(json.dumps(without_readings(conf, "here")))
"""


@pytest.fixture
def installed(tmp_path):
    """A copy of the plugin and of its framework's library, as pip would have installed them."""
    return plugin_site.install(tmp_path / "site")


def run(site, *command, cwd=ROOT):
    """Run a command that finds the distributions installed in `site`."""
    environ = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environ, capture_output=True, text=True
    )


def named(site):
    """The plugin's distribution, as installed in `site`."""
    return next(
        each for each in metadata.distributions(path=[str(site)]) if each.name == "deepbench-axpy"
    )


def deepbench(site, *arguments):
    return run(site, "-m", "deepbench_ops.cli", *arguments)


def test_its_problems_are_listed_with_flops_and_bytes(installed):
    done = deepbench(installed, "problems", "--family", "axpy", "--format", "json")

    found = {each["id"]: each["flops"] for each in json.loads(done.stdout)}
    assert {"axpy_n1000": 2000, "axpy_n1000000": 2_000_000} == found


def test_its_kernels_are_checked_on_every_framework_that_has_them(installed):
    asked = ("--family", "axpy", "--device", "cpu", "--precision", "float32", "--format", "json")
    names = ("numpy", "torch", "toy")
    done = deepbench(installed, "check", *asked, *(f"--framework={name}" for name in names))

    found = {row["framework"]: (row["verdict"], row["reason"]) for row in json.loads(done.stdout)}
    assert dict.fromkeys(names, ("ok", "")) == found


@pytest.mark.parametrize("device", ["cpu", "toy0"])
def test_its_framework_has_kernels_of_the_families_that_are_here(installed, device):
    """On the processor, and on the device that it brings."""
    asked = ("--family", "gemm", "--family", "rnn", "--device", device, "--precision", "float32")
    done = deepbench(installed, "check", *asked, "--framework", "toy", "--format", "json")

    found = {row["family"]: row["reason"] or row["verdict"] for row in json.loads(done.stdout)}
    assert {"gemm": "ok", "rnn": "the toy backend has no rnn kernels"} == found


def test_other_frameworks_lack_its_device(installed):
    asked = ("--family", "gemm", "--device", "toy0", "--framework", "numpy", "--format", "json")
    done = deepbench(installed, "check", *asked)

    (row,) = json.loads(done.stdout)
    assert "numpy runs on the cpu only, not on toy0" == row["reason"]


def test_times_on_its_device_are_compared_with_its_yardstick(installed):
    """The record names the yardstick's workload, and the conditions its version and library."""
    done = run(installed, "-c", MEASURE)

    record = json.loads(done.stdout)
    assert "toy0 compute 1" == record["yardstick_kind"]
    assert record["yardstick"]
    text = record["fingerprint"]["yardstick_toy0"]
    assert text.startswith("1; product of matrices of 128 x 128, numpy ")


def test_a_run_names_a_device_whose_yardstick_was_never_read(installed):
    """The processor's is read when a run begins; those of cuda and toy0 are not known."""
    cuda, line = json.loads(run(installed, "-c", READINGS).stdout)

    assert cuda.startswith("cuda has no nominal reading")
    assert line.startswith("toy0 has no nominal reading of its yardstick: times are stored as")


def test_backends_lists_its_framework_and_family(installed):
    done = deepbench(installed, "backends", "--family", "axpy", "--framework", "toy")

    assert "toy" in done.stdout
    assert "axpy" in done.stdout


def test_time_gives_rates_of_its_family(installed):
    """The rates follow from the family's own count of operations."""
    asked = ("axpy_n1000000", "--framework", "toy", "--device", "toy0", "--format", "json")
    timing = json.loads(deepbench(installed, "time", *asked).stdout)

    assert ("axpy", "toy0", "toy 2.0.0") == tuple(
        timing[name] for name in ("family", "device", "framework")
    )
    assert pytest.approx(2e6 / timing["seconds"]) == timing["flops_per_second"]


def test_its_headline_is_selected(installed):
    done = deepbench(installed, "select", "headline", "--family", "axpy")

    assert "axpy\\.Training" in done.stdout
    assert "axpy_n1000" in done.stdout


def test_asv_finds_its_benchmarks_under_names_of_their_own(installed):
    done = run(installed, "-c", DISCOVER)

    found = json.loads(done.stdout.splitlines()[-1])
    assert 2 == found["axpy.Training.kernel_forward"]
    assert "axpy.InferenceServer.kernel_forward" not in found
    assert "gemm.Training.kernel_forward" in found


def test_its_releases_are_listed(installed):
    done = deepbench(installed, "release", "list", "--framework", "toy")

    names = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("toy-")]
    assert [f"toy-{number}.0.0" for number in range(1, 7)] == names


FLOAT32 = ("--device", "cpu", "--precision", "float32")
FAMILIES = "its families (deepbench.families: deepbench_axpy) cannot be used: "
FRAMEWORK = "its framework toy (deepbench.frameworks) cannot be used: "
HEADER = "framework,version,date,pins,on_request,index\n"
OTHER_FAMILY = "from deepbench_axpy.axpy import *\n\nclass Gemm(Axpy):\n    family = 'gemm'\n"
FAMILY, TOY = Path("deepbench_axpy"), Path("deepbench_toy_backend")


def written(*files):
    """A change of an installed plugin: each path holds a text instead."""

    def change(site):
        for path, text in files:
            (site / path).write_text(text)

    return change


def replaced(path, old, new):
    """A change of an installed plugin: a file has another text in one place."""

    def change(site):
        text = (site / path).read_text()
        assert old in text
        (site / path).write_text(text.replace(old, new))

    return change


def ids_of_another_family(site):
    replaced(FAMILY / "axpy.py", "axpy_n", "n")(site)
    written((FAMILY / "axpy.csv", "elements,training\n64500000,1\n"))(site)


POINTS = Path("deepbench_axpy-1.0.dist-info", "entry_points.txt")
ROW = "toy,1.0.0,2024-01-01,,no,\n"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(change, expected, id=expected.removeprefix(FAMILIES)[:50])
        for change, expected in (
            (
                written((FAMILY / "axpy.py", "import no_such_module\n")),
                f"{FAMILIES}No module named 'no_such_module'",
            ),
            (
                written((FAMILY / "axpy.py", "")),
                f"{FAMILIES}deepbench_axpy.axpy must declare one dataclass derived from Problem",
            ),
            (
                written(
                    (FAMILY / "gemm.py", OTHER_FAMILY),
                    (FAMILY / "gemm.csv", "elements,training\n1,1\n"),
                ),
                f"{FAMILIES}the family gemm is already declared by deepbench",
            ),
            (
                replaced(POINTS, "axpy =", "again = deepbench_axpy\naxpy ="),
                f"{FAMILIES}the family axpy is already declared by deepbench-axpy",
            ),
            (
                ids_of_another_family,
                f"{FAMILIES}n64500000 is an id of the family axpy and of all_reduce",
            ),
            (
                written((FAMILY / "axpy.csv", "elements,training\nmany,1\n")),
                f"{FAMILIES}axpy.csv, line 2: elements is 'many': write a whole number",
            ),
            (
                replaced(FAMILY / "axpy.py", 'r"axpy_n', 'r"axpy_e'),
                f"{FAMILIES}axpy.csv, line 2: the id axpy_n1000 does not match the id_pattern",
            ),
            (
                written((TOY / "__init__.py", "import no_such_module\n")),
                f"{FRAMEWORK}No module named 'no_such_module'",
            ),
            (
                written((TOY / "__init__.py", 'DEVICES = {"cuda": ""}\n')),
                f"{FRAMEWORK}the device cuda is already declared by deepbench",
            ),
            (
                written((TOY / "__init__.py", 'DEVICES = {"cpu": ""}\n')),
                f"{FRAMEWORK}the device cpu is already declared by deepbench",
            ),
            (
                written((TOY / "__init__.py", 'DEVICES = ["toy0"]\n')),
                f"{FRAMEWORK}DEVICES is ['toy0']: write a mapping",
            ),
            (
                written((TOY / "releases.csv", "toy,1.0.0\n")),
                "line 1: the columns are 'toy,1.0.0': write 'framework,",
            ),
            (
                written((TOY / "releases.csv", f"{HEADER}toy,1.0.0,soon,,no,\n")),
                "line 2: date is 'soon': write it as YYYY-MM-DD",
            ),
            (
                written((TOY / "releases.csv", HEADER + 2 * ROW)),
                "line 3: toy-1.0.0 is already on line 2",
            ),
            (
                written((TOY / "releases.csv", HEADER + ROW.replace("toy", "numpy"))),
                "lists numpy-1.0.0, which is no release of toy",
            ),
        )
    ],
)
def test_a_faulty_plugin_is_one_line_and_everything_else_works(installed, change, expected):
    change(installed)

    listed = deepbench(installed, "problems", "--family", "rnn", "--format", "csv")
    checked = deepbench(installed, "check", "--family", "gemm", "--framework", "numpy", *FLOAT32)

    assert (0, 0) == (listed.returncode, checked.returncode)
    assert 125 == len(listed.stdout.splitlines())
    (line,) = checked.stderr.splitlines()
    assert line.startswith("deepbench: warning: deepbench-axpy: ")
    assert expected in line


@pytest.mark.parametrize(
    ("file", "framework", "expected"),
    [
        (
            FAMILY / "axpy_numpy.py",
            "numpy",
            "deepbench_axpy.axpy_numpy cannot be imported: No module named 'absent'",
        ),
        (
            TOY / "backend.py",
            "toy",
            "its framework toy cannot be imported: No module named 'absent'",
        ),
    ],
)
def test_kernels_that_cannot_be_imported_are_one_reason(installed, file, framework, expected):
    """They are reported where they are asked for; all others are there."""
    written((file, "import absent\n"))(installed)
    asked = ("check", *FLOAT32, "--format", "json", "--framework")

    faulty = deepbench(installed, *asked, framework, "--family", "axpy")
    others = deepbench(installed, *asked, "numpy", "--family", "gemm")

    assert "Traceback" not in faulty.stderr
    assert [f"deepbench-axpy: {expected}"] == [row["reason"] for row in json.loads(faulty.stdout)]
    assert ["ok"] == [row["verdict"] for row in json.loads(others.stdout)]


def test_a_faulty_yardstick_is_one_line(installed):
    """Its device cannot be measured; the line names the distribution."""
    written((TOY / "toy0_yardstick.py", "WORKLOADS = None\n"))(installed)
    asked = ("time", "axpy_n1000", "--framework", "toy", "--processes", "1")

    on_device = deepbench(installed, *asked, "--device", "toy0")
    on_processor = deepbench(installed, *asked)

    assert "Traceback" not in on_device.stderr
    (line,) = [each for each in on_device.stderr.splitlines() if "deepbench-axpy" in each]
    expected = "deepbench-axpy: the yardstick of the device toy0 cannot be used: WORKLOADS of "
    assert line.startswith(f"deepbench: error: {expected}")
    assert (2, 0) == (on_device.returncode, on_processor.returncode)


REPO = """
from deepbench_ops.asv_adapter.release_repository import ReleaseRepo
releases = ReleaseRepo("releases.csv", "").timeline
print([each.date.isoformat() for each in releases if each.name == "toy-1.0.0"], len(releases))
"""


@pytest.fixture
def project(tmp_path):
    """A new project folder, whose table lists a release of toy with a date of its own."""
    made = deepbench(tmp_path, "init", str(tmp_path / "project"))
    assert 0 == made.returncode, made.stderr
    with (tmp_path / "project" / "releases.csv").open("a") as table:
        table.write("toy,1.0.0,2020-02-02,,no,\n")
    return tmp_path / "project"


def test_a_release_of_its_own_that_the_project_lists_otherwise_is_one_line(installed, project):
    """The project's row is used, and asv says whose release differs and what to do."""
    done = run(installed, "-c", REPO, cwd=project)

    assert done.stdout.startswith("['2020-02-02'] ")
    expected = (
        "deepbench-axpy: its release toy-1.0.0 is in the release table with other values, which"
        " are used: remove that row to use those of the distribution"
    )
    assert [expected] == done.stderr.splitlines()


def test_rows_of_its_framework_stay_when_it_is_uninstalled(tmp_path, project):
    """One line names it and what to do; all other releases are listed, and asv has its row."""
    listed = run(tmp_path, "-m", "deepbench_ops.cli", "release", "list", cwd=project)
    loaded = run(tmp_path, "-c", REPO, cwd=project)

    assert (0, 0) == (listed.returncode, loaded.returncode)
    assert "numpy-2.4.6" in listed.stdout
    assert "toy" not in listed.stdout
    assert loaded.stdout.startswith("['2020-02-02'] ")
    for done in (listed, loaded):
        (line,) = done.stderr.splitlines()
        assert "no installed package brings the framework toy: its releases are shown" in line


def test_a_release_of_its_framework_is_not_measured_when_it_is_uninstalled(
    tmp_path, project, monkeypatch
):
    """`asv run` names the framework, and neither installs nor measures another release."""
    monkeypatch.setenv("HOME", str(project))
    entry = dict.fromkeys(("arch", "cpu", "gpu", "num_cpu", "os", "ram"), "x")
    known = {"here": {"machine": "here", **entry}, "version": 1}
    (project / ".asv-machine.json").write_text(json.dumps(known))

    done = run(tmp_path, "-m", "asv", "run", "toy-1.0.0", cwd=project)

    assert 1 == done.returncode
    assert "no installed package brings the framework toy: toy-1.0.0 can be shown" in done.stdout
    assert not (project / ".asv" / "env").exists()


MACHINE = """
import sys
from deepbench_ops import backends
backends.NAMES = ("toy",)
from deepbench_ops.machine import profile_measurement
from deepbench_ops.measure import blas_cost
profile_measurement.NOMINAL_SECONDS = profile_measurement.TRIAD_SECONDS = 0.2
profile_measurement.MORE_SECONDS = 600.0  # other tests may run meanwhile
blas_cost.lines = lambda: []
from deepbench_ops.cli import main
sys.argv = ["deepbench", "machine", "--name", "here", "--yes"]
main()
"""
"""`deepbench machine` of one framework, in less time."""


@pytest.mark.slow
def test_the_machine_command_measures_its_device(installed, project, monkeypatch):
    """Its peaks, its bandwidth and both readings of its yardstick are printed and written."""
    monkeypatch.setenv("HOME", str(project))
    monkeypatch.setenv("DEEPBENCH_THREADS", "1")

    done = run(installed, "-c", MACHINE, cwd=project)

    assert 0 == done.returncode, done.stderr
    assert "toy0 peak float32: " in done.stdout
    profile = json.loads((project / "results" / "here" / "machine.profile").read_text())
    assert profile["peaks"]["toy0"]["float32"]["value"] > 0
    assert profile["bandwidth"]["toy0"]["value"] > 0
    assert {"toy0 compute 1", "toy0 memory 1"} <= set(profile["yardsticks"]["1"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import absent\n", "No module named 'absent'"),
        ("def broken(:\n", "invalid syntax"),
        ("RULE = 3\n", "RULE of deepbench_toy_backend.listed_releases is no Rule"),
    ],
)
def test_a_faulty_rule_of_its_releases_is_one_line(installed, project, text, expected):
    """`release update` names the distribution; its listed releases stay."""
    written((TOY / "listed_releases.py", text))(installed)
    asked = ("-m", "deepbench_ops.cli", "release")

    updated = run(installed, *asked, "update", "--framework", "toy", "--nightly", cwd=project)
    listed = run(installed, *asked, "list", "--framework", "toy", cwd=project)

    assert (1, 0) == (updated.returncode, listed.returncode)
    assert "toy-6.0.0" in listed.stdout
    (line,) = updated.stderr.splitlines()
    assert line.startswith("deepbench: warning: deepbench-axpy: releases of toy have no rule: ")
    assert expected in line


def test_its_wheel_holds_what_is_installed(installed, tmp_path):
    distribution = named(installed)

    packed = copied_distributions.wheel(distribution, tmp_path)

    into = tmp_path / "into"
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(into)
    again = named(into)
    assert {p.value for p in distribution.entry_points} == {p.value for p in again.entry_points}
    for module in (*installed.glob("deepbench_*/*.py"), *installed.glob("deepbench_*/*.csv")):
        assert module.read_text() == (into / module.relative_to(installed)).read_text()


def test_compiled_modules_are_not_taken_to_another_environment(installed, tmp_path):
    (installed / "deepbench_axpy" / "fast.so").write_bytes(b"")
    record = installed / "deepbench_axpy-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text() + "\ndeepbench_axpy/fast.so,,")
    distribution = named(installed)

    with pytest.raises(DeepbenchError, match=r"holds deepbench_axpy/fast\.so"):
        copied_distributions.wheel(distribution, tmp_path)


def test_the_recipes_name_files_that_are_there():
    """Every file of the two packages that the recipes name is in tests/plugin."""
    recipes = "".join(page.read_text(encoding="utf-8") for page in RECIPES)

    named = set(re.findall(r"`(deepbench_(?:axpy|toy_backend)/\w+\.\w+)`", recipes))
    there = {
        path.relative_to(plugin_site.PLUGIN).as_posix()
        for path in plugin_site.PLUGIN.glob("deepbench_*/*.*")
        if path.parent.suffix != ".dist-info" and not path.name.endswith(".pyc")
    }
    written = {name for name in there if name != "deepbench_axpy/__init__.py"}
    assert written == named


def test_the_recipes_entry_points_are_those_of_the_plugin():
    """The blocks of the recipes declare what the installed distribution declares."""
    recipes = "".join(page.read_text(encoding="utf-8") for page in RECIPES)

    group = r'entry-points\."(deepbench\.\w+)"\]\s+(\w+) = "(\w+)"'
    points = (PLUGIN / "deepbench_axpy-1.0.dist-info" / "entry_points.txt").read_text()
    declared = re.findall(r"\[(deepbench\.\w+)\]\s+(\w+) = (\w+)", points)
    assert declared == re.findall(group, recipes)
