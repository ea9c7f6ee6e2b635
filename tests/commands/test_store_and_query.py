"""`deepbench store` and `deepbench query`, as they are used."""

import csv
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from command import deepbench

from deepbench_ops.analysis import parquet_store

RESULTS = Path(__file__).resolve().parents[2] / "results"
GUIDE = RESULTS.with_name("docs") / "how-to" / "query_results.md"
MACHINE = "nvidia-m40"


@pytest.fixture
def here(tmp_path):
    """The options that name a folder of results of one machine, with a store next to it."""
    shutil.copytree(RESULTS / MACHINE, tmp_path / "results" / MACHINE)
    options = ("--results", str(tmp_path / "results"))
    status, out, err = deepbench("store", "build", *options)
    assert (0, "") == (status, err)
    assert f"times of 1 machines in {tmp_path / 'store'}, 1 of them made now" in out
    return options


def test_a_question_is_answered(here):
    """Rates are derived from FLOPs in the question itself, with one row for each time."""
    where = "WHERE problem = 'm1760_n128_k1760_NN' AND operation = 'forward'"
    joined = f"""SELECT seconds, flops / seconds AS rate FROM times
                 JOIN counts USING (family, problem, operation, precision) {where}"""
    status, out, err = deepbench("query", joined, "--format", "json", *here)
    assert (0, "") == (status, err)
    found = json.loads(out)
    _, out, _ = deepbench("query", f"SELECT * FROM times {where}", "--format", "json", *here)
    assert len(json.loads(out)) == len(found) > 0
    for row in found:
        assert pytest.approx(2 * 1760 * 128 * 1760 / row["seconds"]) == row["rate"]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DELETE FROM times", "DELETE is refused"),
        ("COPY times TO '{here}/copy.csv'", "COPY is refused"),
        ("ATTACH '{here}/other.db'", "ATTACH is refused"),
        ("SELECT 1; SELECT 2", "one statement instead of 2"),
        ("", "one statement instead of 0"),
        ("SELEC 1", "Parser Error"),
        ("SELECT * FROM nothing", "nothing does not exist"),
        ("SELECT * FROM read_csv('/etc/passwd')", "disabled by configuration"),
        ("SELECT * FROM '/etc/passwd'", "does not exist"),
        ("SELECT * FROM sql", "does not exist"),
    ],
)
def test_what_is_no_question_is_one_line(here, tmp_path, sql, said):
    """Nothing is changed or written, and no other file is read."""
    before = sorted(tmp_path.rglob("*"))
    status, out, err = deepbench("query", sql.format(here=tmp_path), *here)
    assert (2, "") == (status, out)
    assert said in err
    assert 1 == err.count("\n")
    assert before == sorted(tmp_path.rglob("*"))


def test_sums_and_decimals_are_numbers(here):
    """In each format; whole ones have no point."""
    sql = "SELECT sum(samples) AS total, 1.5 AS half, 2.0 AS two, 'x' AS text FROM times"
    _, out, _ = deepbench("query", "SELECT samples FROM times", "--format", "json", *here)
    total = sum(row["samples"] for row in json.loads(out))
    status, out, err = deepbench("query", sql, "--format", "json", *here)
    assert (0, "") == (status, err)
    assert [{"total": total, "half": 1.5, "two": 2, "text": "x"}] == json.loads(out)
    assert (
        f"total,half,two,text\n{total},1.5,2,x\n"
        == deepbench("query", sql, "--format", "csv", *here)[1]
    )
    assert [str(total), "1.5", "2", "x"] == deepbench("query", sql, *here)[1].split()[-4:]


