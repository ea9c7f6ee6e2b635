"""Results of a family, a framework and a device of another distribution, in every command.

The commands run in a project folder that knows nothing of them. `test_plugin_measured.py` measures.
"""

import csv
import json
import os
import shutil
import sys
from pathlib import Path

import openpyxl
import plugin_site
import processes
import published_site
import pytest
import toy_results

ROOT = Path(__file__).resolve().parents[1]
SLOWER = 3
"""Exit status of a verdict by which something may have become slower, not confirmed."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project folder with results of one machine, and the plugin as installed."""
    root = tmp_path_factory.mktemp("toy-project")
    toy_results.write(root)
    plugin_site.install(root / "site")
    text = (ROOT / "asv.conf.json").read_text(encoding="utf-8")
    text = text.replace("deepbench_ops/releases/releases.csv", "releases.csv")
    (root / "asv.conf.json").write_text(text, encoding="utf-8")
    (root / "benchmarks").mkdir()
    return root


def run(root, *command, status=0):
    """The output of a command of Python in the project folder, which must end with a status."""
    paths = os.pathsep.join([str(root / "site"), str(ROOT)])
    environ = {**os.environ, "PYTHONPATH": paths, "HOME": str(root)}
    done = processes.run([sys.executable, *command], root, environ)
    assert "Traceback" not in done.stdout, done.stdout
    assert status == done.returncode, done.stdout
    return done.stdout


def deepbench(root, *arguments, status=0):
    """The output of a subcommand."""
    return run(root, "-m", "deepbench_ops.cli", *arguments, status=status)


def times(path):
    """The seconds of a table by release, problem and device."""
    with path.open() as lines:
        return {
            (row["release"], row["problem"], row["device"]): row["seconds"]
            for row in csv.DictReader(lines)
        }


@pytest.fixture(scope="module")
def exported(project):
    """The times of all results, as a table."""
    deepbench(project, "export", "all.csv", "--machine", "here")
    return times(project / "all.csv")


def test_a_table_has_every_time(exported):
    """Two kernels of six releases on two devices, and of numpy on one."""
    expected = {
        (version, problem, device)
        for problem in toy_results.PROBLEMS
        for device in toy_results.DEVICES
        for version, _ in toy_results.TOY
    } | {(toy_results.NUMPY[0], problem, "cpu") for problem in toy_results.PROBLEMS}
    assert expected == set(exported)


def test_a_table_is_read_back(project, exported):
    """Imported elsewhere and exported again, it has the same times."""
    deepbench(project, "import", "all.csv", "--results", "from_csv")
    deepbench(project, "export", "again.csv", "--machine", "here", "--results", "from_csv")

    assert exported == times(project / "again.csv")


def test_a_workbook_has_a_sheet_for_its_family(project, exported):
    """The headers are the names of its sizes; the workbook is read back to the same times."""
    asked = ("--machine", "here", "--release", "toy-6.0.0", "--device", "cpu")
    deepbench(project, "export", "toy.xlsx", *asked)

    rows = list(openpyxl.load_workbook(project / "toy.xlsx")["Results - float32"].values)
    assert ["Axpy", None, None] == list(rows[2][:3])
    assert [None, "Elements", "Forward Time (msec)"] == list(rows[3][:3])
    deepbench(project, "import", "toy.xlsx", "--results", "from_xlsx")
    deepbench(project, "export", "sheet.csv", "--machine", "here", "--results", "from_xlsx")
    read = times(project / "sheet.csv")
    assert {key: exported[key] for key in exported if key[0] == "6.0.0" and key[2] == "cpu"} == read


def test_a_submission_is_read_back(project, exported):
    """The same times, and the same verdict from the raw seconds in it."""
    deepbench(project, "submit", "ours.json", "--machine", "here")
    deepbench(project, "import", "ours.json", "--results", "from_submission")

    results = ("--machine", "here", "--results", "from_submission")
    deepbench(project, "export", "sent.csv", *results)
    assert exported == times(project / "sent.csv")
    here = deepbench(project, "verdict", "--machine", "here", status=SLOWER)
    assert here == deepbench(project, "verdict", *results, status=SLOWER)


def test_compare_finds_its_ratio(project):
    """Release 4.0.0 takes a quarter longer than 1.0.0, on either device."""
    for device in toy_results.DEVICES:
        sides = ("here@toy-1.0.0", "here@toy-4.0.0", "--device", device)
        said = deepbench(project, "compare", *sides, "--format", "json")

        (row,) = json.loads(said)[0]["groups"]
        assert "axpy" == row["family"]
        assert pytest.approx(1.25, rel=0.01) == row["ratio"]


