"""The matrix of frameworks and families: factors, and those that the noise hides."""

import math

import pytest
from example_points import GEMMS, point
from example_rounds import rounds_of

pytest.importorskip("asv", reason="results are read by asv's own classes")
from deepbench_ops.analysis.frameworks_by_family import matrix
from deepbench_ops.analysis.frameworks_by_kernel import contests
from deepbench_ops.analysis.shared_rounds import task_of
from deepbench_ops.releases import release_table

NEWEST = {release.framework: release for release in release_table.load()}


def kernels(framework, seconds, noise, places):
    """Points of a framework's newest release; two processes each, `noise` apart."""
    return [
        point(
            release=NEWEST[framework],
            problem_id=GEMMS[place],
            seconds=seconds,
            rounds=(seconds * math.exp(noise), seconds * math.exp(-noise)),
        )
        for place in places
    ]


def found(noise, places=range(6), **seconds):
    """The rows of kernels that every framework takes so many seconds for."""
    return matrix(contests([p for n, s in seconds.items() for p in kernels(n, s, noise, places)]))


def test_factors_are_those_of_the_seconds():
    """The fastest comes first with 1, the others with how many times as long they take."""
    (row,) = found(0.001, numpy=1e-3, torch=3e-3, jax=1.5e-3)
    assert ("gemm", "float32", "numpy", True) == (
        row.family,
        row.precision,
        row.fastest,
        row.clear,
    )
    assert ["numpy", "jax", "torch"] == list(row.cells)
    assert pytest.approx([1, 1.5, 3]) == [cell.ratio for cell in row.cells.values()]
    assert [False, True, True] == [cell.clear for cell in row.cells.values()]
    assert ["jax", "numpy", "numpy"] == [cell.against for cell in row.cells.values()]


@pytest.mark.parametrize(("noise", "clear"), [(0.001, True), (0.05, False)])
def test_the_same_factor_is_clear_only_beyond_the_noise(noise, clear):
    """Five per cent is nothing at five per cent of noise."""
    (row,) = found(noise, numpy=1e-3, torch=1.05e-3)
    assert (clear, clear) == (row.clear, row.cells["torch"].clear)


def test_less_than_a_percent_is_not_clear():
    """Also without noise."""
    (row,) = found(1e-7, numpy=1e-3, torch=1.005e-3)
    assert not row.clear


def test_a_framework_with_few_kernels_is_compared_with_the_one_it_shares_most_with():
    """Its factor is chained, and its kernels are those that both have."""
    points = [
        *kernels("numpy", 1e-3, 0.001, range(8)),
        *kernels("torch", 2e-3, 0.001, range(12)),
        *kernels("jax", 6e-3, 0.001, range(8, 12)),
    ]
    (row,) = matrix(contests(points))
    jax = row.cells["jax"]
    assert ("torch", 4, pytest.approx(6.0)) == (jax.against, len(jax.kernels), jax.ratio)
    assert jax.deviation > row.cells["torch"].deviation
    assert 8 == len(row.cells["torch"].kernels)


def test_times_taken_apart_rest_on_no_shared_rounds():
    """Without rounds of both, none of a cell's kernels was measured together."""
    (row,) = found(0.001, numpy=1e-3, torch=2e-3)
    assert {0} == {cell.together for cell in row.cells.values()}


def test_too_few_shared_kernels_have_no_row():
    """Two kernels say nothing about a family."""
    assert [] == found(0.001, places=range(2), numpy=1e-3, torch=2e-3)


def in_rounds():
    """Seconds of frameworks in shared rounds, fastest first."""
    return {"torch": 1.0, "numpy": 1.05, "jax": 1.3}


def with_rounds(places):
    """The row of six kernels whose stored times say the opposite of rounds, which some have."""
    stored = {"numpy": 1e-3, "jax": 1.04e-3, "torch": 1.1e-3}
    points = [p for name, level in stored.items() for p in kernels(name, level, 0.001, range(6))]
    together = rounds_of({NEWEST[name].name: level for name, level in in_rounds().items()})
    shared = {task_of(kernels("numpy", 1e-3, 0.0, [each])[0]): together for each in places}
    (row,) = matrix(contests(points, shared), shared)
    return row


def test_factors_are_those_of_shared_rounds():
    """The order too."""
    row = with_rounds(range(6))
    assert pytest.approx(in_rounds(), rel=0.005) == {n: cell.ratio for n, cell in row.cells.items()}
    assert list(in_rounds()) == list(row.cells)
    assert {6} == {cell.together for cell in row.cells.values()}
    assert row.clear


def test_stored_times_count_on_kernels_without_shared_rounds():
    """Half of the kernels have rounds: the factor is the geometric mean of both kinds."""
    row = with_rounds(range(3))
    expected = {
        "numpy": 1.0,
        "torch": math.sqrt(1.1 / 1.05),
        "jax": math.sqrt(1.04 * 1.3 / 1.05),
    }
    assert pytest.approx(expected, rel=0.005) == {n: cell.ratio for n, cell in row.cells.items()}
    assert {3} == {cell.together for cell in row.cells.values()}