VALUES = (
    ("DATE '2026-01-02'", "2026-01-02", "2026-01-02"),
    ("TIMESTAMP '2026-01-02 03:04:05.5'", "2026-01-02T03:04:05.500000", None),
    ("TIMESTAMP_S '2026-01-02 03:04:05'", "2026-01-02T03:04:05", None),
    ("TIME '03:04:05'", "03:04:05", None),
    ("TIME '24:00:00'", "24:00:00", None),
    ("[TIME '24:00:00']", "['24:00:00']", None),
    ("TIMESTAMPTZ '2026-01-02 03:04:05+00'", "2026-01-02T03:04:05+00:00", None),
    ("TIMESTAMP_NS '2026-01-02 03:04:05.000000001'", "2026-01-02 03:04:05.000000001", None),
    ("TIMETZ '03:04:05+02'", "03:04:05+02", None),
    ("INTERVAL '14 months 3 days 1.5 seconds'", "1 year 2 months 3 days 00:00:01.5", None),
    ("[INTERVAL '3 hours']", "['03:00:00']", None),
    ("{'day': 1::UTINYINT, 'bits': '101'::BIT}", "{'day': 1, 'bits': 101}", None),
    ("'ab\\xFF'::BLOB", "6162ff", None),
    ("'0b0c8c5e-7d0e-4f0e-9d43-000000000001'::UUID", "0b0c8c5e-7d0e-4f0e-9d43-000000000001", None),
    ("'101'::BIT", "101", None),
    ("'one'::ENUM ('one', 'two')", "one", None),
    ("[1, NULL, 2.5]", [1, None, 2.5], "[1, null, 2.5]"),
    ("{'a': DATE '2026-01-02', 'b': [1]}", {"a": "2026-01-02", "b": [1]}, None),
    ("MAP {'a': 1}", [["a", 1]], '[["a", 1]]'),
    ("[1, 2]::INTEGER[2]", [1, 2], "[1, 2]"),
    ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1, str(2**127 - 1)),
    ("-5::HUGEINT", -5, "-5"),
    ("12.50::DECIMAL(9, 2)", 12.5, "12.5"),
    ("true", True, "True"),
    ("NULL", None, "-"),
    ("'nan'::DOUBLE", None, "nan"),
    ("'-inf'::DOUBLE", None, "-inf"),
)
"""SQL of a value of each of DuckDB's types, the value as JSON, and as text where that differs."""


def test_values_of_every_type_are_printed(here):
    """As tables, CSV and JSON; numbers that are not finite are null in JSON."""
    sql = "SELECT " + ", ".join(f"{value} AS c{at}" for at, (value, *_) in enumerate(VALUES))
    status, out, err = deepbench("query", sql, "--format", "json", *here)
    assert (0, "") == (status, err)
    assert [value for _, value, _ in VALUES] == list(json.loads(out)[0].values())
    texts = [
        json.dumps(value) if text is None and not isinstance(value, str) else text or value
        for _, value, text in VALUES
    ]
    status, out, err = deepbench("query", sql, *here)
    assert (0, "") == (status, err)
    assert texts == re.split(r" {2,}", out.splitlines()[-1])
    status, out, err = deepbench("query", sql, "--format", "csv", *here)
    assert (0, "") == (status, err)
    row = next(csv.reader(out.splitlines()[1:]))
    assert ["" if text == "-" else text for text in texts] == row


@pytest.mark.parametrize("value", ["DATE '20000-01-01'", "TIMESTAMP '20000-01-01 00:00:00'"])
@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_value_that_cannot_be_printed_is_one_line(here, value, form):
    """It names the column and the mend, which works."""
    status, out, err = deepbench("query", f"SELECT {value} AS day", "--format", form, *here)
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert "column day has values" in err
    mend = f"SELECT CAST({value} AS VARCHAR) AS day"
    assert "20000-01-01" in deepbench("query", mend, "--format", form, *here)[1]


def test_columns_of_equal_names_are_kept(here):
    """With numbers behind their names."""
    sql = "SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a"
    _, out, _ = deepbench("query", sql, "--format", "csv", *here)
    assert "a,a_2,a_1,a_3\n1,2,3,4\n" == out
    _, out, _ = deepbench("query", sql, "--format", "json", *here)
    assert [{"a": 1, "a_2": 2, "a_1": 3, "a_3": 4}] == json.loads(out)
    joined = "SELECT a.seconds, b.seconds FROM times a JOIN times b USING (machine, number)"
    _, out, _ = deepbench("query", joined, "--format", "csv", *here)
    assert "seconds,seconds_1" == out.splitlines()[0]


