"""Lines that commands which measure print before they do."""

import pytest

pytest.importorskip("asv", reason="asv run is patched")
from deepbench_ops.asv_adapter import machine_command, run_command, socket_path
from deepbench_ops.commands import options
from deepbench_ops.measure import processor_quota


@pytest.fixture
def half_a_processor(tmp_path, monkeypatch):
    """A control group that may use half of a processor's time."""
    (tmp_path / "own").write_text("0::/\n")
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    monkeypatch.setattr(processor_quota, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(processor_quota, "GROUPS", tmp_path)


def test_a_command_names_a_limit_of_processor_time(half_a_processor, monkeypatch, capsys):
    """On standard error, with the remedy."""
    monkeypatch.setenv("DEEPBENCH_THREADS", "2")
    options.say_settings()
    said = capsys.readouterr()
    assert "2 threads" in said.err and "0.5 processors" in said.err and "" == said.out


def test_asv_run_names_a_limit_of_processor_time(half_a_processor, monkeypatch):
    """As a warning of asv's log, before anything is measured."""
    said: list[str] = []
    monkeypatch.setenv("DEEPBENCH_THREADS", "2")
    monkeypatch.setattr(run_command.log, "warning", said.append)
    monkeypatch.setattr(run_command, "without_readings", lambda conf, machine: [])
    monkeypatch.setattr(socket_path, "demand_short", lambda conf, method: None)
    monkeypatch.setattr(machine_command, "demand_same_machine", lambda conf, machine: None)
    run_command._prepare(None, {})
    assert "0.5 processors" in said[-1]
