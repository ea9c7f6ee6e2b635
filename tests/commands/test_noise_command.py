"""`deepbench noise`: the smallest change that a machine resolves, and advice."""

import json
import math
import sys

import numpy as np
import pytest
import simulated_rounds
from click.testing import CliRunner
from command import deepbench

pytest.importorskip("asv", reason="releases are installed by asv's means")
from deepbench_ops.commands.noise import noise
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import noise_advice
from deepbench_ops.measure import blas_cost, core_latency, ensemble_sweeps
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import worker_launch

BISECT = ["bisect", "n100000", "numpy-1.26.4..numpy-2.4.6"]
CALM = {"governor": "performance", "boost": "0", "smt": "0"}


@pytest.fixture(autouse=True)
def no_turbo(tmp_path, monkeypatch):
    """The file of Intel's driver, which is not there at first."""
    path = tmp_path / "no_turbo"
    monkeypatch.setattr(noise_advice, "NO_TURBO", path)
    return path


def test_a_calm_machine_gets_no_advice():
    assert [] == noise_advice.advice(CALM, 0.1, 0.0)
    assert [] == noise_advice.advice(CALM, 0.1, None)


@pytest.mark.parametrize(
    ("changed", "load", "stolen", "word"),
    [
        ({"governor": "powersave"}, 0.0, 0.0, "'powersave'"),
        ({"governor": ""}, 0.0, 0.0, "virtual"),
        ({"boost": "1"}, 0.0, 0.0, "Turbo"),
        ({"smt": "1"}, 0.0, 0.0, "hardware threads"),
        ({}, 2.5, 0.0, "2.5 processes"),
        ({}, 0.0, 0.07, "7%"),
    ],
)
def test_every_fault_has_its_line(changed, load, stolen, word):
    """One line each, naming the finding."""
    (line,) = noise_advice.advice({**CALM, **changed}, load, stolen)
    assert word in line


def test_turbo_under_the_driver_of_intel_has_its_own_remedy(no_turbo):
    """That driver has a file of the opposite meaning."""
    no_turbo.write_text("0\n")
    (line,) = noise_advice.advice({**CALM, "boost": ""}, 0.0, 0.0)
    assert line.endswith(f"echo 1 > {no_turbo}")
    no_turbo.write_text("1\n")
    assert [] == noise_advice.advice({**CALM, "boost": ""}, 0.0, 0.0)


def test_stolen_time_is_read_from_the_kernel(tmp_path):
    """Steal is the eighth figure; guests are counted in the first already."""
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 50 800 10 0 5 35 20 0\ncpu0 1 2 3\n")
    assert (35.0, 1000.0) == noise_advice.processor_time(stat)
    stat.write_text("intr 1 2 3\n")
    assert noise_advice.processor_time(stat) is None
    assert noise_advice.processor_time(tmp_path / "none") is None
    assert noise_advice.stolen_since(None) is None


def run(*arguments):
    return CliRunner().invoke(noise, list(arguments))


@pytest.fixture
def simulated(monkeypatch):
    """Rounds that scatter by one per cent for most kernels, by ten for one."""
    random = np.random.default_rng(3)

    def run_rounds(sides, tasks, rounds):
        first, second = sides.values()
        assert first == second
        return {task: [taken(sides, task) for _ in range(rounds)] for task in tasks}

    def taken(sides, task):
        noise = 0.1 if task.problem.startswith("m35") else 0.01
        return simulated_rounds.of_ratios(*sides, [math.exp(random.normal(0, noise))] * 20)

    monkeypatch.setattr(worker_launch, "launch", lambda release, *_: Launch(release.name))
    monkeypatch.setattr(ensemble_sweeps, "run_rounds", run_rounds)


def test_the_table_says_what_can_be_seen(simulated):
    """The noisy kernel needs more rounds, and is counted below the table."""
    done = run("--rounds", "8", "--format", "json")
    found = json.loads(done.output)
    noisy = found["kernels"]["m35_n700_k2048_NN"]
    quiet = found["kernels"]["m1760_n128_k1760_NN"]
    assert quiet["detectable"] < 0.05 < noisy["detectable"]
    assert any("cannot show 5% in 8 rounds" in line for line in found["advice"])
    printed = run("--problem", "m1760_n128_k1760_NN", "--rounds", "8").output
    assert "m1760_n128_k1760_NN" in printed
    assert "cannot show" not in printed


