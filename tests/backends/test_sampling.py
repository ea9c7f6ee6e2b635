"""Top-p sampling: frameworks; columns outside of the likely ones; how often each is drawn."""

import numpy as np
import pytest
from framework_table import ONNX, check_of_every_kernel, every_operation
from installed_frameworks import loaded, skip_without
from kernel_checks import accepted

from deepbench_ops import backends
from deepbench_ops.backends.families import sampling as family
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.sampling import Sampling

PROBLEM = Sampling(64, 131, 0.95)


test_every_kernel_passes_its_check = check_of_every_kernel(every_operation(PROBLEM), without=ONNX)


def test_wrong_columns_are_caught():
    """The least likely column, one out of the row, and one drawn from all of the row are caught."""
    shares = family.inputs(PROBLEM, "float32")["probabilities"]

    def right(columns):
        return accepted(PROBLEM, "forward", {"": family.likelier(shares, columns)})

    assert right(shares.argmax(axis=1))
    assert not right(shares.argmin(axis=1))
    assert not right(np.full(PROBLEM.batch, -1))
    assert not right(np.full(PROBLEM.batch, PROBLEM.columns))
    drawn = np.random.default_rng(0).random((PROBLEM.batch, 1))
    assert not right((np.cumsum(shares, axis=1) > drawn).argmax(axis=1))


@pytest.mark.parametrize("name", backends.NAMES)
def test_columns_are_drawn_as_often_as_they_are_likely(name, monkeypatch):
    """Of 4000 equal rows as many have each column as its share of the likely ones says."""
    row = np.float32([0.02, 0.4, 0.03, 0.3, 0.25])
    monkeypatch.setattr(family, "likelier", lambda shares, columns: np.float64(columns).ravel())
    problem = Sampling(4000, 5, 0.9)
    monkeypatch.setattr(
        family,
        "inputs",
        lambda *given: family.Operands({"probabilities": lambda: np.tile(row, (4000, 1))}, {}),
    )
    backend = loaded(name)
    skip_without(backend, Sampling.family)
    kernel = backend.build(problem, "float32")
    kernel.reset()
    kernel.run()
    counts = np.bincount(kernel.result().astype(int), minlength=5)
    wanted = 4000 * np.array([0, 0.4, 0, 0.3, 0.25]) / 0.95
    assert np.all(np.abs(counts - wanted) <= 5 * np.sqrt(wanted))


def test_a_share_of_more_than_one_is_refused_in_one_line():
    """p lies between 0 and 1."""
    with pytest.raises(DeepbenchError, match=r"p is '0\.0'"):
        problem_of("sampling", "top_p_batch1_columns8_p0.0")


def test_bytes_and_flops():
    """2 x 8 probabilities read, two columns written; a comparison and a sum for each."""
    problem = Sampling(2, 8, 0.5)
    assert (16 * 4 + 8, 32) == (problem.bytes("float32"), problem.flops)
