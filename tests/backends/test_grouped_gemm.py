"""Grouped products: a table over frameworks, precisions and operations, and uneven loads."""

import numpy as np
import pytest
from framework_table import ONNX, loaded_with, refusals_of_others
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, eager, loaded, skip_without
from kernel_checks import agrees, distinguishes

from deepbench_ops import backends
from deepbench_ops.backends import output_check
from deepbench_ops.backends.families import grouped_gemm as family
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.grouped_gemm import SPLITS, GroupedGemm
from deepbench_ops.problems.moe_layer import MoeLayer

OPERATIONS = GroupedGemm.operations
WITHOUT = ("tensorflow", *ONNX)
"""Frameworks that need no grouped products."""
PROBLEM = GroupedGemm(9, 20, 24, 40, "skewed")
ODD_LAYER = MoeLayer(5, 4, 21, 41, 2)


def built(backend, problem, precision, operation, seed=0):
    """Return a kernel after one run, or skip where numpy has no such product."""
    if "numpy" == backend.name and "float32" != precision:
        with pytest.raises(Unsupported, match="numpy has no BLAS products in") as reason:
            backend.build(problem, precision, operation, seed)
        pytest.skip(str(reason.value))
    with refusals_of_others(backend.name):
        kernel = backend.build(problem, precision, operation, seed)
    kernel.reset()
    kernel.run()
    kernel.synchronise()
    return kernel


def within(kernel):
    """Return whether every entry is within the tolerance."""
    expected, allowed = kernel.reference.everywhere()
    return bool(np.all(np.abs(kernel.result() - expected) <= allowed))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("precision", GroupedGemm.precisions)
@pytest.mark.parametrize(("name", "device"), PLACES)
def test_every_kernel_passes_its_check(name, device, precision, operation, split):
    """All entries of a small problem are right, however rows are divided."""
    problem = GroupedGemm(128, 100, 768, 2048, split)
    backend = loaded_with(name, device, GroupedGemm.family, WITHOUT)
    built(backend, PROBLEM, precision, operation)
    found = output_check.check(backend, problem, precision, operation)
    assert (True, True) == (found.ok, found.error <= found.tolerance)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", backends.NAMES)
@settings(max_examples=15, deadline=None)
@given(
    groups=st.integers(1, 9), rows=st.integers(1, 40), n=st.integers(1, 4), k=st.integers(1, 4),
    split=st.sampled_from(SPLITS), seed=st.integers(0, 99),
)  # fmt: skip
def test_any_loads_are_computed_right(name, operation, groups, rows, n, k, split, seed):
    """Results are right for all loads, experts without rows and a single expert included."""
    backend = eager(name)
    skip_without(backend, GroupedGemm.family)
    problem = GroupedGemm(groups, rows, 4 * n, 4 * k, split)
    kernel = built(backend, problem, "float32", operation, seed)
    assert within(kernel)
    assert output_check.spot_check(kernel).ok


