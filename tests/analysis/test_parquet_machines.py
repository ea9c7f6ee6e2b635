"""The store's machines and runs of models are those of their files, whatever these hold."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from deepbench_ops.analysis import parquet_machines
from deepbench_ops.analysis.parquet_store import Store
from deepbench_ops.asv_adapter import result_files
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.machine_profile import Figure, LatencyLevel, Profile
from deepbench_ops.storage import json_lines, model_run_fields, model_runs

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAME = st.text(string.ascii_letters + "é", min_size=1, max_size=3)
VALUES = st.none() | st.floats(1e-9, 1e18)
FIGURES = st.builds(Figure, VALUES, st.just("1/s"), st.just("data sheet: a page"))
GROUP = st.dictionaries(NAME, FIGURES, min_size=1, max_size=2)
GROUPS = st.dictionaries(NAME, GROUP, max_size=2)
PROFILES = st.builds(
    Profile,
    st.just("box"),
    date=TEXT,
    facts=st.dictionaries(TEXT, TEXT, max_size=2),
    peaks=GROUPS,
    bandwidth=st.dictionaries(NAME, FIGURES, max_size=2),
    yardstick_version=TEXT,
    yardsticks=GROUPS,
    levels=st.lists(st.builds(LatencyLevel, st.floats(1, 1e6), GROUPS), max_size=2),
    yardstick_levels=st.dictionaries(NAME, st.floats(1, 1e6), max_size=2),
    factor_by_chance=st.sampled_from([0.0, 1.5]),
)
ENTRIES = st.fixed_dictionaries(
    {"machine": st.just("box")},
    optional={
        **dict.fromkeys(("cpu", "arch", "os", "accelerator", "further"), TEXT),
        "num_cpu": st.sampled_from(["2", 64, "two", ""]),
        "ram": st.sampled_from(["32 GiB", ""]),
    },
)

COUNTS = st.integers(1, model_run_fields.MOST)
TIMES = st.floats(1e-6, 1e3)
SHARED = {
    **dict.fromkeys(("model", "precision", "device"), TEXT),
    "release": st.sampled_from(["torch-2.13.0", "a-b-1.0rc1", "plain"]),
    **dict.fromkeys(("batch", "threads"), COUNTS),
}
OPTIONAL = {
    **{name: st.none() | TEXT for name in ("framework", "day")},
    **{name: st.none() | st.floats(-1e9, 1e9) for name in ("off", "drift")},
    **dict.fromkeys(("batches", "steps", "inter_op_threads", "intra_op_threads"), COUNTS),
    "conditions": st.dictionaries(TEXT, TEXT, max_size=2),
}
OF_LATENCY = {"by": TEXT, "median_seconds": TIMES, **SHARED}
OF_SCALING = {"ranks": COUNTS, "split": st.booleans(), "step_seconds": TIMES, **SHARED}
RUNS = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("latency"), **OF_LATENCY},
        optional={
            **OPTIONAL,
            **{name: st.none() | TIMES for name in ("p90_seconds", "p99_seconds")},
            **{"layout": TEXT, "inter_op": st.none() | COUNTS},
        },
    ),
    st.fixed_dictionaries(
        {"kind": st.just("scaling"), **OF_SCALING},
        optional={
            **OPTIONAL,
            **{name: st.none() | TIMES for name in ("low", "high")},
        },
    ),
).filter(lambda run: not model_run_fields.why_not(run))
RUN = {
    **{"kind": "scaling", "model": "mmoe", "batch": 8, "ranks": 2, "threads": 1, "split": False},
    "low": 1.0,
    **{"precision": "float32", "device": "cpu", "release": "torch-2.13.0", "step_seconds": 1.0},
}


def project(folder, entry=None):
    """The folder of a machine that has no times."""
    machine = folder / "results" / "box"
    machine.mkdir(parents=True)
    (machine / "machine.json").write_text(json.dumps({"machine": "box", "version": 1, **entry}))
    return machine


def built(machine, table):
    """The rows of a table in the store of a machine's results."""
    store = Store.next_to(machine.parent)
    list(store.build())
    return parquet.read_table(store.folder / table / "box.parquet").to_pylist()


