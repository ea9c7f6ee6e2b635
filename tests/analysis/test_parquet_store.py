"""The store gives the points that results/ holds, and is made again where these have changed."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import plugin_site
import pytest
from command import deepbench
from pyarrow import parquet

from deepbench_ops import damage_reports, work_on_cores
from deepbench_ops.analysis import (
    machine_points,
    parquet_store,
    point_reading,
    software_versions,
)
from deepbench_ops.analysis.parquet_store import DAMAGED, FRESH, OUTDATED, TABLES, UNUSED, Store
from deepbench_ops.asv_adapter import result_files
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.pages import machine_lines
from deepbench_ops.releases import table_location
from deepbench_ops.storage import json_cache

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINES = ("xeon-amx480-2core", "nvidia-m40", "apple-iphone-7")
"""One that was measured, with samples, and two published ones."""


@pytest.fixture
def store(tmp_path):
    """A store of some machines, built."""
    results = tmp_path / "results"
    for machine in MACHINES:
        shutil.copytree(RESULTS / machine, results / machine)
    made = Store.next_to(results)
    assert list(MACHINES) == sorted((part.machine for part in made.build()), key=MACHINES.index)
    return made


def releases(store):
    """The release table by hash."""
    return {each.hash: each for each in table_location.load(store.results)}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("rounds", "samples"), [(False, False), (True, True)])
def test_the_store_equals_the_results(store, machine, rounds, samples):
    """Points from Parquet are those from JSON, with and without their rounds and samples."""
    known = releases(store)
    expected = point_reading.load(store.results, machine, known, rounds, samples=samples)
    assert expected == store.load(machine, known, rounds, samples)
    assert expected == machine_points.load(store.results, machine, known, rounds, samples)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_libraries_of_the_store_are_those_of_the_results(store, machine):
    """Of measured releases and of published figures."""
    found = software_versions.stacks(store.results, machine, table_location.load(store.results))
    known = {point.release for point in point_reading.load(store.results, machine, releases(store))}
    rows = parquet.read_table(store.folder / "libraries" / f"{machine}.parquet").to_pylist()
    expected = [
        (machine, stack.release.framework, stack.release.version, name, value)
        for stack in found
        for name, value in stack.facts.items()
        if stack.release in known
    ]
    assert sorted(expected) == sorted(tuple(row.values()) for row in rows) != []


def test_processes_make_the_files_that_one_process_makes(store, monkeypatch, capsys):
    """A damaged result is reported once, here, and counts for the command's status."""
    path = result_files.paths(store.results / "nvidia-m40")[0]
    path.write_text("{")
    alone = list(store.build(again=True))
    files = {path: path.read_bytes() for path in written(store)}
    said = capsys.readouterr().err
    damage_reports.forget()
    monkeypatch.setattr(parquet_store, "LEAST_BYTES", 0)
    monkeypatch.setattr(work_on_cores, "cores", lambda: 2)
    assert alone == list(store.build(again=True))
    assert files == {path: path.read_bytes() for path in written(store)}
    assert said == capsys.readouterr().err
    assert 1 == len(damage_reports.lines)
    assert 1 == said.count(path.name)


def test_only_changed_machines_are_made_again(store):
    """A second build writes nothing, and one after a change the files of the changed machine."""
    before = written(store)
    assert [] == [part.machine for part in store.build() if part.made]
    assert before == written(store)
    slower(store.results / "nvidia-m40")
    assert ["nvidia-m40"] == store.outdated()
    assert ["nvidia-m40"] == [part.machine for part in store.build() if part.made]
    assert [] == store.outdated()
    after = written(store)
    changed = {path.stem for path in before if before[path] != after[path]}
    assert ({"nvidia-m40"}, before.keys()) == (changed, after.keys())


def test_outdated_files_are_not_read(store):
    """Where the results have changed since, these are read."""
    known = releases(store)
    before = machine_points.load(store.results, "nvidia-m40", known)
    slower(store.results / "nvidia-m40")
    with pytest.raises(DeepbenchError, match="store is out of date"):
        store.load("nvidia-m40", known)
    after = machine_points.load(store.results, "nvidia-m40", known)
    assert before != after
    assert point_reading.load(store.results, "nvidia-m40", known) == after


def test_an_unfinished_file_leaves_a_store_up_to_date(store):
    """A command that saves results has it for a moment, and a killed one leaves it."""
    (store.results / "nvidia-m40" / ".a.json.1-0.unfinished").write_text("{")
    assert [] == store.outdated()