@given(groups=st.integers(1, 300), rows=st.integers(1, 3000), split=st.sampled_from(SPLITS))
def test_loads_are_all_rows(groups, rows, split):
    """Loads add up to the rows, none is negative, and single rows meet as few as can be."""
    problem = GroupedGemm(groups, rows, 8, 8, split)
    loads = problem.loads
    assert (groups, rows) == (len(loads), sum(loads))
    assert min(loads) >= 0
    assert problem.busy == np.count_nonzero(loads)
    if split != "skewed":
        assert max(loads) <= -(-rows // groups)


def test_skewed_loads_leave_experts_without_rows():
    """The first expert has the most rows, and many have none."""
    loads = GroupedGemm(64, 128, 8, 8, "skewed").loads
    assert max(loads) == loads[0] > 4 * np.median(loads)
    assert 38 == loads.count(0)
    assert (8, 0, 1, 0, 1, 0, 0) == GroupedGemm(7, 10, 8, 8, "skewed").loads


@pytest.mark.parametrize("operation", OPERATIONS)
def test_reference_at_some_entries_is_the_whole_reference(operation):
    """Judging a few entries applies the same values and tolerances as judging all."""
    assert agrees(PROBLEM, operation)


def product(drawn, owners=None, turned=False):
    """Return y with other owners of the rows, or with matrices read in the wrong order."""
    owners = drawn.owners if owners is None else owners
    w = drawn.w.astype(np.float64)
    if turned:
        w = w.reshape(w.shape[0], w.shape[2], w.shape[1]).transpose(0, 2, 1)
    return np.einsum("rk,rnk->rn", drawn.x.astype(np.float64), w[owners])


def shifted(owners):
    """Return owners in which the last row of each group is the first of the next."""
    return np.concatenate([owners[1:], owners[-1:]])


MISTAKES = {
    "a transposed expert": lambda drawn: product(drawn, turned=True),
    "rows to the next expert": lambda drawn: product(
        drawn, (drawn.owners + 1) % drawn.problem.groups
    ),
    "ends of groups off by one": lambda drawn: product(drawn, shifted(drawn.owners)),
    "one expert for all": lambda drawn: product(drawn, np.zeros_like(drawn.owners)),
    "rows of the busiest expert alone": lambda drawn: product(drawn) * (drawn.owners == 0)[:, None],
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_wrong_products_are_found_out(mistake):
    """Each mistake fails, at sampled entries too, while the right product passes."""
    drawn = family.inputs(PROBLEM, "bfloat16")
    judge = family.reference(PROBLEM, drawn, "bfloat16", "forward")
    assert distinguishes(judge, product(drawn), mistake(drawn))


def test_gradients_of_idle_experts_are_zeros():
    """An expert without rows has a gradient of exactly zero; another's in its place fails."""
    drawn = family.inputs(PROBLEM, "float32")
    expected, allowed = family.reference(PROBLEM, drawn, "float32", "backward_weight").everywhere()
    idle = np.flatnonzero(np.array(PROBLEM.loads) == 0)
    assert idle.size > 0
    assert not expected[idle].any()
    assert np.abs(np.roll(expected, 1, axis=0) - expected).max() > allowed.max()


def test_work_and_traffic_are_those_of_the_operation():
    """FLOPs are 2·m·n·k; idle experts' matrices are not read, but their gradients written."""
    problem = GroupedGemm(64, 8, 2560, 3584, "single")
    matrix = 2560 * 3584
    assert {2 * 8 * matrix} == {problem.flops_of(operation) for operation in OPERATIONS}
    x, y = 8 * 3584, 8 * 2560
    assert 2 * (x + 8 * matrix + y) == problem.bytes_of("bfloat16", "forward")
    assert 4 * (x + y + 64 * matrix) == problem.bytes_of("float32", "backward_weight")


def test_torch_calls_its_grouped_product():
    """No loop of ours: one grouped_mm in each call."""
    torch = pytest.importorskip("torch")
    kernel = built(loaded("torch"), PROBLEM, "float32", "forward")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        kernel.run()
    assert "aten::_grouped_mm" in {event.key for event in profile.key_averages()}


@pytest.mark.parametrize("problem", [GroupedGemm(9, 20, 21, 41, "skewed"), ODD_LAYER])
def test_torch_without_a_grouped_product_says_that_first(monkeypatch, problem):
    """Sizes that such a release could not take either are no reason, whatever they are."""
    torch = pytest.importorskip("torch")
    monkeypatch.delattr(torch.nn.functional, "grouped_mm", raising=False)
    monkeypatch.delattr(torch, "_grouped_mm", raising=False)
    with pytest.raises(Unsupported, match=r"^torch \S+ has no grouped product$"):
        loaded("torch").build(problem, "float32")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"groups": "0"}, "groups is '0': write a whole number from 1"),
        ({"m": "9", "split": "single"}, "9 rows are more than 8 experts"),
        ({"split": "even"}, "no split is called even"),
    ],
)
def test_impossible_groups_are_one_clear_line(given, reason):
    """Zero experts, more single rows than experts and unknown splits are refused."""
    text = {"groups": "8", "m": "8", "n": "64", "k": "64", "split": "balanced", **given}
    with pytest.raises(DeepbenchError) as found:
        size_checks.problem(
            "grouped_gemm",
            {
                name: value if name == "split" else size_checks.size(name, value, GroupedGemm)
                for name, value in text.items()
            },
        )
    assert reason in str(found.value)
    assert "\n" not in str(found.value)
