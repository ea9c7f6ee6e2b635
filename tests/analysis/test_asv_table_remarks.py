"""Below the tables of `asv compare` and `asv show` a line counts the rows to leave out."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from deepbench_ops.analysis import point_reading
from deepbench_ops.asv_adapter import asv_api, plugin, release_tables
from deepbench_ops.cli import cli as deepbench
from deepbench_ops.measure.fingerprint import SETTINGS, THREADS
from deepbench_ops.releases import release_table
from deepbench_ops.storage import facts_digest, measurement_files

RESULTS = Path(__file__).resolve().parents[2] / "results"
MACHINE, OLD, NEW = "epyc-7003-2core", "torch-2.1.2", "torch-2.5.1"
TABLE = {release.hash: release for release in release_table.load()}
KERNEL = "gemm.InferenceServer.kernel_forward", ["m35_n700_k2048_NN", "float32"]


@pytest.fixture
def conf(tmp_path):
    """A project with the stored results of two releases on a machine."""
    plugin.install()
    results = tmp_path / "results"
    (results / MACHINE).mkdir(parents=True)
    shutil.copy(RESULTS / "benchmarks.json", results)
    hashes = tuple(release.hash[:8] for release in TABLE.values() if release.name in (OLD, NEW))
    for path in (RESULTS / MACHINE).iterdir():
        if path.name.startswith((*hashes, "machine.")):
            shutil.copy(path, results / MACHINE)
    table = tmp_path / "releases.csv"
    shutil.copy(release_table.TABLE, table)
    text = {"project": "p", "dvcs": "releases", "repo": str(table), "branches": ["torch"]}
    folders = {"results_dir": str(results), "html_dir": str(tmp_path / "html")}
    return asv_api.configuration({**text, **folders, "env_dir": str(tmp_path / "env")})


@pytest.fixture
def lines(monkeypatch):
    """The lines that asv logs as warnings."""
    found = []
    monkeypatch.setattr(release_tables.log, "warning", found.append)
    return found


def compared(conf, capsys):
    """Compare the two releases, and return the table."""
    asv_api.compare(conf, OLD, NEW, MACHINE)
    table = capsys.readouterr().out
    assert "m35_n700_k2048_NN" in table
    return table


def change(conf, name, kernels, facts=lambda facts: facts, slower=1.0):
    """Change the facts, and the readings of the yardstick, of some records of a release."""
    folder = Path(conf.results_dir) / MACHINE
    (commit,) = [commit for commit, release in TABLE.items() if release.name == name]
    (path,) = [p for p in measurement_files.paths(folder) if p.name.startswith(commit[:8])]
    known, entries = measurement_files.load(path)
    for entry in entries:
        chosen = kernels is None or [entry["benchmark"], *entry["params"]] in kernels
        if chosen and "skipped" not in entry:
            new = facts(known[entry["fingerprint"]])
            entry["fingerprint"] = facts_digest.digest(new)
            known[entry["fingerprint"]] = new
            entry["yardstick"] = [slower * each for each in entry["yardstick"]]
    measurement_files.write(path, known, entries)


def stored(conf):
    """The points of both releases."""
    found = point_reading.load(Path(conf.results_dir), MACHINE, TABLE)
    return {name: [each for each in found if each.release.name == name] for name in (OLD, NEW)}


def test_steady_times_of_the_same_settings_need_no_remark(conf, lines, capsys):
    """The committed ones of this machine are: their settings were not recorded."""
    assert not any(point.unsteady for side in stored(conf).values() for point in side)
    compared(conf, capsys)
    asv_api.show(conf, OLD)
    assert [] == lines


def test_times_of_other_settings_are_counted_below_the_table(conf, lines, capsys):
    """With the command that leaves them out, which does."""
    for name, setting in ((OLD, ""), (NEW, "OPENBLAS_CORETYPE=Haswell")):
        change(conf, name, None, lambda facts, own=setting: {**facts, SETTINGS: own})
    count = len({each.kernel for each in stored(conf)[OLD]})
    compared(conf, capsys)
    command = f"deepbench compare {MACHINE}@{OLD} {MACHINE}@{NEW}"
    both = f"of {count} kernels that both releases have"
    expected = f"{both}, the external settings of {count} differ: {command} leaves them out"
    assert [expected] == lines
    asked = [*command.split()[1:], "--results", conf.results_dir]
    answer = CliRunner().invoke(deepbench, asked)
    assert "no kernel in common" in str(answer.exception)


def test_times_on_other_threads_are_counted_below_the_table(conf, lines, capsys):
    """Apart from those in other states of the machine."""
    for name, threads in ((OLD, "1"), (NEW, "2")):
        change(conf, name, None, lambda facts, own=threads: {**facts, THREADS: own})
    count = len({each.kernel for each in stored(conf)[OLD]})
    compared(conf, capsys)
    both = f"of {count} kernels that both releases have"
    expected = f"{both}, {count} were measured on unequal numbers of threads"
    assert lines.pop().startswith(f"{expected}: deepbench compare")


def test_unsteady_times_are_counted_below_the_table(conf, lines, capsys):
    """Of `asv compare` and of `asv show`, which names the command that lists them."""
    change(conf, OLD, [[KERNEL[0], *KERNEL[1]]], slower=5.0)
    pairs = len(stored(conf)[OLD])
    compared(conf, capsys)
    expected = f"of {pairs} kernels that both releases have, 1 time is unsteady (1 yardstick off)"
    assert lines.pop().startswith(f"{expected}: deepbench compare")
    asv_api.show(conf, OLD)
    expected = f"1 of {pairs} times of {OLD} on {MACHINE} is unsteady (1 yardstick off)"
    assert [f"{expected}: deepbench unsteady {OLD} --machine {MACHINE} lists them"] == lines


def test_durations_and_lists_of_releases_have_no_remark(conf, lines):
    """No time is shown there."""
    change(conf, OLD, [[KERNEL[0], *KERNEL[1]]], slower=5.0)
    asv_api.show(conf)
    asv_api.show(conf, OLD, durations=True)
    assert [] == lines


def test_damaged_records_are_one_line_below_the_table(conf, lines, capsys):
    """The table is asv's, and stays."""
    (path, *_) = measurement_files.paths(Path(conf.results_dir) / MACHINE)
    path.write_bytes(b"{")
    compared(conf, capsys)
    assert 1 == len(lines)
    assert path.name in lines[0]