def test_a_release_makes_machines_with_results_of_it_outdated_and_no_others(store):
    """The day of a release decides the order of points; a release that is added changes none."""
    known = releases(store)
    measured = [
        {point.release for point in point_reading.load(store.results, machine, known)}
        for machine in MACHINES
    ]
    own = max(measured[1] - measured[0] - measured[2], key=lambda release: release.date)
    table = store.results / "releases.csv"
    header = "framework,version,date,pins,on_request,index\n"
    table.write_text(f"{header}numpy,9.9.9,2031-01-01,,no,\n")
    assert [] == store.outdated() == [part.machine for part in store.build() if part.made]
    table.write_text(f"{header}{own.framework},{own.version},2031-01-01,,no,\n")
    assert [MACHINES[1]] == store.outdated()
    assert [MACHINES[1]] == [part.machine for part in store.build() if part.made]


OTHER_PROGRAM = """
import sys
from importlib import metadata
sys.version = "3.99.0 (main, Jan  1 2030, 00:00:00) [Another 1.0]"
known = metadata.version
metadata.version = lambda name: "99.0" if name in ("numpy", "scipy") else known(name)
"""
STATES = """
import sys
from pathlib import Path
from deepbench_ops.analysis.parquet_store import Store
print(*sorted(set(Store.next_to(Path(sys.argv[1])).states().values())))
"""
BUILD = """
import sys
from pathlib import Path
from deepbench_ops.analysis.parquet_store import Store
list(Store.next_to(Path(sys.argv[1])).build(again=True))
print(*{name.split(".")[1] for name in sys.modules if name.startswith("deepbench_ops.")})
"""


def test_another_python_or_numpy_leaves_a_store_up_to_date(store):
    """Rows are the same under each, so users of several may share a store."""
    assert [FRESH] == in_a_process(OTHER_PROGRAM + STATES, store).splitlines()


def test_folders_that_make_no_row_are_not_loaded(store):
    """A change of the code in them leaves a store up to date."""
    loaded = set(in_a_process(BUILD, store).split())
    assert "analysis" in loaded
    assert set() == loaded & set(UNUSED)


def test_a_family_of_another_distribution_makes_a_store_outdated(store, tmp_path):
    """Times of it may be in the results, and were left out."""
    site = plugin_site.install(tmp_path / "site")
    path = os.pathsep.join([str(site), *sys.path])
    assert [OUTDATED] == in_a_process(STATES, store, PYTHONPATH=path).splitlines()


@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_file_is_made_again(store, table):
    """Until then the results are read."""
    path = store.folder / table / "nvidia-m40.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    known = releases(store)
    assert ["nvidia-m40"] == store.outdated()
    assert machine_points.load(store.results, "nvidia-m40", known)
    assert ["nvidia-m40"] == [part.machine for part in store.build() if part.made]


def test_a_store_with_the_tables_of_an_earlier_version_is_out_of_date(store):
    """It is no damage: a query reads its other tables, and a build makes all of them."""
    for machine in MACHINES:
        about = store.folder / "checksums" / machine
        digest, checksums, days = json_cache.read(about)
        for table in ("rounds", "machines"):
            del checksums[table]
            (store.folder / table / f"{machine}.parquet").unlink()
        json_cache.write(about, [digest, checksums, days])
    assert dict.fromkeys(MACHINES, OUTDATED) == store.states()
    asked = ("query", "--format", "json", "--results", str(store.results))
    status, out, err = deepbench(*asked, "SELECT count(*) AS n FROM rounds")
    assert (1, [{"n": 0}], 1) == (status, json.loads(out), err.count("\n"))
    assert "the store is out of date for" in err
    assert list(MACHINES) == sorted(
        (part.machine for part in store.build() if part.made), key=MACHINES.index
    )
    status, out, err = deepbench(*asked, "SELECT count(DISTINCT machine) AS n FROM machines")
    assert (0, [{"n": len(MACHINES)}], "") == (status, json.loads(out), err)


