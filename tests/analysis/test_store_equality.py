"""The store gives the points of whole results folders, whatever these hold."""

import json
import math
import re
import zipfile
from ast import literal_eval
from datetime import date
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest
from command import deepbench
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import deepbench_ops
from deepbench_ops.analysis import (
    asv_table_remarks,
    machine_points,
    point_filter,
    point_reading,
    software_versions,
)
from deepbench_ops.analysis.parquet_store import Store
from deepbench_ops.asv_adapter import asv_api
from deepbench_ops.exchange.submissions import shown_version
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure.fingerprint import SETTINGS
from deepbench_ops.problems import load
from deepbench_ops.releases import table_location
from deepbench_ops.releases.release_table import COLUMNS, Release
from deepbench_ops.run_conditions import CONDITIONS
from deepbench_ops.storage import conflict_files, facts_digest, measurement_files
from deepbench_ops.storage.conflict_files import PointVersion

pytestmark = pytest.mark.slow

PACKAGE = Path(deepbench_ops.__file__).parent
PROBLEMS = [repr(problem.id) for problem in load("gemm", "training")[:3]]
PRECISIONS = ["'float32'", "'int8'"]
BENCHMARKS = ("gemm.Training.kernel_forward", "gemm.InferenceServer.kernel_forward")
LISTED = [Release("numpy", f"2.{n}.0", date(2025, 1 + n, 1)) for n in range(3)]
LATER = [Release("numpy", f"2.{n}.0", date(2025, 1 + n, 1)) for n in range(3, 11)]
HISTORY = [*LISTED, *LATER, Release("torch", "2.7.0", date(2025, 4, 23))]
UNLISTED = Release("numpy", "9.9.9", date(2026, 1, 1))

RESULT_COLUMNS = ["result", "params", "version", "stats_ci_99_a", "stats_ci_99_b", "samples"]

SECONDS = st.floats(1e-6, 10)
CELLS = st.one_of(st.none(), st.just(math.nan), st.lists(SECONDS, min_size=1, max_size=12))
"""A failed point, a skipped one, or samples."""

FACTS = st.sampled_from([{}, {SETTINGS: ""}, {SETTINGS: "OPENBLAS_CORETYPE=Haswell"}])
NOTES = st.dictionaries(st.sampled_from(["route", "layout"]), st.text("abc é", max_size=5))

ENSEMBLES = st.none() | st.fixed_dictionaries(
    {
        "file": st.just("numpy"),
        "anchor": st.just("numpy-2.0.0"),
        "rounds": st.integers(1, 30),
        "ratio": SECONDS,
        "low": SECONDS,
        "high": SECONDS,
        "seconds": SECONDS,
        "interval": st.lists(SECONDS, min_size=2, max_size=2).map(sorted),
        "states": st.sampled_from([[], ["near"], ["near", "far"]]),
    }
)


@st.composite
def records(draw, key):
    """The record of a process that measured a point: calibrated or not, steady or not."""
    seconds = draw(st.lists(SECONDS, min_size=1, max_size=3))
    calibrated = draw(st.booleans())
    origin = draw(ENSEMBLES)
    facts = draw(FACTS)
    fields = {
        "benchmark": key[0],
        "params": [text.strip("'") for text in key[1]],
        "release": "numpy-2.0.0",
        "started_at": draw(st.floats(0, 1e9)),
        "number": 1,
        "seconds": seconds,
        "yardstick": [draw(st.sampled_from([1e-3, 3e-3])) for _ in seconds] if calibrated else [],
        "fingerprint": facts_digest.digest(facts),
        "notes": draw(NOTES),
        "core_latencies": draw(st.sampled_from([[], [210.0, 220.0], [480.0]])),
        **({"nominal": 1e-3} if calibrated else {}),
        **({"ensemble": origin} if origin else {}),
    }
    return facts, fields


