"""Files that commands are given: cut, endless, or no files at all."""

import os
from pathlib import Path

import pytest
from command import deepbench
from example_logs import GEMM, output

from deepbench_ops.exchange import program_logs

ROW = "1760 16 1760 0 0 float 137.34"


@pytest.mark.parametrize("digits", range(1, 6))
def test_a_number_that_is_cut_at_the_end_of_a_log_is_listed(digits: int) -> None:
    """It may be the beginning of a longer one; the rows above are read."""
    text = output(GEMM, ROW, ROW[: len(ROW) - len("137.34") + digits])
    timings, unread = program_logs.read_file(text)
    assert [137.34e-6] == [timing.seconds for timing in timings]
    assert [True] == ["ends without a newline" in each.reason for each in unread]


def test_a_log_that_ends_with_its_line_is_read_whole() -> None:
    timings, unread = program_logs.read_file(output(GEMM, ROW, ROW) + "\n")
    assert (2, []) == (len(timings), unread)


def test_a_log_of_one_cut_line_is_refused(tmp_path: Path) -> None:
    """With the line and the reason."""
    path = tmp_path / "gemm.log"
    path.write_text(output(GEMM, ROW)[:-3])
    given = ["--machine", "box", "--date", "2026-11-21", "--results", str(tmp_path / "results")]
    status, _, err = deepbench("import", str(path), *given)
    assert 2 == status
    assert "ends without a newline" in err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("kind", ["zero", "pipe", "folder"])
def test_what_is_no_file_is_refused_unread(tmp_path: Path, kind: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = {"zero": Path("/dev/zero"), "pipe": pipe, "folder": tmp_path}[kind]
    given = ["--machine", "box", "--date", "2026-11-21", "--results", str(tmp_path / "results")]
    status, _, err = deepbench("import", str(path), *given)
    assert 2 == status
    assert f"{path}: a " in err and "give a file" in err


@pytest.mark.parametrize(
    "name",
    ["a-b.json", "a.measurements.jsonl", "machine.json", "machine.profile", "model_runs.jsonl"],
)
def test_a_device_among_the_results_is_refused_unread(tmp_path: Path, name: str) -> None:
    """Commands name it; none fills the memory with it."""
    machine = tmp_path / "box"
    machine.mkdir()
    (machine / "machine.json").write_text('{"machine": "box", "version": 1}')
    (machine / name).unlink(missing_ok=True)
    (machine / name).symlink_to("/dev/zero")
    given = ["--machine", "box", "--results", str(tmp_path)]
    from deepbench_ops.asv_adapter import damaged_file_search

    assert [True] == [
        "/dev/zero" in line or name in line for line in damaged_file_search.find(tmp_path)
    ]
    status, _, err = deepbench("submit", str(tmp_path / "sent.json"), *given)
    assert 2 == status
    assert "Traceback" not in err


def test_an_entry_of_a_machine_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    """A device, and brackets without end, among the results: `asv run` and config go on."""
    from deepbench_ops.asv_adapter import machine_entry

    path = tmp_path / "box" / "machine.json"
    path.parent.mkdir()
    path.symlink_to("/dev/zero")
    assert {} == machine_entry.of_results(tmp_path, "box")
    path.unlink()
    path.write_text("[" * 100_000)
    assert {} == machine_entry.of_results(tmp_path, "box")


def test_a_release_table_and_a_configuration_that_are_devices_are_refused(tmp_path: Path) -> None:
    from deepbench_ops.asv_adapter import configuration_check
    from deepbench_ops.errors import DeepbenchError
    from deepbench_ops.releases import release_table

    for load in (configuration_check.load, release_table.load):
        with pytest.raises(DeepbenchError, match="a device"):
            load(Path("/dev/zero"))
