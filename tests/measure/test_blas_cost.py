"""The cost of a setting of OpenBLAS is measured with it and without, and named."""

import pytest

from deepbench_ops.backends.numpy_backend import loaded_blas
from deepbench_ops.measure import blas_cost, ensemble_sweeps, library_variables
from deepbench_ops.measure.ensemble_round import Round

pytestmark = pytest.mark.skipif(loaded_blas.of_numpy() is None, reason="numpy has another BLAS")


@pytest.fixture
def setting(monkeypatch):
    """Give the process external settings, and its children the same variables."""

    def give(**variables):
        monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        found = tuple(sorted(variables.items()))
        monkeypatch.setattr(library_variables, "of_this_process", lambda: found)

    return give


@pytest.fixture
def half_as_long_again(monkeypatch):
    """Rounds in which the second side always takes 1.5 times as long."""
    launches = []

    def run_rounds(sides, tasks, rounds, sweeps):
        launches.extend(sides.values())
        taken = Round([dict(zip(sides, (1.0, 1.5), strict=True))] * sweeps)
        return {task: [taken] * rounds for task in tasks}

    monkeypatch.setattr(ensemble_sweeps, "run_rounds", run_rounds)
    return launches


def test_a_setting_is_held_against_none(setting, half_as_long_again):
    """The path that it chooses, the one without it, and a ratio for each of three products."""
    setting(OPENBLAS_CORETYPE="Nehalem")
    first, *others = blas_cost.cost().lines
    assert first.startswith("OpenBLAS runs Nehalem as OPENBLAS_CORETYPE=Nehalem asks; by itself")
    assert "Nehalem" not in first.partition("by itself")[2]
    assert 3 == sum("1.50 times (1.50 to 1.50 in 3 rounds)" in line for line in others)
    without, with_it = half_as_long_again
    assert "OPENBLAS_CORETYPE=Nehalem" in with_it.program
    assert "OPENBLAS_CORETYPE=Nehalem" not in without.program


def test_where_nothing_is_set_it_is_said_and_the_usual_setting_is_tried(
    setting, half_as_long_again
):
    setting()
    first, *_ = blas_cost.cost().lines
    assert first.startswith("nothing is set for OpenBLAS, which chooses ")
    assert "with OPENBLAS_CORETYPE=Haswell" in first


def test_the_same_code_is_not_measured(setting, monkeypatch, half_as_long_again):
    """As on a processor for which OpenBLAS chooses that path by itself."""
    setting()
    monkeypatch.setattr(blas_cost, "_core", lambda launch: "Haswell")
    (line,) = blas_cost.cost().lines
    assert line.endswith("with OPENBLAS_CORETYPE=Haswell: the same code")
    assert [] == half_as_long_again


def test_a_numpy_without_openblas_has_no_cost(monkeypatch):
    monkeypatch.setattr(blas_cost, "_core", lambda launch: "")
    assert ["numpy has no OpenBLAS of its own here that could be set"] == blas_cost.lines()


@pytest.mark.slow
def test_it_is_really_measured(setting, monkeypatch):
    """An old path takes longer for a product than the one that the processor would get."""
    setting(OPENBLAS_CORETYPE="Prescott")
    monkeypatch.setattr(blas_cost, "KERNELS", ("m1760_n128_k1760_NN",))
    (found,) = blas_cost.cost().ratios.values()
    assert sorted(found)[1] > 1.5
