"""Commands that date results read the release table of the results folder that they are given."""

import json
from datetime import date, timedelta

import pytest
from command import deepbench, make_project

pytest.importorskip("asv", reason="results are read by asv")

from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import measurement_files

MACHINE = "box"
KERNEL = "gemm.Training.kernel_forward"
PROBLEM = "m1760_n128_k1760_NN"
FIRST = date(2031, 1, 1)
NUMPY = [
    (Release("numpy", f"9.{n}.0", FIRST + timedelta(n)), 1e-3 if n < 6 else 2e-3) for n in range(12)
]
"""Releases that the package's table does not have, and their seconds: slower from 9.6.0 on."""
TORCH = [(Release("torch", "9.9.0", FIRST + timedelta(20)), 5e-4)]


@pytest.fixture
def results(tmp_path):
    """The results of a project with releases of its own, which no other table has."""
    make_project(tmp_path, dvcs="releases", repo="own.csv")
    rows = ["framework,version,date,pins,on_request,index"]
    folder = tmp_path / "results" / MACHINE
    folder.mkdir(parents=True)
    (folder / "machine.json").write_text(json.dumps({"machine": MACHINE, "version": 1}))
    for release, seconds in [*NUMPY, *TORCH]:
        rows.append(f"{release.framework},{release.version},{release.date},,no,")
        save(folder, release, seconds)
    (tmp_path / "own.csv").write_text("\n".join(rows) + "\n")
    return str(tmp_path / "results")


def save(folder, release, seconds):
    """Write a result with one kernel, of two processes that differ by a thousandth."""
    samples = [seconds * (1 + 0.0005 * step) for step in range(-3, 4)]
    row = [[seconds], [[f"'{PROBLEM}'"], ["'float32'"]], "1", 0, 1.0, [seconds], [seconds]]
    row += [[1], [1], [samples]]
    columns = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a"]
    columns += ["stats_ci_99_b", "stats_repeat", "stats_number", "samples"]
    name = f"{release.hash[:8]}-release-py3"
    stored = {
        "commit_hash": release.hash,
        "env_name": "release-py3",
        "date": 0,
        "params": {"machine": MACHINE},
        "python": "3",
        "requirements": {},
        "env_vars": {},
        "result_columns": columns,
        "results": {KERNEL: row},
        "durations": {},
        "version": 2,
    }
    (folder / f"{name}.json").write_text(json.dumps(stored))
    entry = {"benchmark": KERNEL, "params": [PROBLEM, "float32"], "yardstick": []}
    taken = [
        {**entry, "seconds": [seconds * off] * 3, "started_at": off, "fingerprint": "0"}
        for off in (0.9995, 1.0005)
    ]
    measurement_files.write(
        folder / f"{name}{measurement_files.SUFFIX}", {"0": {"cpu": "abacus"}}, taken
    )


def run(results, *arguments):
    status, out, err = deepbench(*arguments, "--results", results)
    return status, out + err


@pytest.mark.parametrize("more", [[], ["--since", "numpy-9.3.0"], ["--release", "numpy-9.6.0"]])
def test_verdict_finds_changes_between_releases_of_the_folders_own_table(results, more):
    status, said = run(results, "verdict", "--machine", MACHINE, "--format", "json", *more)
    (change,) = json.loads(said)["changes"]
    assert (3, "numpy-9.5.0", "numpy-9.6.0") == (status, change["before"], change["after"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["compare", f"{MACHINE}@numpy-9.0.0", f"{MACHINE}@numpy-9.11.0"], "box@numpy-9.11.0"),
        (["frameworks", "--machine", MACHINE, "--selection", "training"], "0.5"),
        (["fastest", "--selection", "training"], "torch-9.9.0"),
        (["fastest", "--selection", "training", "--as-of", "2031-01-03"], "numpy-9.2.0"),
        (["export", "--machine", MACHINE, "--format", "csv"], "numpy,9.11.0,2031-01-12"),
        (["unsteady", "numpy-9.4.0", "--machine", MACHINE], "0 of 1 points of numpy-9.4.0"),
    ],
)
def test_a_release_of_the_folders_own_table_has_its_name_and_day(
    results, arguments, expected, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    status, said = run(results, *arguments)
    assert (0, True) == (status, expected in said), said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["bisect", PROBLEM, "numpy-9.11.0..numpy-9.0.0"], "numpy-9.0.0..numpy-9.11.0"),
        (["noise", "numpy-9.12.0", "--problem", PROBLEM], "numpy-9.11.0"),
    ],
)
def test_commands_that_measure_know_the_releases_of_the_project(
    results, arguments, expected, tmp_path, monkeypatch
):
    """The message about a wrong name has the right one."""
    monkeypatch.chdir(tmp_path)
    status, _, err = deepbench(*arguments)
    assert (2, True) == (status, expected in err), err
