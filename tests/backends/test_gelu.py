"""GELU: frameworks, precisions and passes; wrong kernels; its slope."""

import numpy as np
import pytest
from framework_table import check_of_every_kernel, entries_agree, every_operation
from kernel_checks import accepted

from deepbench_ops.backends.families import gelu as family
from deepbench_ops.problems.gelu import Gelu

PROBLEM = Gelu(40, 140)

test_every_kernel_passes_its_check = check_of_every_kernel(every_operation(PROBLEM))
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


def exactly(x):
    """Return GELU of x in float64."""
    return x * family.distribution(x)


def by_tanh(x):
    """Return GELU's approximation by tanh."""
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


@pytest.mark.parametrize("precision", Gelu.precisions)
def test_other_functions_are_caught(precision):
    """SiLU and ReLU are no GELU; its approximation by tanh is caught above bfloat16."""
    x = np.float64(family.inputs(PROBLEM, precision)["x"])
    assert accepted(PROBLEM, "forward", {"": exactly(x)}, precision)
    for other in (x / (1 + np.exp(-x)), np.maximum(x, 0), x * family.distribution(1.702 * x)):
        assert not accepted(PROBLEM, "forward", {"": other}, precision)
    assert not accepted(PROBLEM, "forward", {"": by_tanh(x)}, precision)


def test_the_gradient_is_the_slope():
    """Differences of the output over small steps are accepted; half of them are not."""
    drawn = family.inputs(PROBLEM, "bfloat16")
    x, dy = (np.float64(drawn[name]) for name in ("x", "gradient"))
    slope = (exactly(x + 1e-5) - exactly(x - 1e-5)) / 2e-5
    assert accepted(PROBLEM, "backward", {"": dy * slope}, "bfloat16")
    assert not accepted(PROBLEM, "backward", {"": dy * slope / 2}, "bfloat16")


def test_bytes_and_flops():
    """Input and output of 2 x 8; 5 operations for each entry forward, 11 backward."""
    problem = Gelu(2, 8)
    assert (128, 96) == (problem.bytes("float32"), problem.bytes_of("bfloat16", "backward"))
    assert (80, 176) == (problem.flops_of("forward"), problem.flops_of("backward"))
