"""Tables that asv prints, and its messages about torn files."""

import pytest
from asv import results

from deepbench_ops.asv_adapter import asv_result_tables, damaged_file_search
from deepbench_ops.storage import measurement_files

BENCHMARK = {
    "params": [["'small'", "'large'", "'huge'"], ["'float32'", "'int8'"]],
    "param_names": ["problem", "precision"],
    "unit": "seconds",
}


@pytest.mark.parametrize("width", [20, 200])
def test_rows_without_a_time_are_left_out(width):
    """Only problems with a time are printed, in the long form and in the folded one."""
    nan = float("nan")
    values = [(0.002, 0.0001), (nan, None), (nan, None), (nan, None), (None, None), (3.5, 0.1)]
    table = asv_result_tables.without_gaps(results._format_benchmark_result)
    text = "\n".join(table(values, BENCHMARK, max_width=width))
    assert "small" in text
    assert "huge" in text
    assert "large" not in text
    assert "without a measured value" in text


def test_a_full_table_is_left_alone():
    """Nothing is dropped or added where every point has a time."""
    values = [(0.002, 0.0001)] * 6
    table = asv_result_tables.without_gaps(results._format_benchmark_result)
    expected = results._format_benchmark_result(values, BENCHMARK, max_width=200)
    assert expected == table(values, BENCHMARK, max_width=200)


def test_torn_files_are_found(tmp_path):
    """A truncated result and a truncated record are both named; whole files are not."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "machine.json").write_text('{"machine": "m", "version": 1}')
    torn = tmp_path / "m" / "torn.json"
    torn.write_text('{"results": {')
    records = tmp_path / "m" / f"torn{measurement_files.PLAIN}"
    records.write_text('{"benchmark": "gem')
    lines = damaged_file_search.find(tmp_path)
    assert len(lines) == 2
    assert str(torn) in lines[0]
    assert str(records) in lines[1]


def test_records_that_were_torn_after_they_were_read_are_found(tmp_path):
    """Nothing is read twice that stayed as it was."""
    (tmp_path / "m").mkdir()
    records = tmp_path / "m" / f"m{measurement_files.PLAIN}"
    records.write_text('{"benchmark": "gemm", "params": [], "skipped": "too large"}\n')
    measurement_files.load(records)
    assert [] == damaged_file_search.find(tmp_path)
    records.write_text('{"benchmark": "gemm", "skipped": "too large"}\n')
    (line,) = damaged_file_search.find(tmp_path)
    assert "line 1 is not a measurement" in line


def test_no_results_are_no_fault(tmp_path):
    """A folder that does not exist yet has nothing broken in it."""
    assert damaged_file_search.find(tmp_path / "none") == []
