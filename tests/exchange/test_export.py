"""Exports come back: the same numbers from the workbook, every axis in the tidy table."""

import csv
import io
import json
from datetime import date
from pathlib import Path

import example_points as points_of_tests
import pytest
import workbooks
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.analysis.points import Point
from deepbench_ops.commands.export import export
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.export_table_writer import COLUMNS, row, write_parquet
from deepbench_ops.exchange.published import published_result_filing
from deepbench_ops.exchange.workbooks import (
    workbook_timings,
    workbook_values,
    workbook_writer,
    xlsx_reader,
)
from deepbench_ops.problems import FAMILIES, load
from deepbench_ops.problems.precision import MIXED
from deepbench_ops.releases import release_table
from deepbench_ops.releases.release_table import Release

OF_2017 = release_table.publication_of(date(2017, 7, 14))
RELEASE = Release("torch", "2.13.0", date(2026, 7, 8))
PRECISIONS = {
    "gemm": list(workbook_writer.PRECISIONS),
    "conv": list(workbook_writer.PRECISIONS),
    "rnn": ["float32", "bfloat16", "float16", "int8", MIXED],
    "sparse_gemm": ["float32", "bfloat16", "int8"],
    "all_reduce": ["float32"],
}


ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_no_exported_interval_reaches_zero(tmp_path, form):
    """Results measured before intervals were of logarithms hold some that do."""
    target = tmp_path / f"all.{form}"
    chosen = ["--machine", "epyc-9004-2core", "--results", str(ROOT / "results")]
    done = CliRunner().invoke(export, [str(target), *chosen])
    text = target.read_text()
    rows = json.loads(text) if form == "json" else list(csv.DictReader(io.StringIO(text)))
    bounds = [row["low"] for row in rows if row["low"] not in ("", None)]
    assert 0 == done.exit_code
    assert 0 < len(bounds) < len(rows)
    assert all(float(low) > 0 for low in bounds)


@st.composite
def a_point(draw, published_set):
    families = [family for family in FAMILIES if load(family, published_set)]
    family = draw(st.sampled_from(families))
    problem = draw(st.sampled_from(load(family, published_set)))
    seconds = draw(st.floats(1e-9, 86400))
    return Point(
        machine="box",
        release=RELEASE,
        family=family,
        set=published_set,
        operation=draw(st.sampled_from(problem.operations)),
        problem_id=problem.id,
        precision=draw(st.sampled_from(PRECISIONS.get(family) or problem.precisions)),
        ranks=draw(st.sampled_from([2, 4, 32])) if problem.ranks else None,
        device="cpu",
        cache="warm",
        layout="published",
        execution="eager",
        seconds=seconds,
        low=draw(st.none() | st.just(seconds / 2)),
        high=None,
        samples=2,
    )


