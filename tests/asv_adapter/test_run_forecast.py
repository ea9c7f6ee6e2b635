"""Forecast of a run's seconds, and the question before a long run."""

import io
import sys
from collections import Counter

import pytest
from asv.util import UserError

from deepbench_ops.asv_adapter import run_forecast

LONG = (19_600, 1, 15.6 * 3600)
FORECAST = "19600 points of 1 release take about 15 h 36 min."


def record(release, precision, **spent):
    """One measured point of a matrix product; without `spent` one that was skipped."""
    entry = {"benchmark": "gemm.Training.kernel_forward", "params": ["m1", precision]}
    return {**entry, "release": release, **({"spent": spent} if spent else {"skipped": "why"})}


class Terminal(io.StringIO):
    """Where someone reads and answers."""

    def isatty(self):
        return True


@pytest.fixture
def answers(monkeypatch):
    """Has someone at a terminal give this answer."""

    def given(text):
        monkeypatch.setattr(sys, "stdin", Terminal(text))
        monkeypatch.setattr(sys, "stdout", Terminal())
        monkeypatch.delenv("DEEPBENCH_YES", raising=False)

    return given


@pytest.fixture
def logged(monkeypatch):
    """The lines that a test logs, each up to the selection that it suggests."""
    lines = []
    monkeypatch.setattr(
        run_forecast.log, "info", lambda line: lines.append(line.partition(" A selection")[0])
    )
    return lines


def test_points_cost_what_points_of_their_kind_did():
    """The mean over a framework's points of a family and precision, skipped ones among them; else
    over all frameworks'; else a usual one."""
    known = run_forecast.costs(
        [
            record(
                "torch-2.1.2", "float32", preparing=1.0, measuring=2.0, checking=0.5, kernel=9.0
            ),
            record("torch-2.1.2", "int8"),
            record("numpy-2.0.0", "float32", preparing=0.0, measuring=1.5, checking=0.0),
        ]
    )
    name = "gemm.InferenceServer.kernel_forward"

    def seconds(framework, precision, family=name):
        return run_forecast.forecast(Counter({(family, ("m2", precision)): 2}), framework, known)

    assert 2 * (3.5 + run_forecast.PROCESS_SECONDS) == seconds("torch", "float32")
    assert 2 * run_forecast.PROCESS_SECONDS == seconds("torch", "int8")
    assert 2 * (2.5 + run_forecast.PROCESS_SECONDS) == seconds("jax", "float32")
    assert 2 * run_forecast.POINT_SECONDS == seconds(
        "torch", "float32", "conv.Training.kernel_forward"
    )


def test_a_quick_run_does_not_cost_the_measuring():
    """Only preparing and checking count, and the process."""
    records = [record("torch-2.1.2", "float32", preparing=1.0, measuring=2.0, checking=0.5)]
    known = run_forecast.costs(records, quick=True)
    assert {1.5 + run_forecast.PROCESS_SECONDS} == set(known.values())


def test_no_one_to_ask_is_a_refusal(monkeypatch):
    """Without a terminal a long run ends in one line with a selection and the consent."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    monkeypatch.delenv("DEEPBENCH_YES", raising=False)
    with pytest.raises(UserError) as refused:
        run_forecast.demand_consent(*LONG)
    line = str(refused.value)
    assert line.startswith(FORECAST)
    assert '--bench "$(deepbench select headline --precision float32)"' in line
    assert line.endswith("DEEPBENCH_YES=1 measures them all")


def test_consent_by_a_variable(monkeypatch, logged):
    """With DEEPBENCH_YES=1 the forecast is logged and no one is asked."""
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setenv("DEEPBENCH_YES", "1")
    run_forecast.demand_consent(*LONG)
    assert [FORECAST] == logged


@pytest.mark.parametrize("text", ["n\n", "\n", ""])
def test_anything_but_yes_is_no(answers, text):
    """At a terminal the run begins after a yes alone."""
    answers(text)
    with pytest.raises(UserError) as refused:
        run_forecast.demand_consent(*LONG)
    assert "nothing was measured" == str(refused.value)


def test_yes_is_yes(answers, logged):
    """The answer y, below the forecast, starts the run."""
    answers("y\n")
    run_forecast.demand_consent(*LONG)
    assert [FORECAST] == logged