def test_csv_without_a_row_has_the_names_of_its_columns(here):
    """So that a reader of the file finds them."""
    sql = "SELECT machine, seconds AS time FROM times WHERE false"
    assert (0, "machine,time\n", "") == deepbench("query", sql, "--format", "csv", *here)


def test_a_question_reads_each_file_once_for_its_checksum(here, monkeypatch):
    """However many tests of the files a question makes."""
    read = []
    checksum = parquet_store._checksum
    monkeypatch.setattr(
        parquet_store, "_checksum", lambda path: (read.append(path), checksum(path))[1]
    )
    assert 0 == deepbench("query", "SELECT 1", *here)[0]
    assert sorted(set(read)) == sorted(read) != []


def test_a_question_without_a_store_names_the_command_that_makes_one(tmp_path):
    """No empty answer."""
    (tmp_path / "results").mkdir()
    status, _, err = deepbench("query", "SELECT 1", "--results", str(tmp_path / "results"))
    assert 2 == status
    assert "deepbench store build" in err


def test_an_outdated_store_answers_and_says_so(here, tmp_path):
    """One line names the machines; the status is that of an answer that lacks something."""
    (tmp_path / "results" / MACHINE / "machine.profile").write_text("{}")
    status, out, err = deepbench("query", "SELECT count(*) AS n FROM times", *here)
    assert 1 == status
    assert f"the store is out of date for {MACHINE}: deepbench store build" in err
    assert out.split()[0] == "n"
    status, out, err = deepbench("store", "status", *here)
    assert 3 == status
    assert "out of date" in out
    assert 1 == err.count("\n")


def test_a_damaged_store_is_not_asked(here, tmp_path):
    """One flipped bit would give another number; the line names the command that mends it."""
    path = tmp_path / "store" / "times" / f"{MACHINE}.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    status, out, err = deepbench("query", "SELECT sum(seconds) FROM times", *here)
    assert (2, "", 1) == (status, out, err.count("\n"))
    assert f"is not whole for {MACHINE}: deepbench store build" in err
    deepbench("store", "build", *here)
    assert 0 == deepbench("query", "SELECT sum(seconds) FROM times", *here)[0]


def test_a_damaged_machine_is_left_out_and_named(tmp_path):
    """The others are answered; the status says that something is missing."""
    for machine in (MACHINE, "apple-iphone-7"):
        shutil.copytree(RESULTS / machine, tmp_path / "results" / machine)
    options = ("--results", str(tmp_path / "results"))
    deepbench("store", "build", *options)
    path = tmp_path / "store" / "samples" / f"{MACHINE}.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    status, out, err = deepbench("query", "SELECT DISTINCT machine FROM times", *options)
    assert (1, 1) == (status, err.count("\n"))
    assert f"is not whole for {MACHINE}: deepbench store build" in err
    assert ["machine", "apple-iphone-7"] == [line for line in out.split() if line.strip("-")]


@pytest.mark.slow
def test_the_questions_of_the_guide_are_answered(tmp_path):
    """Each has rows in the store of the project's results."""
    store = ("--store", str(tmp_path / "store"), "--results", str(RESULTS))
    assert 0 == deepbench("store", "build", *store)[0]
    blocks = re.findall(r"^```\n(.*?)^```", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in re.split(r"\n(?=deepbench)", block.strip())]
    questions = [asked for line in lines if (asked := shlex.split(line))[1] == "query"]
    tables = set(re.findall(r"(?:FROM|JOIN) (\w+)", str(questions)))
    assert {*parquet_store.TABLES} - {"samples"} == tables
    for _, *asked in questions:
        own = asked[:1] + [word for word in asked[1:] if " " in word]
        status, out, err = deepbench(*own, "--format", "json", *store)
        assert (0, "") == (status, err)
        assert json.loads(out)


def test_a_folder_without_results_is_one_line(tmp_path):
    """Nothing is built of nothing."""
    (tmp_path / "results").mkdir()
    status, _, err = deepbench("store", "build", "--results", str(tmp_path / "results"))
    assert 3 == status
    assert "no results" in err
