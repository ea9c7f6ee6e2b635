"""Rounds of ensembles as lines of a file: nothing but digits is lost."""

import math

import pytest

from deepbench_ops.measure import ensemble_round_json, ensemble_sweeps
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.storage import ensemble_round_checks, ensemble_round_files, measured_rounds

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
