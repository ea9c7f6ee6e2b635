"""The figures of a training that are kept: the median of its steps with an interval."""

import pytest

from deepbench_ops.distributed.training import scaling_run
from deepbench_ops.distributed.training.training_request import TrainingRequest

REQUEST = TrainingRequest("mmoe", 8)


@pytest.mark.parametrize("steps", [[0.3], [0.3, 0.1, 0.2]])
def test_few_steps_have_no_interval(steps):
    """The smallest and largest of three hold the median in three of four cases alone."""
    found = scaling_run.of(REQUEST, 2, steps)
    assert (None, None, len(steps)) == (found["low"], found["high"], found["steps"])


def test_the_interval_of_some_steps_reaches_beyond_them():
    """Five values around 0.2 s: the interval of 99 % is wider than they lie apart."""
    found = scaling_run.of(REQUEST, 2, [0.19, 0.195, 0.2, 0.205, 0.21])
    assert found["low"] < 0.19 < found["step_seconds"] < 0.21 < found["high"]