@pytest.mark.parametrize("table", [*TABLES, "checksums"])
def test_one_flipped_bit_is_noticed(store, table):
    """Wherever it is: the points are those of the results, and the machine is made again."""
    (path,) = (store.folder / table).glob("nvidia-m40*")
    known, whole = releases(store), path.read_bytes()
    expected = point_reading.load(store.results, "nvidia-m40", known, rounds=True, samples=True)
    draw = random.Random(table)
    for _ in range(20):
        flipped = bytearray(whole)
        flipped[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        assert {**dict.fromkeys(MACHINES, FRESH), "nvidia-m40": DAMAGED} == store.states()
        assert expected == machine_points.load(store.results, "nvidia-m40", known, True, True)
    assert ["nvidia-m40"] == [part.machine for part in store.build() if part.made]
    assert dict.fromkeys(MACHINES, FRESH) == store.states()


def test_a_machine_without_results_leaves_the_store(store):
    """All of its files go."""
    shutil.rmtree(store.results / "nvidia-m40")
    list(store.build())
    assert [] == list(store.folder.rglob("nvidia-m40*"))


def test_what_is_left_out_of_the_results_is_said_from_the_store_too(store, capsys):
    """An answer from Parquet names damaged files as one from JSON does."""
    machine = "apple-iphone-7"
    (store.results / machine / "torn-release-py3.json").write_text('{"results": ')
    damage_reports.forget()
    list(store.build())
    expected = [line for line in damage_reports.lines if "torn-release" in line]
    damage_reports.forget()
    capsys.readouterr()
    assert store.load(machine, releases(store))
    assert expected == [line for line in damage_reports.lines if "torn-release" in line]
    assert 1 == len(expected)
    damage_reports.forget()


def test_rows_of_a_kernel_lie_together(store):
    """Files are sorted, so that a reader of one kernel skips the other groups of rows."""
    rows = parquet.read_table(store.folder / "times" / "nvidia-m40.parquet")
    keys = list(zip(*(rows[name].to_pylist() for name in ("family", "problem")), strict=True))
    assert sorted(keys) == keys


def test_a_store_that_is_out_of_date_is_named_in_one_line(store):
    """However many machines changed; the answer and the exit status are those of the results."""
    for machine in MACHINES:
        slower(store.results / machine)
    question = ("fastest", "--results", str(store.results))
    status, out, err = deepbench(*question)
    line = f"{store.folder} is out of date, and {store.results} is read instead"
    assert 1 == err.count(line) == err.count("deepbench store build")
    shutil.rmtree(store.folder)
    assert (status, out) == deepbench(*question)[:2]


def test_a_damaged_machine_is_named_and_others_are_read(store):
    """The answer is that of the results; a question about another machine does not meet it."""
    path = store.folder / "times" / "nvidia-m40.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    options = ("--format", "csv", "--results", str(store.results))
    status, out, err = deepbench("export", "--machine", "nvidia-m40", *options)
    assert f"{store.folder}: the files of nvidia-m40 are damaged" in err
    assert 1 == err.count("\n")
    assert (0, "") == deepbench("export", "--machine", "apple-iphone-7", *options)[::2]
    shutil.rmtree(store.folder)
    assert (status, out) == deepbench("export", "--machine", "nvidia-m40", *options)[:2]


def test_a_store_without_its_reader_is_named(store):
    """Where DuckDB is missing, the results answer, and a line names the extra that installs it."""
    hidden = "import sys; sys.modules['duckdb'] = None; from deepbench_ops.cli import main; main()"
    question = ("export", "--machine", "apple-iphone-7", "--format", "csv")
    question += ("--results", str(store.results))
    done = subprocess.run(
        [sys.executable, "-c", hidden, *question], capture_output=True, text=True, check=True
    )
    assert "cannot be read without duckdb" in done.stderr
    assert 1 == done.stderr.count("\n")
    assert deepbench(*question)[1] == done.stdout


@pytest.mark.parametrize(
    ("command", "expected"), [("overhead", 3), ("table mindspore", 0), ("table paper", 0)]
)
def test_times_of_models_are_read_from_the_store(tmp_path, command, expected):
    """Commands on whole models print the same, with no look at the results; the sums of operations
    of today's version are not measured there yet."""
    machine = "epyc-7003-2core"
    results = tmp_path / "results"
    shutil.copytree(RESULTS / machine, results / machine)
    question = (*command.split(), "--machine", machine, "--results", str(results))
    status, out, err = deepbench(*question)
    assert expected == status
    list(Store.next_to(results).build())
    with patch.object(point_reading, "of_each_result", side_effect=AssertionError("read")):
        assert (status, out, err) == deepbench(*question)


@pytest.mark.slow
def test_pages_read_the_store(store):
    """Lines, machines and messages are those of the results, also about times that are left out."""
    path = next((store.results / "apple-iphone-7").glob("*published*.json"))
    result = json.loads(path.read_text())
    next(iter(result["results"].values()))[1][0][0] = "'odd'"
    path.write_text(json.dumps(result))
    timeline = table_location.load(store.results)
    expected = machine_lines.read(store.results, timeline)
    assert any(machine_lines.LEFT_OUT in problem for problem in expected[2])
    list(store.build())
    with patch.object(point_reading, "of_each_result", side_effect=AssertionError("read")):
        assert expected == machine_lines.read(store.results, timeline)


def in_a_process(program: str, store: Store, **variables: str) -> str:
    """Output of a program of its own that gets the path of a store's results."""
    command = [sys.executable, "-c", program, str(store.results)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    return subprocess.run(
        command, env=environ, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def written(store):
    """When each file of a store was written."""
    return {path: path.stat().st_mtime_ns for path in store.folder.rglob("*") if path.is_file()}


def slower(folder: Path) -> None:
    """Double the first time of a machine's first result."""
    path = next(path for path in sorted(folder.glob("*.json")) if path.name != "machine.json")
    result = json.loads(path.read_text())
    name = next(iter(result["results"]))
    times = result["results"][name][0]
    place = next(i for i, value in enumerate(times) if value)
    times[place] *= 2
    path.write_text(json.dumps(result))
