"""Round trip of exports: `deepbench import` reads files of `deepbench export` to the same times."""

import csv
import io
import json
import math
import random
import shutil
import statistics
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from command import deepbench
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from deepbench_ops.asv_adapter import asv_api, private_result_fields
from deepbench_ops.commands.output_format import counted
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange import export_table_reader
from deepbench_ops.exchange import export_table_writer as writing
from deepbench_ops.exchange.spreadsheet_text import bare, guarded
from deepbench_ops.exchange.workbooks import xlsx_reader
from deepbench_ops.measure.fingerprint import SETTINGS
from deepbench_ops.problems import load
from deepbench_ops.releases import release_table
from deepbench_ops.statistics.median_interval import log_interval
from deepbench_ops.storage import measurement_files

MEASURED = next(each for each in release_table.load() if each.name == "torch-2.13.0")
PUBLISHED = release_table.publication_of(date(2017, 7, 14))
FORMS = ("csv", "json", "parquet", "xlsx")
PROBLEMS = [repr(problem.id) for problem in load("gemm", "training")[:6]]
PRECISIONS = ["'float32'", "'int8'"]

SAMPLES = st.lists(st.floats(1e-6, 10), min_size=1, max_size=12)


@st.composite
def columns(draw: Any) -> list[list[Any]]:
    """Values, samples and statistics of all problems and precisions; some were not measured."""
    values: list[list[Any]] = []
    for _ in range(len(PROBLEMS) * len(PRECISIONS)):
        several = draw(st.none() | SAMPLES)
        if several is None:
            values.append([math.nan, None, {}])
            continue
        middle = statistics.median(several)
        found = log_interval(several)
        stats = {"ci_99_a": found[0], "ci_99_b": found[1]} if found else {}
        values.append([middle, several if len(several) > 1 else None, stats])
    if all(value != value for value, *_ in values):
        values[0] = [1e-3, None, {}]
    return values


def write(
    results: Path, release: release_table.Release, values: list[list[Any]], machine: str
) -> None:
    """A result file of a machine's products, with its entry."""
    folder = results / machine
    folder.mkdir(parents=True, exist_ok=True)
    keys = ("machine", "accelerator", "arch", "cpu", "num_cpu", "os", "ram")
    entry = dict.fromkeys(keys, "x") | {"machine": machine}
    (folder / "machine.json").write_text(json.dumps({**entry, "version": 1}))
    (folder / "machine.profile").unlink(missing_ok=True)
    variables = {"DEEPBENCH_DEVICE": "cpu", "DEEPBENCH_CACHE": "warm"}
    named = "release-py3-DEEPBENCH_CACHEwarm-DEEPBENCH_DEVICEcpu"
    environment = named if release.measurable else "published"
    about = (release.hash, release.milliseconds, "3", environment, variables)
    result = asv_api.Results({**entry, "python": "3"}, {}, *about)
    name = "gemm.Training.kernel_forward"
    fields = private_result_fields.of(result)
    fields.axes[name] = [PROBLEMS, PRECISIONS]
    for columns, column in zip(fields.columns, zip(*values, strict=True), strict=True):
        columns[name] = list(column)
    result.save(str(results))


def exported(results: Path, path: Path) -> list[dict[str, Any]]:
    """The rows of a machine's export."""
    given_ = ["--machine", "box", "--results", str(results)]
    status, _, err = deepbench("export", str(path), *given_)
    assert (0, "") == (status, err)
    rows = export_table_reader.read(path)
    assert rows is not None
    return sorted(rows, key=str)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=4, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(values=columns(), published=st.booleans())
