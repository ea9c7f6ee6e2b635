"""Records of measurements in a submission."""

from pathlib import Path

import pytest

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission_records

RECORD = {"benchmark": "gemm.Training.kernel_forward", "params": ["m1", "float32"]}
FACTS = {"d1": {"numpy": "2.2.6"}, "d2": {"numpy": "2.4.6"}}


def test_conditions_are_those_that_records_name():
    """Others of the same file are left out."""
    records = [{**RECORD, "fingerprint": "d1"}] * 2
    found = submission_records.conditions(Path("x.jsonl"), FACTS, records)
    assert {"d1": FACTS["d1"]} == found


@pytest.mark.parametrize("lost", [{}, {"fingerprint": "d3"}])
def test_a_measurement_without_its_conditions_is_named(lost):
    """It names none, or the line that holds them is gone: one line names file and kernel."""
    with pytest.raises(DeepbenchError, match=r"^x\.jsonl: the conditions .*kernel_forward\(m1"):
        submission_records.conditions(Path("x.jsonl"), FACTS, [{**RECORD, **lost}])
