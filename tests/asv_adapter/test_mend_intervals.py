"""The script that replaces impossible intervals in stored results."""

import json

import mend_intervals
import pytest
from asv.results import Results
from asv.runner import BenchmarkResult

from deepbench_ops.asv_adapter import private_result_fields, result_merging

NAME = "gemm.Training.kernel_forward"
BENCHMARK = {"name": NAME, "version": "1", "params": [["'a'", "'b'", "'c'"], ["'float32'"]]}
SAMPLES = [[1.0, 3.0], [2.0, 2.1, 2.2, 2.3, 2.4], None]


def stored(folder, second=(2.05, 2.35)):
    """A result as asv alone writes it: a point of two samples, one of five, and a skipped one;
    `second`: the bounds of the second."""
    results = Results({"machine": "m"}, {}, "0" * 40, 0, "3", "release-py3", {})
    answer = BenchmarkResult(
        result=[True, True, float("nan")],
        samples=SAMPLES,
        number=[1, 1, None],
        errcode=0,
        stderr="",
        profile=None,
    )
    results.add_result(BENCHMARK, answer, record_samples=True)
    results.save(str(folder))
    path = folder / "m" / "00000000-release-py3.json"
    content = json.loads(path.read_text())
    for title, bounds in zip(
        mend_intervals.COLUMNS, zip((-60.0, 64.0), second, strict=True), strict=True
    ):
        content["results"][NAME][content["result_columns"].index(title)][:2] = bounds
    path.write_text(json.dumps(content))
    return path


def columns(path):
    """The columns of the benchmark, by title."""
    content = json.loads(path.read_text())
    return dict(zip(content["result_columns"], content["results"][NAME], strict=False))


def mended(folder, monkeypatch):
    """Run the script on a results folder, and return its status."""
    monkeypatch.setattr("sys.argv", ["mend_intervals.py", "--results", str(folder)])
    return mend_intervals.main()


def test_impossible_intervals_alone_are_replaced(tmp_path, monkeypatch, capsys):
    """Every other interval, value and sample stays, and a second call writes nothing."""
    path = stored(tmp_path)
    before = columns(path)
    assert 0 == mended(tmp_path, monkeypatch)
    assert "m: 1 intervals in 1 files\n" == capsys.readouterr().out
    after = columns(path)
    widest = result_merging.WIDEST
    assert [2 / widest, 2.05, None] == after.pop("stats_ci_99_a")
    assert [2 * widest, 2.35, None] == after.pop("stats_ci_99_b")
    assert str(after) == str({title: before[title] for title in after})
    state = path.stat()
    assert 0 == mended(tmp_path, monkeypatch)
    assert (state.st_ino, state.st_mtime_ns) == (path.stat().st_ino, path.stat().st_mtime_ns)


def test_a_file_in_which_more_would_change_stays(tmp_path, monkeypatch, capsys):
    """One line names it, and the status is 1."""
    path = stored(tmp_path)
    before = path.read_bytes()
    write = mend_intervals.result_files.write

    def write_another(path, results):
        private_result_fields.of(results).values[NAME][0] = 7.0
        write(path, results)

    monkeypatch.setattr(mend_intervals.result_files, "write", write_another)
    assert 1 == mended(tmp_path, monkeypatch)
    assert "more than intervals would change" in capsys.readouterr().err
    assert before == path.read_bytes()
    assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize("bounds", [(0.0, 4.0), (-1.0, 4.0), (1.0, None)])
def test_what_cannot_be_right_is_found(tmp_path, monkeypatch, bounds):
    """Bounds at or below zero, and a missing one."""
    path = stored(tmp_path, bounds)
    assert 0 == mended(tmp_path, monkeypatch)
    after = columns(path)
    assert 0 < after["stats_ci_99_a"][1] <= 2.2 <= after["stats_ci_99_b"][1] < 10