def stored_profile(row):
    """The profile in a row of machines; None where it has none."""
    if row["day"] is None:
        return None
    return Profile(
        row["machine"],
        row["day"],
        dict(row["facts"]),
        grouped(row["peaks"], "device", "precision"),
        {each["device"]: figure(each) for each in row["bandwidths"]},
        row["yardstick_version"],
        grouped(row["yardsticks"], "threads", "kind"),
        [
            LatencyLevel(each["nanoseconds"], grouped(each["yardsticks"], "threads", "kind"))
            for each in row["levels"]
        ],
        dict(row["yardstick_levels"]),
        row["factor_by_chance"],
    )


def grouped(several, outer, inner):
    """Figures of a column as groups by two of their fields."""
    found = {}
    for each in several:
        found.setdefault(each[outer], {})[each[inner]] = figure(each)
    return found


def figure(stored):
    """The figure in a value of a column."""
    return Figure(stored["value"], stored["unit"], stored["how"])


@settings(max_examples=40, deadline=None)
@given(ENTRIES, st.none() | PROFILES)
def test_a_machine_of_the_store_equals_its_files(tmp_path_factory, entry, profile):
    """Every field of its description and of its profile comes back."""
    machine = project(tmp_path_factory.mktemp("project"), entry)
    if profile is not None:
        machine_profile.write(machine.parent, profile)
    (row,) = built(machine, "machines")
    described = result_files.entry(machine / "machine.json")
    assert described == dict(row["description"])
    for name in parquet_machines.DESCRIBED:
        assert described.get(name) == row[name]
    assert ({"2": 2, "64": 64}.get(described.get("num_cpu")), "box") == (
        row["cores"],
        row["machine"],
    )
    assert machine_profile.read(machine.parent, "box") == stored_profile(row)


@settings(max_examples=60, deadline=None)
@given(st.lists(RUNS, max_size=4))
def test_runs_of_models_in_the_store_equal_their_file(tmp_path_factory, runs):
    """Every field comes back, null for one that a run lacks; of equal questions the last counts."""
    machine = project(tmp_path_factory.mktemp("project"), {})
    (machine / model_run_fields.FILE).write_text(json_lines.as_text(runs))
    rows = built(machine, "model_runs")
    expected = []
    for run in model_runs.load(machine):
        named = {**run, "software": run.get("framework")}
        expected.append({name: each for name, each in named.items() if each is not None})
    assert [each | {"machine": "box"} for each in expected] == list(map(stored_run, rows))


def stored_run(row):
    """The run in a row of model runs, without fields that are null, but with its software."""
    release = "-".join(filter(None, (row.pop("framework"), row.pop("version"))))
    if row["conditions"] is not None:
        row["conditions"] = dict(row["conditions"])
    own = {**row, "framework": row["software"], "release": release or None}
    own["by"] = own.pop("execution")
    return {name: each for name, each in own.items() if each is not None}


def test_every_field_of_a_run_is_in_the_store():
    """As a column of its own, as the framework and version of its release, or as the execution."""
    columns = set(parquet_machines.MODEL_RUNS.names)
    assert model_run_fields.FIELDS.keys() - columns == {"release", "by"}


def test_a_value_that_the_store_cannot_hold_is_one_line(tmp_path, capsys):
    """The line names the file and the field."""
    machine = project(tmp_path, {"cpu": "\ud800"})
    assert [] == built(machine, "machines")
    said = capsys.readouterr().err
    path = machine / "machine.json"
    assert (1, 1) == (said.count("\n"), said.count(f"{path}: the store cannot hold its cpu: "))


@pytest.mark.parametrize("name", [machine_profile.FILE_NAME, model_run_fields.FILE, "machine.json"])
def test_a_damaged_file_is_one_line_and_the_rest_is_stored(tmp_path, capsys, name):
    """The line names the file; the content of the others is there."""
    machine = project(tmp_path, {"cpu": "a"})
    machine_profile.write(machine.parent, Profile("box", "2026-01-01"))
    model_runs.add(machine, [RUN])
    (machine / name).write_text("{")
    (row,) = built(machine, "machines")
    runs = built(machine, "model_runs")
    found = {
        machine_profile.FILE_NAME: row["day"] is not None,
        model_run_fields.FILE: bool(runs),
        "machine.json": row["cpu"] is not None,
    }
    assert {name} == {each for each, there in found.items() if not there}
    said = capsys.readouterr().err
    assert (1, 1) == (said.count("\n"), said.count(str(machine / name)))
