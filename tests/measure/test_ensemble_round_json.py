"""Rounds of ensembles as lines of a file: nothing but digits is lost."""

import ast
import json
import math

import known_workers
import pytest

from deepbench_ops.measure import benchmark_versions, ensemble_round_json, ensemble_sweeps
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.storage import ensemble_round_checks, ensemble_round_files, measured_rounds
from deepbench_ops.suite import model as suite_model

TASK = KernelIdentity("gemm", "m35_n700_k2048_NN", "float32")

ROUND = Round(
    sweeps=[{"a": 1.0, "b": 2.0}, {"a": 1.25, "c": 4.0}],
    reasons={"d": "Unsupported: not here"},
    latencies=[250.0, 251.5],
    sweep_latencies=[(250.0, 270.5), (270.5, 251.5)],
    id="1795284171506-3",
    anchor="a",
    started_at=1795284171.506,
    ended_at=1795284175.0,
    yardstick=[0.5, 0.25],
    yardstick_kind="compute",
    nominal=0.5,
    calibration="by a nominal reading of an unrecorded state; now near",
    nominals=[0.5, None],
    remarks=["", "raw seconds"],
    calls={"a": 3, "b": 2, "c": 1},
    facts={"a": {"threads": "2"}, "b": {"threads": "2"}, "c": {"threads": "2", "x": "y"}},
    notes={"a": {"route": "np.matmul"}},
    implementations={"a": "SkylakeX"},
    conditions={"layout": "channels_last"},
)


def test_a_round_comes_back(tmp_path):
    """Blocks, yardstick, conditions and reasons, from a file."""
    path = ensemble_round_files.path_of(tmp_path / "m", "numpy")
    facts, entry = ensemble_round_json.entry_of(TASK, ROUND)
    ensemble_round_checks.check(entry)
    measured_rounds.add(path, facts, [entry])
    assert {TASK: [ROUND]} == ensemble_round_json.load(path)


def test_equal_conditions_are_stored_once(tmp_path):
    """Two of the three releases share their fingerprint; notes are stored in the same way."""
    facts, _ = ensemble_round_json.entry_of(TASK, ROUND)
    assert 3 == len(facts)


def test_a_round_without_a_yardstick_says_nothing_of_one():
    """The line has no such field, and the round none when it is read."""
    _, entry = ensemble_round_json.entry_of(
        TASK, Round([{"a": 1.0, "b": 1.5}], id="1-0", anchor="a")
    )
    ensemble_round_checks.check(entry)
    assert "yardstick" not in entry
    assert not ensemble_round_json.round_of(entry, {}).has_yardstick


def test_seconds_keep_five_digits():
    """The rest is far below the noise of a slice."""
    taken = Round([{"a": 0.123456789, "b": 1.0}], yardstick=[math.nan], id="1-0", anchor="a")
    _, entry = ensemble_round_json.entry_of(TASK, taken)
    assert [0.12346] == entry["seconds"]["a"]


@pytest.mark.parametrize("version", ["0", "99"])
def test_rounds_of_another_way_of_measuring_are_left_out(version):
    """They stay in the file, and are not combined with those of today."""
    facts, entry = ensemble_round_json.entry_of(TASK, ROUND)
    entry["version"] = version
    assert version != ensemble_sweeps.VERSION
    assert {} == ensemble_round_json.by_kernel(ensemble_round_files.RoundsFile(facts, [entry]))


@pytest.fixture
def versions():
    """Versions of benchmarks are looked up again, before and after."""
    for found in (benchmark_versions.now, benchmark_versions.unrecorded):
        found.cache_clear()
    yield
    for found in (benchmark_versions.now, benchmark_versions.unrecorded):
        found.cache_clear()


@pytest.mark.parametrize("recorded", [True, False])
def test_rounds_of_other_measured_work_are_left_out(monkeypatch, versions, recorded):
    """A raised version of the benchmark leaves out the rounds of the earlier one, also those that
    were measured before rounds had a version; all of them count until then."""
    facts, entry = ensemble_round_json.entry_of(TASK, ROUND)
    assert "1" == entry["benchmark_version"]
    if not recorded:
        del entry["benchmark_version"]
    stored = ensemble_round_files.RoundsFile(facts, [entry])
    assert {TASK: [ROUND]} == ensemble_round_json.by_kernel(stored)
    monkeypatch.setattr(Gemm, "benchmark_version", "2")
    benchmark_versions.now.cache_clear()
    assert {} == ensemble_round_json.by_kernel(stored)
    _, renewed = ensemble_round_json.entry_of(TASK, ROUND)
    assert [ROUND] == ensemble_round_json.by_kernel(
        ensemble_round_files.RoundsFile(facts, [renewed])
    )[TASK]


def test_versions_are_those_of_the_suite():
    """Of all its kernels."""
    suite = json.loads(known_workers.COMMITTED.read_text())
    del suite["version"]
    for name, benchmark in suite.items():
        family, _, operation = name.replace("kernel_", "").split(".")
        for problem in map(ast.literal_eval, benchmark["params"][0]):
            task = KernelIdentity(family, problem, "float32", operation)
            assert benchmark["version"] == benchmark_versions.now(task)


def test_operations_alone_have_a_version_of_their_own():
    """That of asv's benchmarks too; rounds of the earlier ones, which timed other operations, are
    left out."""
    for kind, problem, step in (
        (suite_model.Training, "resnet34_b32", "training_step"),
        (suite_model.InferenceServer, "resnet34_b32", "forward"),
        (suite_model.Modern, "llama_1b_4layers_128_b1", "training_step"),
    ):
        alone = f"{step}_operations"
        task = KernelIdentity("model", problem, "float32", alone)
        assert "3" == benchmark_versions.now(task) != benchmark_versions.unrecorded(task)
        assert "3" == getattr(kind, f"kernel_{alone}").version
        assert not hasattr(getattr(kind, f"kernel_{step}"), "version")


@pytest.mark.parametrize(
    ("family", "problem", "operation", "version"),
    [
        ("axpy_of_another", "n5", "forward", "1"),
        ("gemm", TASK.problem, "first_call", "1"),
        ("model", "resnet34_b32", "training_step_operations", "2"),
        ("model", "resnet34_b32", "forward", "1"),
        ("model", "llama_1b_4layers_128_b1", "training_step", "1"),
    ],
)
def test_rounds_without_a_version_have_that_of_their_time(family, problem, operation, version):
    """Of a family that is not installed here, the first one."""
    task = KernelIdentity(family, problem, "float32", operation)
    assert version == benchmark_versions.unrecorded(task)