@st.composite
def results(draw):
    """Result files of a machine: release, conditions, columns of cells, and their records."""
    found = []
    places = st.tuples(
        st.sampled_from([*LISTED, UNLISTED]),
        *(st.sampled_from(condition.values) for condition in CONDITIONS),
    )
    for release, *conditions in draw(st.lists(places, min_size=1, max_size=3, unique=True)):
        columns = {
            name: [draw(CELLS) for _ in PROBLEMS for _ in PRECISIONS]
            for name in draw(st.lists(st.sampled_from(BENCHMARKS), unique=True, min_size=1))
        }
        keys = [
            (name, (problem, precision))
            for name in columns
            for problem in PROBLEMS
            for precision in PRECISIONS
        ]
        chosen = draw(st.lists(st.sampled_from(keys), max_size=4))
        conflicts = draw(st.lists(st.sampled_from(keys), max_size=1))
        own = [draw(records(key)) for key in chosen]
        found.append((release, conditions, columns, own, conflicts))
    return found


def cell(value):
    """Value, bounds and samples of a cell in asv's columns."""
    if not isinstance(value, list):
        return value, None, None, None
    low, high = (min(value), max(value)) if len(value) > 1 else (-math.inf, math.inf)
    return sorted(value)[len(value) // 2], low, high, value


def write(folder, found, listed=LISTED):
    """Write a project with the result files of one machine, and this release table."""
    machine = folder / "results" / "box"
    machine.mkdir(parents=True)
    rows = [f"{each.framework},{each.version},{each.date},,no," for each in listed]
    (folder / "releases.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    project = {"version": 1, "dvcs": "releases", "repo": "releases.csv", "results_dir": "results"}
    (folder / "asv.conf.json").write_text(json.dumps(project))
    entry = {"machine": "box", "arch": "x86_64", "cpu": "a", "os": "Linux", "num_cpu": "2"}
    entry |= {"ram": "32 GiB", "accelerator": "none"}
    (machine / "machine.json").write_text(json.dumps({**entry, "version": 1}))
    peaks = {"cpu": {"float32": Figure(1e11, "FLOP/s", "data sheet: x")}}
    machine_profile.write(folder / "results", Profile("box", "2026-01-01", {}, peaks=peaks))
    for number, (release, conditions, columns, own, conflicts) in enumerate(found):
        environment = f"release-py3-{number}"
        path = folder / "results" / asv_api.result_name("box", release.hash, environment)
        variables = {c.variable: v for c, v in zip(CONDITIONS, conditions, strict=True)}
        stored = {
            "commit_hash": release.hash,
            "env_name": environment,
            "date": release.milliseconds,
            "params": {**entry, "python": "3"},
            "python": "3",
            "requirements": {},
            "env_vars": variables,
            "result_columns": [
                "result",
                "params",
                "version",
                "stats_ci_99_a",
                "stats_ci_99_b",
                "samples",
            ],
            "results": {
                name: [values, [PROBLEMS, PRECISIONS], "1", lows, highs, samples]
                for name, cells in columns.items()
                for values, lows, highs, samples in [map(list, zip(*map(cell, cells), strict=True))]
            },
            "durations": {},
            "version": 2,
        }
        path.write_text(json.dumps(stored))
        if own:
            facts = {facts_digest.digest(each): each for each, _ in own}
            each_once = {json.dumps(record): record for _, record in own}
            measurement_files.write(
                measurement_files.file_of(path), facts, list(each_once.values())
            )
        versions = {}
        for name, params in conflicts:
            for seconds in (0.5, 0.7):
                point = {"benchmark": name, "params": list(params), "seconds": seconds}
                version = PointVersion(point)
                versions.setdefault(version.key, []).append(version)
        if versions:
            kept = {key: shown_version.POINTS.merged(several) for key, several in versions.items()}
            conflict_files.write(conflict_files.file_of(path), {}, kept)


@settings(max_examples=60, deadline=None)
@given(results())
def test_reading_the_store_equals_reading_the_results(tmp_path_factory, found):
    """Of results with any conditions, intervals, settings, states and conflicts."""
    folder = tmp_path_factory.mktemp("project")
    write(folder, found)
    store = Store.next_to(folder / "results")
    whole = {each.hash: each for each in table_location.load(store.results)}
    part = {LISTED[0].hash: LISTED[0]}
    list(store.build())
    for known, rounds, samples in ((whole, False, False), (whole, True, True), (part, True, False)):
        expected = point_reading.load(store.results, "box", known, rounds, samples=samples)
        assert expected == store.load("box", known, rounds, samples)
        assert expected == machine_points.load(store.results, "box", known, rounds, samples)


@settings(max_examples=30, deadline=None)
@given(results())
def test_libraries_of_the_store_are_those_of_the_results(tmp_path_factory, found):
    """All facts of each release of the table that has times, and of no other."""
    folder = tmp_path_factory.mktemp("project")
    write(folder, found)
    store = Store.next_to(folder / "results")
    list(store.build())
    known = {each.hash: each for each in table_location.load(store.results)}
    timed = {point.release for point in point_reading.load(store.results, "box", known)}
    expected = {
        (stack.release.framework, stack.release.version, *fact)
        for stack in software_versions.stacks(store.results, "box", list(known.values()))
        for fact in stack.facts.items()
        if stack.release in timed
    }
    rows = parquet.read_table(store.folder / "libraries" / "box.parquet").to_pylist()
    assert {("box", *each) for each in expected} == {tuple(row.values()) for row in rows}
    assert len(expected) == len(rows)


OF_RELEASES = ("list", "date", "unlist")
CHANGES = ("add", "change", "remove", *OF_RELEASES)


@settings(max_examples=40, deadline=None)
@given(results(), st.lists(st.sampled_from(CHANGES), min_size=1, max_size=5), st.randoms())
def test_a_build_after_changes_equals_reading_the_results(tmp_path_factory, found, kinds, draw):
    """Of points that come, change and go, and of releases; only a release of a point makes it
    again."""
    folder = tmp_path_factory.mktemp("project")
    write(folder, found)
    store = Store.next_to(folder / "results")
    list(store.build())

    def stored_points():
        known = {each.hash: each for each in table_location.load(store.results)}
        return known, point_reading.load(store.results, "box", known, rounds=True, samples=True)

    _, before = stored_points()
    for kind in kinds:
        change(folder, kind, draw)
        (part,) = store.build()
        known, after = stored_points()
        assert after == store.load("box", known, rounds=True, samples=True)
        if kind in OF_RELEASES:
            assert part.made == (before != after)
        before = after


def change(folder: Path, kind: str, draw: Random) -> None:
    """Add, change or remove a point of a project's machine, or list, date or unlist a release."""
    if kind in OF_RELEASES:
        table = folder / "releases.csv"
        rows = dict(row.split(",", 2)[1:] for row in table.read_text().splitlines()[1:])
        day = f"2025-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
        new = draw.choice([UNLISTED, draw.choice(LATER)]).version
        version = new if kind == "list" else draw.choice(list(rows))
        rows[version] = f"{day},,no,"
        if kind == "unlist" and len(rows) > 1:
            del rows[version]
        lines = [f"numpy,{version},{rest}" for version, rest in rows.items()]
        table.write_text("\n".join([",".join(COLUMNS), *lines]) + "\n")
        return
    path = draw.choice(sorted(folder.glob("results/box/*-release-*.json")))
    result = json.loads(path.read_text())
    places = [
        (columns, place)
        for columns in result["results"].values()
        for place, value in enumerate(columns[0])
        if (value is None or math.isnan(value)) == (kind == "add")
    ]
    if places:
        columns, place = draw.choice(places)
        new = cell(None if kind == "remove" else [draw.uniform(1e-3, 1)])
        for column, value in zip((0, 3, 4, 5), new, strict=True):
            columns[column][place] = value
        path.write_text(json.dumps(result))


CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "commit": st.lists(st.sampled_from([each.hash for each in LISTED]), max_size=2),
        "family": st.sampled_from([["gemm"], ["conv"], ["gemm", "it's"]]),
        "set": st.sampled_from([["training"], ["inference_server"]]),
        "problem": st.lists(st.sampled_from(PROBLEMS).map(literal_eval), max_size=2),
        "precision": st.sampled_from([["float32"], ["int8", "float32"]]),
        "device": st.sampled_from([["cpu"], ["cuda"]]),
    },
)