def test_what_is_exported_and_imported_is_exported_again(
    tmp_path_factory: pytest.TempPathFactory, form: str, values: list[list[Any]], published: bool
) -> None:
    """With value, interval and samples, also into an empty folder and a second time."""
    folder = tmp_path_factory.mktemp("trip")
    release = PUBLISHED if published else MEASURED
    write(folder / "here", release, values, "box")
    path = folder / f"box.{form}"
    rows = exported(folder / "here", path)
    assert sum(value == value for value, *_ in values) == len(rows)
    assert any(row["samples"] > 1 for row in rows) == any(several for _, several, _ in values)
    for _ in range(2):
        status, out, err = deepbench("import", str(path), "--results", str(folder / "there"))
        assert (0, "") == (status, err)
        assert f"{counted(len(rows), 'time')} of box" in out
        assert rows == exported(folder / "there", folder / f"again.{form}")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    several = [1.0, 1.1, 1.2, 1.3, 1.4]
    bounds = log_interval(several)
    assert bounds is not None
    values = [[1.2, several, {"ci_99_a": bounds[0], "ci_99_b": bounds[1]}]] * 12
    write(tmp_path / "here", MEASURED, values, "box")
    return tmp_path


DAMAGE = {
    "another time": lambda row: row.update(seconds=9.0),
    "no time": lambda row: row.update(seconds=True),
    "too long": lambda row: row.update(seconds=1e9, sample_seconds=[1e9], samples=1),
    "a sample less": lambda row: row["sample_seconds"].pop(),
    "a bound less": lambda row: row.update(low=None),
    "a bound beyond": lambda row: row.update(low=1.3),
    "another column": lambda row: row.update(more=1),
    "an unknown family": lambda row: row.update(family="gdmm"),
    "an unknown problem": lambda row: row.update(problem="m0_n0_k0_NN"),
    "an unknown pass": lambda row: row.update({"pass": "sideways"}),
    "an unknown release": lambda row: row.update(release="9.9.9"),
    "another day": lambda row: row.update(date="2020-01-01"),
    "a day that is none": lambda row: row.update(date="x"),
    "an unknown device": lambda row: row.update(device="x y"),
    "another source": lambda row: row.update(source="published"),
    "a machine that is a path": lambda row: row.update(machine="../box"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_row_is_refused_and_nothing_written(here: Path, damage: str) -> None:
    path = here / "box.json"
    exported(here / "here", path)
    rows = json.loads(path.read_text())
    DAMAGE[damage](rows[3])
    path.write_text(json.dumps(rows))
    status, _, err = deepbench("import", str(path), "--results", str(here / "there"))
    assert 2 == status
    assert err.startswith(f"deepbench: error: {path}")
    assert "Traceback" not in err
    assert not list((here / "there").glob("*/*.json"))


def test_a_row_that_is_there_twice_and_a_cut_table_are_refused(here: Path) -> None:
    path = here / "box.csv"
    exported(here / "here", path)
    lines = path.read_text().splitlines()
    for text in ("\n".join([*lines, lines[-1], ""]), path.read_text()[:-1]):
        path.write_text(text)
        status, _, err = deepbench("import", str(path), "--results", str(here / "there"))
        assert 2 == status
        assert "its kernel is there twice" in err or "its last line is cut" in err


def test_a_flipped_bit_of_an_exported_parquet_file_changes_no_time(here: Path) -> None:
    """The table is refused, or its rows are those that were exported."""
    pytest.importorskip("pyarrow")
    path = here / "box.parquet"
    expected = exported(here / "here", path)
    whole, draw, refused = path.read_bytes(), random.Random(29), 0
    for _ in range(200):
        flipped = bytearray(whole)
        flipped[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        try:
            found = export_table_reader.read(path)
        except DeepbenchError:
            found = None
        assert found is None or expected == sorted(found, key=str)
        refused += found is None
    assert refused > 50


def test_a_table_of_several_machines_is_refused(here: Path) -> None:
    """No export is one: a name was damaged."""
    path = here / "box.json"
    exported(here / "here", path)
    rows = json.loads(path.read_text())
    rows[3]["machine"] = "b0x"
    path.write_text(json.dumps(rows))
    status, _, err = deepbench("import", str(path), "--results", str(here / "there"))
    assert (2, True) == (status, "of several machines (b0x, box)" in err)


def test_a_table_may_be_taken_in_under_another_name(here: Path) -> None:
    path = here / "box.csv"
    exported(here / "here", path)
    shutil.rmtree(here / "here")
    given_ = ["--machine", "other", "--results", str(here / "there")]
    status, out, _ = deepbench("import", str(path), *given_)
    assert (0, True) == (status, "12 times of other" in out)


def test_a_workbook_that_was_changed_in_one_place_is_refused(here: Path) -> None:
    """A time in a sheet for readers, not in the table, or the other way round."""
    openpyxl = pytest.importorskip("openpyxl")
    path = here / "box.xlsx"
    exported(here / "here", path)
    book = openpyxl.load_workbook(path)
    sheet = book["Results - float32"]
    [cell] = [c for row in sheet.iter_rows() for c in row if c.value == 1200 and c.row == 5]
    cell.value = 1300
    book.save(path)
    status, _, err = deepbench("import", str(path), "--results", str(here / "there"))
    assert (2, True) == (status, "give different times" in err)


FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1")


@pytest.mark.parametrize("text", FORMULAS)
def test_no_fact_of_a_machine_becomes_a_formula(here: Path, text: str) -> None:
    """In a workbook, which reads back to the same fact."""
    from openpyxl import load_workbook

    from deepbench_ops.exchange.workbooks import workbook_timings
    from deepbench_ops.machine import machine_profile

    machine_profile.write(
        here / "here", machine_profile.Profile("box", facts={"cpu": text, text.strip(): "x"})
    )
    path = here / "box.xlsx"
    exported(here / "here", path)
    kinds = {
        cell.data_type
        for sheet in load_workbook(path).worksheets
        for row in sheet.iter_rows()
        for cell in row
    }
    assert "f" not in kinds
    assert text.strip() == workbook_timings.specs(xlsx_reader.read(path))["cpu"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_name_in_csv_is_computed(text: str) -> None:
    """A quote stands before it, and goes when the table is read."""
    assert f"'{text}" == guarded(text)
    assert text == bare(f"'{text}")


@pytest.mark.parametrize("value", ["-1.5", "+3", "-1e-3", -1.5, 7, None, "plain", "'quoted"])
def test_numbers_and_plain_text_are_not_quoted(value: object) -> None:
    assert value == guarded(value)


@given(st.text(max_size=8))
def test_a_guarded_text_reads_back_to_itself(text: str) -> None:
    """With any first character, quotes too; numbers stay as they are."""
    assert text == bare(str(guarded(text)))


def test_a_control_character_is_one_line(here: Path) -> None:
    from deepbench_ops.machine import machine_profile

    machine_profile.write(here / "here", machine_profile.Profile("box", facts={"cpu": "a\x00b"}))
    given_ = ["--machine", "box", "--results", str(here / "here")]
    status, _, err = deepbench("export", str(here / "box.xlsx"), *given_)
    assert 2 == status
    assert 1 == len(err.splitlines())
    assert "holds a control character" in err
    assert not (here / "box.xlsx").exists()


def test_csv_of_all_columns_reads_back_where_names_begin_like_formulas() -> None:
    row = dict.fromkeys(writing.COLUMNS, "=x") | {
        "ranks": None,
        "seconds": 1.0,
        "low": None,
        "high": None,
        "samples": 1,
        writing.SAMPLES: [1.0],
    }
    text = writing.as_csv([row])
    assert [row] == export_table_reader._csv(text)
    assert all("=" != cell[:1] for cell in next(iter(list(csv.reader(io.StringIO(text)))[1:])))


def measured_under(results: Path, *texts: str | None) -> None:
    """Write records of the box's first kernels, each under settings of its own; None: unknown."""
    (result,) = (results / "box").glob("*-release-*.json")
    facts, entries = {}, []
    for place, text in enumerate(texts):
        facts[str(place)] = {"cpu": "x"} | ({} if text is None else {SETTINGS: text})
        params = [PROBLEMS[place].strip("'"), "float32"]
        entries.append({"benchmark": "gemm.Training.kernel_forward", "params": params})
        entries[-1] |= {"seconds": [1.2], "yardstick": [], "started_at": 1.0 + place}
        entries[-1] |= {"fingerprint": str(place)}
    measurement_files.write(measurement_files.file_of(result), facts, entries)


UNDER = ["OPENBLAS_CORETYPE=Haswell", "'XLA_FLAGS=-a -b'", "", None]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_exported_rows_have_their_settings_from_outside(here: Path, form: str) -> None:
    """As a shell reads them; "none" where there were none, and nothing where that is unknown."""
    measured_under(here / "here", *UNDER)
    rows = exported(here / "here", here / f"box.{form}")
    found = {r["problem"]: r["settings"] for r in rows if r["precision"] == "float32"}
    expected = [*UNDER[:2], "none", ""]
    assert expected == [found[name.strip("'")] for name in PROBLEMS[:4]]


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("added", [["settings"], ["settings", "unsteady", "sample_seconds"]])
def test_exports_of_earlier_versions_are_read(here: Path, form: str, added: list[str]) -> None:
    """They lack the columns that came later."""
    rows = exported(here / "here", here / "box.json")
    old = [{name: cell for name, cell in row.items() if name not in added} for row in rows]
    path = here / f"old.{form}"
    if form == "json":
        path.write_text(json.dumps(old))
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(old[0])
            for row in old:
                several = " ".join(map(repr, row.get("sample_seconds", [])))
                cells = row | ({"sample_seconds": several} if "sample_seconds" in row else {})
                writer.writerow(cells.values())
    expected = [row | ({"sample_seconds": []} if len(added) > 1 else {}) for row in rows]
    assert expected == export_table_reader.read(path)


def test_a_workbook_holds_times_under_the_same_settings(here: Path) -> None:
    """Those under others are left out and counted."""
    measured_under(here / "here", "OPENBLAS_CORETYPE=Haswell", "")
    path = here / "box.xlsx"
    given_ = ["--machine", "box", "--results", str(here / "here")]
    status, _, err = deepbench("export", str(path), *given_)
    assert 0 == status
    assert "left out: 1 times measured under OPENBLAS_CORETYPE=Haswell" in err
    rows = export_table_reader.read(path)
    assert rows is not None
    assert 11 == len(rows)
    assert {"", "none"} == {row["settings"] for row in rows}


def test_an_import_leaves_out_unsteady_times(here: Path) -> None:
    """The reason is found from raw seconds, which a table has not; those of published times from
    the peaks, which are known there too."""
    path = here / "box.json"
    exported(here / "here", path)
    rows = json.loads(path.read_text())
    rows[0]["unsteady"] = "yardstick off: 2.1 times"
    path.write_text(json.dumps(rows))
    status, out, err = deepbench("import", str(path), "--results", str(here / "there"))
    wanted = f"{path}: unsteady times, left out: 1; measure them again before an export\n"
    assert (0, wanted) == (status, err)
    assert f"{len(rows) - 1} times of box" in out
    assert len(rows) - 1 == len(exported(here / "there", here / "again.json"))


def test_an_import_says_which_settings_it_does_not_keep(here: Path) -> None:
    """An imported result has no records, which hold them."""
    measured_under(here / "here", "OPENBLAS_CORETYPE=Haswell", "")
    path = here / "box.csv"
    exported(here / "here", path)
    status, _, err = deepbench("import", str(path), "--results", str(here / "there"))
    assert 0 == status
    assert "1 times were measured under OPENBLAS_CORETYPE=Haswell: imported they count as" in err
