"""Commands and pages that use rounds say where different records of one were sent."""

import copy
import shutil
from pathlib import Path

import pytest
from command import deepbench

from deepbench_ops.pages import machine_lines
from deepbench_ops.releases import table_location
from deepbench_ops.storage import ensemble_round_files, entry_conflict_files, measured_rounds

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE = "xeon-amx480-2core"
LINE = (
    f"{MACHINE}: 1 round with different numbers, one of each is used: deepbench conflicts --machine"
    f" {MACHINE} lists them"
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A machine with two records of a round."""
    results = tmp_path_factory.mktemp("results")
    shutil.copytree(RESULTS / MACHINE, results / MACHINE)
    path = ensemble_round_files.path_of(results / MACHINE, "onnxruntime")
    other = copy.deepcopy(ensemble_round_files.load(path).entries[0])
    for column in other["seconds"].values():
        column[0] = 1e-3
    measured_rounds.add(path, {}, [other])
    return results


@pytest.mark.parametrize("command", ["verdict", "frameworks"])
def test_the_command_says_so(results, command):
    """Once, on standard error, and not to a program."""
    options = ("--machine", MACHINE, "--results", str(results))
    _, out, err = deepbench(command, *options)
    assert [LINE] == [line for line in err.splitlines() if "different numbers" in line]
    assert "different numbers" not in out
    assert "different numbers" not in deepbench(command, *options, "--format", "json")[2]


def test_the_pages_say_so(results):
    """With other lines about results."""
    assert [LINE] == [
        line
        for line in machine_lines.read(results, table_location.load(results))[2]
        if "different numbers" in line
    ]


def test_a_damaged_file_of_conflicts_is_reported_and_the_command_answers(results, tmp_path):
    """It holds no time that the answer needs."""
    shutil.copytree(results, tmp_path / "results")
    path = tmp_path / "results" / MACHINE / entry_conflict_files.FILE
    path.write_bytes(path.read_bytes()[:-9])
    _, out, err = deepbench("verdict", "--machine", MACHINE, "--results", str(tmp_path / "results"))
    assert "lines of releases are long enough" in out
    assert str(path) in err