@settings(max_examples=60, deadline=None)
@given(data=st.data(), published_set=st.sampled_from(["training", "inference_server", "modern"]))
def test_a_workbook_reads_back_to_the_same_numbers(tmp_path_factory, data, published_set):
    """Whatever kernels, passes and precisions it holds; derived FLOPS agree with the times."""
    drawn = data.draw(st.lists(a_point(published_set), min_size=1, max_size=12))
    points = {point.kernel: point for point in drawn}
    path = tmp_path_factory.mktemp("export") / "box.xlsx"
    workbook_writer.write(path, list(points.values()), {"CPU Model": "a cpu"})
    found, _ = workbook_timings.read(xlsx_reader.read(path))
    assert {(t.problem.id, t.operation, t.precision, t.ranks): t.seconds for t in found} == {
        (p.problem_id, p.operation, p.precision, p.ranks): p.seconds for p in points.values()
    }
    assert all(timing.agrees for timing in found)
    [again] = workbook_values.read(path, machine="box", day=date(2026, 11, 21))
    assert again.published_set == published_set
    assert again.specs["CPU Model"] == "a cpu"


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A machine with published times of two sets."""
    training = tmp_path / "2017-07-14__train__DeepBench_NV_P100.xlsx"
    workbooks.write(training, workbooks.gemm((1760, 16, 1760, "N", "N", 0.055)))
    server = tmp_path / "2017-07-14__inference_server__DeepBench_NV_P100.xlsx"
    workbooks.write(server, workbooks.gemm((1024, 700, 512, "N", "N", 0.46)))
    for path in (training, server):
        published_result_filing.file(tmp_path / "results", workbook_values.read(path), len)
    workbooks.with_release_of_2017(tmp_path, monkeypatch)
    return tmp_path / "results"


def run(results, file, *args):
    path = results.parent / file
    args = [str(path), "--machine", "nvidia-p100", "--results", str(results), *args]
    return CliRunner().invoke(export, args), path


def read_csv(path):
    return list(csv.DictReader(path.open()))


def read_json(path):
    return json.loads(path.read_text())


def read_parquet(path):
    parquet = pytest.importorskip("pyarrow.parquet")
    return parquet.read_table(path).to_pylist()


@pytest.mark.parametrize(
    ("form", "read"), [("csv", read_csv), ("json", read_json), ("parquet", read_parquet)]
)
def test_the_tidy_table_has_a_row_for_each_time(results, form, read):
    """Seconds with every axis and where they are from, the same in all formats."""
    if form == "parquet":
        pytest.importorskip("pyarrow")
    done, path = run(results, f"all.{form}")
    assert done.exit_code == 0, done.output
    rows = {str(row["set"]): row for row in read(path)}
    assert set(rows) == {"training", "inference_server"}
    row = rows["training"]
    assert float(row["seconds"]) == 5.5e-05
    assert [row[name] for name in ("machine", "framework", "release", "date", "source")] == [
        "nvidia-p100",
        "published",
        "2017.7.14",
        "2017-07-14",
        "published",
    ]


def test_parquet_has_the_same_schema_of_every_machine(tmp_path):
    """Whether it has ranks and intervals or not, so that files of several machines go together."""
    parquet = pytest.importorskip("pyarrow.parquet")
    full = points_of_tests.point(family="all_reduce", operation="sum", ranks=2)
    full = full._replace(problem_id=load("all_reduce")[0].id, low=0.5, high=2.0)
    schemas = []
    for name, several in (("bare", [points_of_tests.point()]), ("full", [full]), ("none", [])):
        write_parquet(tmp_path / name, [row(each) for each in several])
        assert len(several) == parquet.read_table(tmp_path / name).num_rows
        schemas.append(parquet.read_schema(tmp_path / name))
    assert schemas[0].equals(schemas[1]) and schemas[1].equals(schemas[2])
    assert list(COLUMNS) == list(row(full)) == schemas[0].names
    assert ["int64", "double"] == [str(schemas[0].field(name).type) for name in ("ranks", "low")]


def test_a_workbook_needs_no_name(results, monkeypatch):
    """Each set has a file after machine and release, with that release's own libraries."""
    later = results.parent / "2019-10-07__train__DeepBench_NV_P100.xlsx"
    specs = [["GPU Model", "a card"], ["CUDA Version", "10.1"]]
    section = workbooks.gemm((1760, 16, 1760, "N", "N", 0.05))
    [one] = workbook_values.read(workbooks.write(later, section, specs=specs))
    published_result_filing.file(results, [one], len)
    monkeypatch.chdir(results.parent)
    monkeypatch.setattr(
        release_table, "load", lambda: (OF_2017, release_table.publication_of(one.day))
    )
    arguments = ["--machine", "nvidia-p100", "--format", "xlsx", "--results", str(results)]
    for release, version, names in (
        (OF_2017, "8.0.61", ["inference_server", "training"]),
        (release_table.publication_of(one.day), "10.1", ["training"]),
    ):
        asked = ["--release", release.name] if release == OF_2017 else []  # else the newest
        done = CliRunner().invoke(export, [*arguments, *asked])
        assert done.exit_code == 0, done.output
        files = sorted(Path().glob(f"nvidia-p100-{release.name}-*.xlsx"))
        assert [f"nvidia-p100-{release.name}-{name}.xlsx" for name in names] == [
            path.name for path in files
        ]
        assert {version} == {
            workbook_timings.specs(xlsx_reader.read(path))["CUDA Version"] for path in files
        }


@pytest.mark.parametrize(("form", "read"), [("csv", csv.DictReader), ("json", json.load)])
def test_a_table_without_a_file_goes_to_standard_output(results, form, read):
    """Nothing else does, so that another program may read it."""
    arguments = ["--machine", "nvidia-p100", "--format", form, "--results", str(results)]
    done = CliRunner().invoke(export, arguments)
    assert {"training", "inference_server"} == {
        row["set"] for row in read(io.StringIO(done.stdout))
    }


def test_a_workbook_has_the_usual_conditions(tmp_path):
    """A cold cache's time is another one: neither it nor compiling has a column."""
    points = [points_of_tests.point(), points_of_tests.point(operation="first_call")]
    assert [True, False] == [workbook_writer.has_column(point) for point in points]
    with pytest.raises(DeepbenchError, match="one cache, not cold and warm"):
        workbook_writer.write(
            tmp_path / "a.xlsx", [points[0], points_of_tests.point(cache="cold")], {}
        )


def test_a_workbook_has_one_set(results):
    """Two are refused with their names; one chosen is written."""
    refused, path = run(results, "all.xlsx")
    assert "one set, not inference_server and training" in str(refused.exception)
    assert not path.exists()
    done, path = run(results, "all.xlsx", "--set", "training")
    assert done.exit_code == 0, done.output
    assert [5.5e-05] == [t.seconds for t in workbook_timings.read(xlsx_reader.read(path))[0]]


@pytest.mark.parametrize(
    ("file", "args", "expected"),
    [
        ("all.txt", (), "all.txt ends in none"),
        ("all.xlsx", ("--release", "torch-9"), "unknown release of nvidia-p100 'torch-9'"),
        ("all.csv", ("--release", "torch-9"), "published-2017.7.14"),
        ("all.csv", ("--set", "trainin"), "training"),
        ("all.csv", ("--device", "cpu"), "unknown device of nvidia-p100 'cpu'"),
    ],
)
def test_what_cannot_be_exported_is_said_in_a_line(results, file, args, expected):
    """And nothing is written."""
    refused, path = run(results, file, *args)
    assert isinstance(refused.exception, DeepbenchError)
    assert expected in str(refused.exception)
    assert not path.exists()
