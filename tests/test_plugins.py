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
from deepbench_ops.releases import project_and_plugin_wheels

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = Path(__file__).with_name("plugin")
OTHER_RUN = "warning: process "
"""Beginning of the warning about another test that measures at the same moment."""
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

SEVERAL = """
import contextlib, io, json, sys
from deepbench_ops import cli

found = []
for sys.argv in [["deepbench", *command] for command in json.loads(sys.argv[1])]:
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as end:
            status = end.code or 0
    found.append({"status": status, "out": out.getvalue(), "err": err.getvalue()})
print(json.dumps(found))
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


def run(site, *command, cwd=ROOT, **variables):
    """Run a command that finds the distributions installed in `site`."""
    environ = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}", **variables}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environ, capture_output=True, text=True
    )


def named(site):
    """The plugin's distribution, as installed in `site`."""
    return next(
        each for each in metadata.distributions(path=[str(site)]) if each.name == "deepbench-axpy"
    )


def deepbench(site, *arguments, **variables):
    return run(site, "-m", "deepbench_ops.cli", *arguments, **variables)


def in_one_process(site, *commands):
    """Run commands one after the other in a new process: of each its exit status and output.

    To start a process and load the packages takes most of the time of a command.
    """
    done = run(site, "-c", SEVERAL, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_its_problems_are_listed_with_flops_and_bytes(installed):
    done = deepbench(installed, "problems", "--family", "axpy", "--format", "json")

    found = {each["id"]: each["flops"] for each in json.loads(done.stdout)}
    assert {"axpy_n1000": 2000, "axpy_n1000000": 2_000_000} == found


@pytest.mark.slow
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
    assert {"gemm": "ok", "rnn": "this project has no rnn kernels for toy"} == found


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


@pytest.mark.slow
def test_the_variables_that_it_declares_are_settings_from_outside(installed):
    """The measured process records them, and the command that starts one names them first."""
    asked = ("time", "axpy_n1000", "--framework", "toy", "--processes", "1")
    measured = run(installed, "-c", MEASURE, TOY_ROUTE="slow", TOYS="many")
    timed = deepbench(installed, *asked, TOY_ROUTE="slow", TOYS="many")

    assert "TOY_ROUTE=slow" == json.loads(measured.stdout)["fingerprint"]["settings"]
    assert "external settings: TOY_ROUTE=slow (" in timed.stderr


TRANSPORT = """
from deepbench_ops.distributed.prepared_ranks import TRANSPORTS
print(TRANSPORTS["toy", "toy0"])
"""


def test_its_framework_may_name_a_transport_for_its_device(installed):
    """One of those that are here."""
    path = installed / TOY / "__init__.py"
    path.write_text(path.read_text() + 'TRANSPORTS = {"toy0": "gloo"}\n')

    assert "gloo\n" == run(installed, "-c", TRANSPORT).stdout


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
FAMILY_PLACE = "(deepbench.families: deepbench_axpy) cannot be used: "
FAMILIES = f"its family axpy {FAMILY_PLACE}"
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


def declared(text):
    """A change of an installed plugin: its family ends with a further declaration."""

    def change(site):
        path = site / FAMILY / "axpy.py"
        path.write_text(path.read_text() + f"\n    {text}\n")

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
                f"its family gemm {FAMILY_PLACE}the family gemm is already declared by deepbench",
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
                written((FAMILY / "axpy.py", 'raise SystemExit("needs a licence")\n')),
                f"{FAMILIES}needs a licence",
            ),
            (
                written((FAMILY / "axpy.py", "raise SystemExit\n")),
                f"{FAMILIES}it exits with status 0",
            ),
            (
                declared("headline: ClassVar = 5"),
                f"{FAMILIES}headline of axpy is 5, no Mapping[str, tuple[str, ...]]",
            ),
            (
                declared("operations: ClassVar = ('forward')"),
                f"{FAMILIES}operations of axpy is 'forward', no tuple[str, ...]",
            ),
            (
                declared("operations: ClassVar = ()"),
                f"{FAMILIES}operations of axpy is (): name at least one",
            ),
            (
                declared("position: ClassVar = 'first'"),
                f"{FAMILIES}position of axpy is 'first', no int",
            ),
            (
                declared("sheets: ClassVar = ()"),
                f"{FAMILIES}sheets of axpy is (), no Sheets | None",
            ),
            (
                declared("precisions: ClassVar = ('float31',)"),
                f"{FAMILIES}precisions of axpy names 'float31': choose among float32, ",
            ),
            (
                declared("headline: ClassVar = {'train': ('axpy_n1000',)}"),
                f"{FAMILIES}headline of axpy names 'train': choose among training, ",
            ),
            (
                declared("headline: ClassVar = {'training': ('axpy_n1',)}"),
                f"{FAMILIES}headline of axpy names axpy_n1, which its CSV lacks",
            ),
            (
                declared("selections: ClassVar = {'headline': 'training'}"),
                f"{FAMILIES}selections of axpy names 'headline', which exists",
            ),
            (
                declared("id_pattern: ClassVar = '('"),
                f"{FAMILIES}id_pattern of axpy: missing ), unterminated subpattern",
            ),
            (
                replaced(FAMILY / "axpy.py", "return 2 * self.elements\n", "return 1 / 0\n"),
                f"{FAMILIES}flops of axpy_n1000 raises ZeroDivisionError: division by zero",
            ),
            (
                replaced(FAMILY / "axpy.py", "return 2 * self.elements\n", "return 'many'\n"),
                f"{FAMILIES}flops of axpy_n1000 is 'many', no number",
            ),
            (
                replaced(FAMILY / "axpy.py", "return 2 * self.elements\n", "return float('nan')\n"),
                f"{FAMILIES}flops of axpy_n1000 is nan, no number, finite and not negative",
            ),
            (
                replaced(FAMILY / "axpy.py", "return 2 * self.elements\n", "return -1\n"),
                f"{FAMILIES}flops of axpy_n1000 is -1, no number, finite and not negative",
            ),
            (
                declared("operations: ClassVar = ('for ward',)"),
                f"{FAMILIES}operations of axpy names 'for ward': write a name of lower-case",
            ),
            (
                declared("served: ClassVar = ('exported',)"),
                f"{FAMILIES}served of axpy names 'exported': choose among forward",
            ),
            (
                declared("totalled: ClassVar = ('backward',)"),
                f"{FAMILIES}totalled of axpy names 'backward': choose among forward",
            ),
            (
                declared("words: ClassVar = {'kind': ('plain',)}"),
                f"{FAMILIES}words of axpy names 'kind': choose among elements",
            ),
            (
                declared("smallest: ClassVar = {'size': 0}"),
                f"{FAMILIES}smallest of axpy names 'size': choose among elements",
            ),
            (
                replaced(FAMILY / "axpy.py", "return 2 * self.elements, ", "return "),
                f"{FAMILIES}traffic of axpy_n1000 is 1000, no tuple[number, number]",
            ),
            (
                declared("def bytes(self, name): return {}[name]"),
                f"{FAMILIES}bytes of axpy_n1000 raises KeyError: 'float32'",
            ),
            (
                declared("title = property(lambda self: self.name)"),
                f"{FAMILIES}title of axpy_n1000 raises AttributeError: 'Axpy' object has no",
            ),
            (
                written((TOY / "__init__.py", "import sys\nsys.exit('needs a licence')\n")),
                f"{FRAMEWORK}needs a licence",
            ),
            (
                written((TOY / "__init__.py", "POSITION = 'first'\n")),
                f"{FRAMEWORK}POSITION is 'first', no whole number",
            ),
            (
                written((TOY / "__init__.py", "COMPANIONS = 'numpy'\n")),
                f"{FRAMEWORK}COMPANIONS is 'numpy', no tuple of names",
            ),
            (
                written((TOY / "__init__.py", "PRECISIONS = 'int8'\n")),
                f"{FRAMEWORK}PRECISIONS is 'int8', no tuple of names",
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
                written((TOY / "__init__.py", 'TRANSPORTS = {"cpu": ["gloo"]}\n')),
                f"{FRAMEWORK}TRANSPORTS names ['gloo']: choose among gloo, mpi, nccl",
            ),
            (
                written((TOY / "__init__.py", 'TRANSPORTS = {"cpu": "glooo"}\n')),
                f"{FRAMEWORK}TRANSPORTS names 'glooo': choose among gloo, mpi, nccl",
            ),
            (
                written((TOY / "__init__.py", 'TRANSPORTS = {"gpu": "gloo"}\n')),
                f"{FRAMEWORK}TRANSPORTS names the device 'gpu': choose among cpu, cuda",
            ),
            (
                written((TOY / "__init__.py", 'TRANSPORTS = "gloo"\n')),
                f"{FRAMEWORK}TRANSPORTS is 'gloo': write a mapping",
            ),
            (
                written((TOY / "__init__.py", 'VARIABLES = "TOY_"\n')),
                f"{FRAMEWORK}VARIABLES is 'TOY_': write a tuple",
            ),
            (
                written((TOY / "__init__.py", 'VARIABLES = ("",)\n')),
                f"{FRAMEWORK}VARIABLES is ('',): write a tuple",
            ),
            (
                replaced(POINTS, "deepbench_toy_backend", "deepbench_axpy.axpy_operands"),
                f"{FRAMEWORK}deepbench_axpy.axpy_operands is one module: make it a package",
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

    checked, listed, releases = in_one_process(
        installed,
        ("check", "--family", "gemm", "--framework", "numpy", *FLOAT32),
        ("problems", "--family", "rnn", "--format", "csv"),
        ("release", "list", "--framework", "numpy"),
    )

    assert [0, 0, 0] == [done["status"] for done in (checked, listed, releases)]
    assert 125 == len(listed["out"].splitlines())
    assert "numpy-2.4.6" in releases["out"]
    (line,) = checked["err"].splitlines()
    assert line.startswith("deepbench: warning: deepbench-axpy: ")
    assert expected in line


@pytest.mark.parametrize("faulty", ["anterior", "posterior"])
def test_a_faulty_family_leaves_the_others_of_its_package(installed, faulty):
    """Whether it comes before them or after; the line names it alone."""
    (installed / FAMILY / f"{faulty}.py").write_text("import no_such_module\n")
    (installed / FAMILY / f"{faulty}.csv").write_text("elements,training\n1,1\n")

    done = deepbench(installed, "problems", "--family", "axpy", "--format", "csv")

    assert "axpy_n1000" in done.stdout
    (line,) = done.stderr.splitlines()
    expected = f"its family {faulty} {FAMILY_PLACE}No module named 'no_such_module'"
    assert f"deepbench: warning: deepbench-axpy: {expected}" == line


def test_families_that_cannot_be_imported_are_one_line(installed):
    """Where their package itself is at fault."""
    (installed / FAMILY / "__init__.py").write_text("import no_such_module\n")

    done = deepbench(installed, "problems", "--family", "gemm", "--format", "csv")

    line = done.stderr.splitlines()[0]
    assert f"deepbench-axpy: its families {FAMILY_PLACE}No module named 'no_such_module'" in line


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


@pytest.mark.parametrize("text", ["import sys; sys.exit('no licence')", "1 / 0"])
def test_a_kernel_that_ends_the_process_is_one_row(installed, text):
    """`check` goes on to the other kernels."""
    replaced(FAMILY / "axpy_numpy.py", "    drawn =", f"    {text}\n    drawn =")(installed)
    asked = ("--family", "axpy", "--family", "gemm", "--framework", "numpy", "--format", "json")

    done = deepbench(installed, "check", *asked, *FLOAT32)

    assert ["ok", "wrong"] == sorted(row["verdict"] for row in json.loads(done.stdout))


def test_flops_that_cannot_be_computed_of_other_sizes_are_one_line(installed):
    """The problems of its list are fine, one of the user's own sizes is not."""
    counted = "return 2 * self.elements if self.elements > 999 else 1 / 0\n"
    replaced(FAMILY / "axpy.py", "return 2 * self.elements\n", counted)(installed)

    done = deepbench(installed, "time", "axpy", "--elements", "7", "--framework", "numpy")

    assert 2 == done.returncode
    expected = "deepbench-axpy: axpy.py, line 25 raises ZeroDivisionError: division by zero"
    said = [line for line in done.stderr.splitlines() if not line.startswith(OTHER_RUN)]
    assert [f"deepbench: error: {expected}"] == said


@pytest.mark.slow
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


@pytest.mark.parametrize("whole", [True, False])
def test_releases_of_its_framework_are_listed(installed, whole):
    """Also those of a package without an __init__.py."""
    if not whole:
        (installed / TOY / "__init__.py").unlink()

    done = deepbench(installed, "release", "list", "--framework", "toy")

    assert "toy-1.0.0" in done.stdout
    assert (0, "") == (done.returncode, done.stderr)


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
from deepbench_ops.machine import nominal_measurement, profile_measurement
from deepbench_ops.measure import blas_cost
nominal_measurement.NOMINAL_SECONDS = profile_measurement.TRIAD_SECONDS = 0.2
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

    packed = project_and_plugin_wheels.wheel(distribution, tmp_path)

    into = tmp_path / "into"
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(into)
    again = named(into)
    assert {p.value for p in distribution.entry_points} == {p.value for p in again.entry_points}
    for module in (*installed.glob("deepbench_*/*.py"), *installed.glob("deepbench_*/*.csv")):
        assert module.read_text() == (into / module.relative_to(installed)).read_text()


def test_its_wheel_keeps_the_folder_that_its_name_is_spelt_in(installed, tmp_path):
    """Installers write Acme.Toy into acme_toy, and pip refuses a wheel with folders of both."""
    info = installed / "acme_axpy-1.0.dist-info"
    (installed / "deepbench_axpy-1.0.dist-info").rename(info)
    metadata_file = info / "METADATA"
    metadata_file.write_text(metadata_file.read_text().replace("deepbench-axpy", "Acme.Axpy"))
    plugin_site.record(installed, info)
    distribution = metadata.PathDistribution(info)

    packed = project_and_plugin_wheels.wheel(distribution, tmp_path)

    into = tmp_path / "into"
    pip = (sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(into))
    done = subprocess.run([*pip, str(packed)], capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
    assert [info.name] == [path.name for path in into.glob("*.dist-info")]


def test_compiled_modules_are_not_taken_to_another_environment(installed, tmp_path):
    (installed / "deepbench_axpy" / "fast.so").write_bytes(b"")
    record = installed / "deepbench_axpy-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text() + "\ndeepbench_axpy/fast.so,,")
    distribution = named(installed)

    with pytest.raises(DeepbenchError, match=r"holds deepbench_axpy/fast\.so"):
        project_and_plugin_wheels.wheel(distribution, tmp_path)


def test_the_recipes_name_files_that_are_there():
    """Every file of the two packages that the recipes name is in tests/plugin."""
    recipes = "".join(page.read_text(encoding="utf-8") for page in RECIPES)

    named = set(re.findall(r"`(deepbench_(?:axpy|toy_backend)/\w+\.\w+)`", recipes))
    there = {
        path.relative_to(plugin_site.PLUGIN).as_posix()
        for path in plugin_site.PLUGIN.glob("deepbench_*/*.*")
        if path.parent.suffix != ".dist-info" and not path.name.endswith(".pyc")
    }
    assert there == named


def test_a_family_costs_five_files_at_most():
    """Two frameworks included; the package needs no `__init__.py`."""
    files = [path for path in (PLUGIN / "deepbench_axpy").rglob("*.*") if path.suffix != ".pyc"]

    assert len(files) <= 5


def test_the_recipes_entry_points_are_those_of_the_plugin():
    """The blocks of the recipes have the declarations of the installed distribution."""
    recipes = "".join(page.read_text(encoding="utf-8") for page in RECIPES)

    group = r'entry-points\."(deepbench\.\w+)"\]\s+(\w+) = "(\w+)"'
    points = (PLUGIN / "deepbench_axpy-1.0.dist-info" / "entry_points.txt").read_text()
    declared = re.findall(r"\[(deepbench\.\w+)\]\s+(\w+) = (\w+)", points)
    assert declared == re.findall(group, recipes)
