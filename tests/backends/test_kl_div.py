"""KL divergence: frameworks and passes; wrong kernels."""

import numpy as np
import pytest
from framework_table import ONNX, check_of_every_kernel, entries_agree, every_operation
from kernel_checks import accepted

from deepbench_ops.backends.families import kl_div as family
from deepbench_ops.problems.kl_div import KlDiv

PROBLEM = KlDiv(40, 140)

test_every_kernel_passes_its_check = check_of_every_kernel(every_operation(PROBLEM), without=ONNX)
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


def passes(drawn, turned=False, tokens=40, factor=family.LOSS_GRADIENT):
    """Return loss and gradient in float64, with mistakes if asked for."""
    x, t = np.float64(drawn["predicted"]), np.float64(drawn["wanted"])
    loss = np.exp(x) * (x - np.log(t)) if turned else t * (np.log(t) - x)
    return {"": np.array([loss.sum() / tokens])}, {"": -t * factor / tokens}


@pytest.mark.parametrize("mistake", [{}, {"turned": True}, {"tokens": 40 * 140}, {"factor": 1}])
def test_wrong_losses_are_caught(mistake):
    """The divergence the other way round, a mean over all entries, a lost factor are caught."""
    forward, backward = passes(family.inputs(PROBLEM, "float32"), **mistake)
    assert (not mistake or "factor" in mistake) == accepted(PROBLEM, "forward", forward)
    assert (not mistake or "turned" in mistake) == accepted(PROBLEM, "backward", backward)


def test_bytes_and_flops():
    """Twice 2 x 8 read, the loss written; backward one read and one written, and a factor."""
    problem = KlDiv(2, 8)
    assert (33 * 4, 33 * 4) == (problem.bytes("float32"), problem.bytes_of("float32", "backward"))
    assert (64, 16) == (problem.flops_of("forward"), problem.flops_of("backward"))