@pytest.mark.slow
def test_rounds_of_several_states_are_not_enough(monkeypatch):
    """Of four rounds two are near and two far: there is no figure, and the advice is more."""
    latencies = [200.0, 200.0, 500.0, 500.0]

    def run_rounds(sides, tasks, rounds):
        taken = [simulated_rounds.of_ratios(*sides, [1.0] * 20) for _ in range(rounds)]
        for each, latency in zip(taken, latencies, strict=True):
            each.latencies = [latency] * 3
        return dict.fromkeys(tasks, taken)

    monkeypatch.setattr(worker_launch, "launch", lambda release, *_: Launch(release.name))
    monkeypatch.setattr(ensemble_sweeps, "run_rounds", run_rounds)
    monkeypatch.setattr(blas_cost, "lines", lambda python: [])
    printed = run("--problem", "m1760_n128_k1760_NN", "--rounds", "4").output
    assert "1 of 1 kernels have fewer than 3 rounds in one state of the machine" in printed
    found = json.loads(
        run("--problem", "m1760_n128_k1760_NN", "--rounds", "4", "--format", "json").output
    )
    assert found["kernels"]["m1760_n128_k1760_NN"]["detectable"] is None


@pytest.mark.slow
def test_it_really_measures_a_release_against_itself(monkeypatch):
    """Five rounds of two live processes: with any load the interval holds 1, or nearly so.

    The ratio itself lies between 0.6 and 1.5 while four other processes compute.
    """
    here = Launch(sys.executable, {"DEEPBENCH_FRAMEWORK": "numpy"})
    monkeypatch.setattr(worker_launch, "launch", lambda *_: here)
    monkeypatch.setattr(core_latency.Reader, "read", lambda reader: None)
    done = run("--problem", "m35_n700_k2048_NN", "--rounds", "5", "--format", "json")
    (figures,) = json.loads(done.output)["kernels"].values()
    assert 5 == figures["rounds"]
    assert figures["low"] <= figures["ratio"] <= figures["high"]
    assert figures["low"] / 1.1 < 1 < 1.1 * figures["high"]


@pytest.mark.parametrize("arguments", [["numpy-9"], ["--problem", "m9"]])
def test_wrong_names_get_a_line(arguments):
    done = run(*arguments)
    assert isinstance(done.exception, DeepbenchError)
    assert arguments[-1] in str(done.exception)


def test_an_unknown_precision_is_answered_with_the_known_ones():
    """As in every command with this option."""
    done = run("--precision", "half")
    assert (2, True) == (done.exit_code, "'half' is not one of 'float32'" in done.output)


@pytest.mark.parametrize(
    "command", [["noise", "--problem", "n100000"], ["time", "n100000"], BISECT]
)
def test_a_kernel_of_several_processes_gets_the_command_that_times_it(command):
    """Nothing is installed before."""
    status, out, err = deepbench(*command)
    assert (2, "") == (status, out)
    advice = "deepbench collective all_reduce --elements N times it"
    assert [f"deepbench: error: all_reduce runs between processes: {advice}"] == err.splitlines()


ADAMW = "adamw_tensors1_1x10000000"


def test_the_first_operation_of_a_problem_is_measured(monkeypatch):
    """A family may have no forward pass."""
    asked = []

    def run_rounds(sides, tasks, rounds):
        asked.extend(tasks)
        return {task: [simulated_rounds.of_ratios(*sides, [1.0] * 20)] * rounds for task in tasks}

    monkeypatch.setattr(worker_launch, "launch", lambda release, *_: Launch(release.name))
    monkeypatch.setattr(ensemble_sweeps, "run_rounds", run_rounds)
    assert 0 == run("--problem", ADAMW, "--problem", "m1760_n128_k1760_NN").exit_code
    assert ["step", "forward"] == [task.operation for task in asked]


SPAN = "numpy-1.26.4..numpy-2.4.6"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["noise", "--precision", "mxfp4"], "gemm is not measured in mxfp4: choose one of float32"),
        (["bisect", "m35_n700_k2048_NN", SPAN, "--precision", "mxfp4"], "gemm is not measured in"),
        (["bisect", ADAMW, SPAN], "unknown optimizer_step operation 'forward'; known: step"),
    ],
)
def test_a_kernel_that_does_not_exist_is_refused_before_an_installation(
    arguments, line, monkeypatch
):
    monkeypatch.setattr(worker_launch, "launch", lambda *_: pytest.fail("installed"))
    status, _, err = deepbench(*arguments)
    assert 2 == status
    assert line in err.splitlines()[-1]