def test_frameworks_are_compared_on_its_kernels(project):
    """Toy takes 1.25 units where numpy takes 2."""
    said = deepbench(project, "frameworks", "--machine", "here")

    (line,) = [line for line in said.splitlines() if line.startswith("axpy forward")]
    assert line.split()[-1] == "*"
    header = next(line for line in said.splitlines() if line.startswith("operation"))
    assert header.index("numpy") < header.index("toy")


def test_the_verdict_names_its_release(project):
    """All four of its lines became slower with 4.0.0; two of a device are too few for one cause."""
    said = deepbench(project, "verdict", "--machine", "here", status=SLOWER)

    lines = [line for line in said.splitlines() if line.startswith("toy-4.0.0")]
    assert 4 == len(lines)
    assert all("toy-3.0.0" in line and "slower" in line for line in lines)
    assert 2 == sum("float32, toy0" in line for line in lines)


def test_the_fastest_machine_for_its_kernel(project):
    """The rate is that of its own count of operations."""
    said = deepbench(project, "fastest", "--family", "axpy", "--format", "json")

    assert "axpy_n1000" in said
    assert "toy-6.0.0" in said


@pytest.fixture(scope="module")
def html(project):
    """The published pages."""
    run(project, "-m", "asv", "publish")
    return project / "html"


def test_the_pages_hold_family_framework_and_device(html):
    """Its kernels are in a file of lines, its releases in the catalogue, its device on an axis."""
    catalogue = json.loads(published_site.unpacked((html / "data/catalogue.js").read_text()))
    (machine,) = catalogue["machines"]
    assert {"axpy": 6} == machine["families"]
    assert ["toy", "numpy"] == machine["frameworks"]
    assert "axpy" in catalogue["families"] and "toy" in catalogue["frameworks"]  # have colours
    index = json.loads((html / "index.json").read_text())
    assert ["cpu", "toy0"] == sorted(index["params"]["env-DEEPBENCH_DEVICE"])
    assert {"toy", "numpy"} == set(index["params"]["branch"])
    assert "seconds" == index["benchmarks"][toy_results.BENCHMARK]["unit"]


def families_and_kernels(root):
    """The number of lines of each family on the published pages, and the kernels of toy."""
    run(root, "-m", "asv", "publish")
    catalogue = (root / "html/data/catalogue.js").read_text()
    (machine,) = json.loads(published_site.unpacked(catalogue))["machines"]
    key = machine["key"]
    files = sorted((root / "html/data/kernels" / key).glob("toy*"))
    return machine["families"], [published_site.unpacked(each.read_text()) for each in files]


def test_pages_follow_a_plugin_that_is_installed_or_changed(project, tmp_path):
    """Pages are published from caches while nothing has changed."""
    root = tmp_path / "project"
    shutil.copytree(project, root, ignore=shutil.ignore_patterns("html", ".asv", "site"))
    assert {} == families_and_kernels(root)[0]
    site = plugin_site.install(root / "site")
    points = site / "deepbench_axpy-1.0.dist-info" / "entry_points.txt"
    both = points.read_text()
    points.write_text(both.partition("[deepbench.frameworks]")[0])
    assert {"axpy": 2} == families_and_kernels(root)[0]  # those of numpy
    points.write_text(both)
    families, kernels = families_and_kernels(root)
    assert {"axpy": 6} == families
    assert kernels
    assert kernels == families_and_kernels(root)[1]
    module = site / "deepbench_axpy" / "axpy.py"
    text = module.read_text()
    former, changed = (f"return {count} * self.elements\n" for count in (2, 4))
    assert 1 == text.count(former)
    module.write_text(text.replace(former, changed))
    assert kernels != families_and_kernels(root)[1]


@pytest.mark.browser
def test_a_reader_sees_its_kernels(html, browser):
    """The page of the machine has a table of the family with problems, releases and device."""
    page = browser.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{html.as_uri()}/machine.html?machine=here")
    page.wait_for_selector("#kernels table")
    shown = page.inner_text("main")
    page.goto(f"{html.as_uri()}/timeline.html?machine=here&family=axpy")
    page.wait_for_selector("#chart .axes")
    drawn = page.inner_text("main")
    page.close()

    for text in ("axpy_n1000000", "toy-6.0.0", "toy0"):
        assert text in shown
    assert "toy" in drawn
    assert [] == problems
