"""The store's rounds are those of the files of rounds, whatever these hold."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from deepbench_ops.analysis.parquet_store import Store
from deepbench_ops.measure import ensemble_round_json
from deepbench_ops.storage import ensemble_round_checks, ensemble_round_files
from deepbench_ops.storage.ensemble_round_files import RoundsFile

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
RELEASES = st.sampled_from(["numpy-2.4.6", "torch-2.13.0", "numpy-2.0.0rc1", "a-b-1.0", "plain"])
FACTS = {"d1": {"threads": "2", "blas": "é"}, "d2": {"threads": "1"}, "d3": {}}
DIGESTS = st.sampled_from(["d1", "d2", "d3", "lost"])
SECONDS = st.none() | st.floats(1e-9, 1e4)
LATENCIES = st.floats(1, 1e6)


@st.composite
def lines(draw):
    """A line of a file of rounds; each field that may be missing is there or not."""
    sweeps = draw(st.integers(0, 3))
    names = draw(st.lists(RELEASES, max_size=3, unique=True))
    column = st.lists(SECONDS, min_size=sweeps, max_size=sweeps)
    line = {
        "family": draw(st.sampled_from(["gemm", "conv"])),
        "problem": draw(st.sampled_from("pq")),
        "precision": "float32",
        "operation": draw(st.sampled_from(["forward", "backward"])),
        "round": draw(st.sampled_from(["1-0", "1-1", "2-0"])),
        "version": draw(st.sampled_from(["1", "2"])),
        "started_at": draw(st.floats(0, 4e9) | st.integers(0, 4 * 10**9)),
        "ended_at": draw(st.floats(0, 4e9)),
        "anchor": draw(RELEASES),
        "seconds": {name: draw(column) for name in names},
        "reasons": draw(st.dictionaries(RELEASES, TEXT, max_size=2)),
    }
    yardstick = st.fixed_dictionaries(
        {"kind": TEXT, "seconds": column},
        optional={
            "nominal": SECONDS,
            "remark": TEXT,
            "nominals": column,
            "remarks": st.lists(TEXT, min_size=sweeps, max_size=sweeps),
        },
    )
    pairs = st.lists(st.none() | LATENCIES, min_size=2, max_size=2)
    optional = {
        "calls": st.just({name: draw(st.integers(1, 10**9)) for name in names}),
        "fingerprints": st.dictionaries(RELEASES, DIGESTS, max_size=2),
        "notes": st.dictionaries(RELEASES, DIGESTS, max_size=2),
        "implementations": st.dictionaries(RELEASES, TEXT, max_size=2),
        "conditions": st.dictionaries(st.sampled_from(["threads", "cache", "x"]), TEXT, max_size=3),
        "latencies": st.lists(LATENCIES, max_size=2),
        "sweep_latencies": st.lists(pairs, min_size=sweeps, max_size=sweeps),
        "state": TEXT,
        "benchmark_version": st.sampled_from(["1", "2"]),
        "yardstick": yardstick,
    }
    assert ensemble_round_checks.FIELDS.keys() == {*line, *optional}
    return line | draw(st.fixed_dictionaries({}, optional=optional))


FILES = st.dictionaries(
    st.sampled_from(["numpy", "frameworks"]),
    st.lists(lines(), max_size=4, unique_by=ensemble_round_files.identity),
    max_size=2,
)
PER_RELEASE = {
    "seconds": "seconds",
    "calls": "calls",
    "reasons": "reason",
    "implementations": "implementation",
    "fingerprints": "facts",
    "notes": "notes",
}


def stored_lines(rows):
    """The lines of each file of rounds, by the rows of the store, with facts for their digests."""
    found = {}
    for row in rows:
        kernel = {name: row[name] for name in ensemble_round_checks.KERNEL}
        line = {
            **kernel,
            **{name: row[name] for name in ("round", "started_at", "ended_at", "anchor", "state")},
            "version": row["method"],
            "benchmark_version": row["benchmark_version"],
            "latencies": row["latencies"],
            "sweep_latencies": row["sweep_latencies"],
            "yardstick": row["yardstick"] and without_nulls(row["yardstick"]),
            "conditions": None if row["conditions"] is None else dict(row["conditions"]),
        }
        key = (row["file"], *kernel.values(), row["round"])
        known = found.setdefault(key, {**line, **{field: {} for field in PER_RELEASE}})
        release = "-".join(filter(None, (row["framework"], row["version"])))
        for field, column in PER_RELEASE.items():
            assert release not in known[field]
            if row[column] is not None:
                value = row[column]
                known[field][release] = dict(value) if column in ("facts", "notes") else value
    return {key: without_nulls(line) for key, line in found.items()}


def without_nulls(values):
    """The values by name that are not null."""
    return {name: value for name, value in values.items() if value is not None}


def expected_lines(contents):
    """The lines of files of rounds, as `stored_lines` returns them."""
    found = {}
    for file, content in contents.items():
        for line in content.entries:
            whole = {**{field: {} for field in PER_RELEASE}, **line}
            for field in ("fingerprints", "notes"):
                whole[field] = {
                    release: content.facts[digest]
                    for release, digest in whole[field].items()
                    if digest in content.facts
                }
            if "yardstick" in line:
                whole["yardstick"] = without_nulls(line["yardstick"])
            kernel = (line[name] for name in ensemble_round_checks.KERNEL)
            found[(file, *kernel, line["round"])] = whole
    return found


def project(folder):
    """A results folder with a machine that has no times."""
    machine = folder / "results" / "box"
    machine.mkdir(parents=True)
    (machine / "machine.json").write_text(json.dumps({"machine": "box", "version": 1}))
    return machine


@settings(max_examples=60, deadline=None)
@given(FILES)
def test_rounds_of_the_store_equal_the_files(tmp_path_factory, files):
    """Every field of every line comes back, of each release its own."""
    machine = project(tmp_path_factory.mktemp("project"))
    for name, entries in files.items():
        path = ensemble_round_files.path_of(machine, name)
        ensemble_round_files.write(path, RoundsFile(FACTS, entries))
    contents = {
        ensemble_round_files.name_of(path): ensemble_round_files.load(path)
        for path in ensemble_round_files.paths(machine)
    }
    assert files == {name: content.entries for name, content in contents.items()}
    store = Store.next_to(machine.parent)
    list(store.build())
    rows = parquet.read_table(store.folder / "rounds" / "box.parquet").to_pylist()
    assert expected_lines(contents) == stored_lines(rows)
    assert {"box"} >= {row["machine"] for row in rows}


@pytest.mark.parametrize("name", ["numpy", "frameworks"])
def test_a_damaged_file_of_rounds_is_one_line_and_the_other_is_stored(tmp_path, capsys, name):
    """The line names the file; a mended file is read by the next build."""
    machine = project(tmp_path)
    line = {
        **{"family": "gemm", "problem": "p", "precision": "float32", "operation": "forward"},
        **{"round": "1-0", "version": "1", "started_at": 1.0, "ended_at": 2.0, "reasons": {}},
        **{"anchor": "numpy-2.4.6", "seconds": {"numpy-2.4.6": [0.5, None]}},
    }
    paths = [ensemble_round_files.path_of(machine, each) for each in ("numpy", "frameworks")]
    for path in paths:
        ensemble_round_files.write(path, RoundsFile({}, [line]))
    damaged = ensemble_round_files.path_of(machine, name)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-9])
    store = Store.next_to(machine.parent)
    list(store.build())
    said = capsys.readouterr().err
    assert (1, 1) == (said.count("\n"), said.count(str(damaged)))

    def stored_files():
        return parquet.read_table(store.folder / "rounds" / "box.parquet")["file"].to_pylist()

    assert sorted({"numpy", "frameworks"} - {name}) == stored_files()
    damaged.write_bytes(whole)
    assert [True] == [part.made for part in store.build()]
    assert ["frameworks", "numpy"] == sorted(stored_files())


def test_a_round_of_the_store_is_that_of_the_readers(tmp_path):
    """Seconds of each sweep, null where the release was not measured, and the reason for none."""
    machine = project(tmp_path)
    line = {
        **{"family": "gemm", "problem": "p", "precision": "float32", "operation": "forward"},
        **{"round": "1-0", "version": "1", "started_at": 86400.0, "ended_at": 86402.0},
        **{"anchor": "numpy-2.4.6", "seconds": {"numpy-2.4.6": [0.5, None]}},
        **{"reasons": {"torch-2.1.2": "Unsupported"}, "conditions": {"cache": "cold"}},
    }
    path = ensemble_round_files.path_of(machine, "frameworks")
    ensemble_round_files.write(path, RoundsFile({}, [line]))
    ((read,),) = ensemble_round_json.load(path).values()
    store = Store.next_to(machine.parent)
    list(store.build())
    rows = parquet.read_table(store.folder / "rounds" / "box.parquet").to_pylist()
    columns = ("framework", "version", "seconds", "reason", "cache", "device")
    assert [
        ("numpy", "2.4.6", [read.sweeps[0]["numpy-2.4.6"], None], None, "cold", "cpu"),
        ("torch", "2.1.2", None, read.reasons["torch-2.1.2"], "cold", "cpu"),
    ] == [tuple(row[name] for name in columns) for row in rows]
    assert {"1970-01-02"} == {str(row["day"]) for row in rows}