@settings(max_examples=20, deadline=None)
@given(results(), st.lists(CHOICES, min_size=5, max_size=5))
def test_the_store_chooses_as_a_reader_of_the_results_does(tmp_path_factory, found, choices):
    """By release, family, set, problem, precision and device, with the samples of these points."""
    folder = tmp_path_factory.mktemp("project")
    write(folder, found)
    store = Store.next_to(folder / "results")
    known = {each.hash: each for each in table_location.load(store.results)}
    every = point_reading.load(store.results, "box", known, rounds=True, samples=True)
    list(store.build())
    for only in choices:
        expected = point_filter.chosen(every, only)
        assert expected == store.load("box", known, rounds=True, samples=True, only=only)


COMMANDS = (
    ("verdict", "--machine", "box", "--each"),
    ("verdict", "--all-machines", "--format", "json"),
    ("frameworks", "--machine", "box", "--selection", "training"),
    ("compare", "box@numpy-2.0.0", "box@torch", "--device", "cpu"),
    ("compare", "box@numpy-2.0.0", "box@numpy-2.1.0"),
    ("fastest", "--selection", "training"),
    ("fastest", "--selection", "training", "--precision", "int8", "--history"),
    ("export", "--machine", "box", "--format", "csv"),
    ("export", "--machine", "box", "--format", "json", "--release", "numpy-2.0.0"),
    ("export", "--machine", "box", "--format", "csv", "--set", "training", "--device", "cpu"),
    ("unsteady", "numpy-2.0.0", "--machine", "box"),
)
"""Every command that reads times of kernels, with and without options that choose some."""

