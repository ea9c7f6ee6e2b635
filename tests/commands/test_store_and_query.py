"""`deepbench store` and `deepbench query`, as they are used."""

import json
import shutil
from pathlib import Path

import pytest
from command import deepbench

from deepbench_ops.analysis import parquet_store

RESULTS = Path(__file__).resolve().parents[2] / "results"
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


def test_a_folder_without_results_is_one_line(tmp_path):
    """Nothing is built of nothing."""
    (tmp_path / "results").mkdir()
    status, _, err = deepbench("store", "build", "--results", str(tmp_path / "results"))
    assert 3 == status
    assert "no results" in err
