"""Operations with several outputs: each of them is checked, before the timing and after it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from deepbench_ops.backends import families, output_check
from deepbench_ops.backends.backend_interface import Backend
from deepbench_ops.backends.kernel import Kernel, Output
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.gemm import Gemm


@dataclass
class Exactly:
    """A reference that is known."""

    values: np.ndarray

    @property
    def shape(self):
        return self.values.shape

    def everywhere(self):
        return self.values, np.full(self.shape, 1e-6)

    def at(self, index):
        return self.values[index], np.full(len(index[0]), 1e-6)


def output(values, truth):
    return Output(lambda: values, lambda index: values[index], Exactly(truth))


def kernel(da, db):
    """Gradients of both operands of a product, computed as `da` and `db`; both should be ones."""
    first = output(da, np.ones((3, 4)))
    return Kernel(
        label="gradients",
        run=lambda: None,
        synchronise=lambda: None,
        reset=lambda: None,
        result=first.result,
        peek=first.peek,
        reference=first.reference,
        further={"gradient of B": output(db, np.ones((4, 5)))},
        flops=1.0,
        bytes=1.0,
    )


class Gradients(Backend):
    """A backend with that kernel alone."""

    name = "gradients"

    def __init__(self, made):
        super().__init__("cpu")
        self.made = made

    def build(self, problem, precision, operation="forward", seed=0):
        return self.made

    def memory_available(self):
        return float("inf")

    def threads(self):
        return 1

    def set_threads(self, count):
        pass

    def versions(self):
        return {"framework": "gradients 1"}


@pytest.fixture
def truth(monkeypatch):
    """Both references, drawn again for the small twin."""
    named = {"": Exactly(np.ones((3, 4))), "gradient of B": Exactly(np.ones((4, 5)))}
    monkeypatch.setattr(families.module_of(Gemm(1, 1, 1)), "reference", lambda *given: named)


def test_all_right_outputs_pass(truth):
    made = kernel(np.ones((3, 4)), np.ones((4, 5)))

    assert output_check.check(Gradients(made), Gemm(3, 5, 4), "float32").ok
    assert output_check.spot_check(made).ok


@pytest.mark.parametrize("name", ["", "gradient of B"])
def test_one_wrong_output_is_wrong_and_named(truth, name):
    shapes = {"": (3, 4), "gradient of B": (4, 5)}
    values = {each: np.ones(shape) for each, shape in shapes.items()}
    values[name][0, 0] = np.nan
    made = kernel(*values.values())

    found = output_check.check(Gradients(made), Gemm(3, 5, 4), "float32")
    after = output_check.spot_check(made)

    assert [(False, name, (0, 0))] * 2 == [(c.ok, c.output, c.entry) for c in (found, after)]


def test_a_wrong_further_output_is_not_timed():
    made = kernel(np.ones((3, 4)), np.zeros((4, 5)))

    with pytest.raises(DeepbenchError, match="of gradient of B is off by 1 where 1e-06 is allowed"):
        output_check.verify_output(made)


def test_a_smaller_share_of_a_larger_tolerance_is_not_the_worst():
    made = kernel(np.ones((3, 4)) + 5e-7, np.ones((4, 5)))
    loose = replace(made, further={"gradient of B": output(np.ones((4, 5)), np.ones((4, 5)))})

    assert "" == output_check.spot_check(loose).output


@dataclass
class CountedTerms(Exactly):
    """A known reference whose entries take so many products each; keeps how many were asked for."""

    entry_terms: int
    asked: int = 0

    def at(self, index):
        self.asked = len(index[0])
        return super().at(index)


@pytest.mark.parametrize(
    ("terms", "entries"),
    [
        (1, output_check.ENTRIES),
        (output_check.SPOT_CHECK_TERMS // 20, 20),
        (output_check.SPOT_CHECK_TERMS * 1000, output_check.FEWEST_ENTRIES),
    ],
)
def test_fewer_entries_are_compared_where_the_reference_takes_long_for_each(terms, entries):
    """And the four corners, whatever the operation's own products are."""
    made = kernel(np.ones((3, 4)), np.ones((4, 5)))
    reference = CountedTerms(np.ones((3, 4)), terms)

    assert output_check.spot_check(replace(made, reference=reference)).ok
    assert entries + 4 == reference.asked