OF_MODELS = {"overhead", "table"}
"""Commands that read times of whole models, which `test_parquet_store` compares."""


def package_files(pattern):
    """The names of the package's modules whose text has a pattern."""
    return {path for path in PACKAGE.rglob("*.py") if re.search(pattern, path.read_text("utf-8"))}


def test_every_command_that_reads_times_is_compared():
    """The commands of this test are those whose modules read points."""
    reading = package_files(r"\bmachine_points\b|\bunsteady_list as points\b")
    commands = {path.stem for path in reading if path.parent.name == "commands"}
    assert {command[0] for command in COMMANDS} | OF_MODELS == commands


def test_points_are_read_from_results_in_three_places():
    """As a store is built, where it cannot be used, and after a run, before there is a store."""
    found = package_files(r"\bpoint_reading\.(load|of_each_result)\(")
    names = {path.relative_to(PACKAGE).as_posix() for path in found}
    assert names == {
        "analysis/machine_points.py",
        "analysis/parquet_store.py",
        "analysis/unsteady_list.py",
    }


def histories(draw):
    """Result files of all releases under the usual conditions, with a change of a third in one."""
    usual = [condition.usual for condition in CONDITIONS]
    slower = draw.choice(HISTORY)
    for release in HISTORY:
        level = 1.3 if release.date >= slower.date else 1.0
        columns = {
            name: [
                [level * draw.uniform(0.99, 1.01) for _ in range(6)]
                for _ in PROBLEMS
                for _ in PRECISIONS
            ]
            for name in BENCHMARKS
        }
        yield release, usual, columns, [], []


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 999).map(Random), results())
def test_commands_print_the_same_from_the_store(tmp_path_factory, draw, found):
    """Text, messages and exit status; no command reads the results where a store is up to date."""
    folder = tmp_path_factory.mktemp("project")
    write(folder, [*histories(draw), *found], HISTORY)
    options = ("--results", str(folder / "results"))
    chosen = ("--set", "training", "--device", "cpu", "--release", "numpy-2.10.0")
    workbook = ("export", str(folder / "box.xlsx"), "--machine", "box", *chosen, *options)
    commits = [each.hash for each in HISTORY[:2]]
    known = {each.hash: each for each in table_location.load(folder / "results")}

    def remarks():
        """The lines below the tables of `asv show` and `asv compare`."""
        return [
            asv_table_remarks.of_releases(folder / "results", "box", some, known)
            for some in (commits[:1], commits)
        ]

    expected = {command: deepbench(*command, *options) for command in COMMANDS}
    exported, sheets, lines = deepbench(*workbook), sheets_of(folder / "box.xlsx"), remarks()
    assert sheets
    list(Store.next_to(folder / "results").build())
    with patch.object(point_reading, "of_each_result", side_effect=AssertionError("read")):
        for command in COMMANDS:
            assert expected[command] == deepbench(*command, *options), command
        assert (exported, lines) == (deepbench(*workbook), remarks())
        assert sheets == sheets_of(folder / "box.xlsx")


def sheets_of(path):
    """The sheets of a workbook as XML, none where it was not written."""
    if not path.exists():
        return {}
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist() if "worksheets" in name}
