"""The table of `deepbench history --frameworks`: the fastest release of each kernel."""

from types import SimpleNamespace

import pytest
from example_rounds import rounds_of

from deepbench_ops.analysis.ensemble_verdicts import Ensemble
from deepbench_ops.commands import history_report
from deepbench_ops.measure.kernel_identity import KernelIdentity

TASK = KernelIdentity("gemm", "m35_n700_k2048_NN", "float32")
NAMES = ["numpy-2.4.6", "torch-2.13.0", "jax-0.10.2"]


def rounds(count, spread=0.001, **milliseconds):
    """Rounds of frameworks that take so many milliseconds, with so much noise in logarithms."""
    names = {name.partition("-")[0]: name for name in NAMES}
    return rounds_of({names[each]: time for each, time in milliseconds.items()}, spread, count)


def printed(several):
    """The cells of the only kernel: rounds, fastest, second with its ratio, interval."""
    store = SimpleNamespace(of=lambda task: several)
    found = Ensemble(dict.fromkeys(NAMES), NAMES[0], store)
    ((_, _, *cells),) = history_report._contests(found, [TASK])
    return cells


def test_the_fastest_is_named_with_its_lead_over_the_second():
    count, fastest, second, _ = printed(rounds(8, numpy=1.1, torch=1.0, jax=1.2))
    assert ("8", "torch-2.13.0", "numpy-2.4.6: 1.1") == (count, fastest, second[:16])


def test_a_lead_of_less_than_a_percent_is_none():
    """As in `deepbench frameworks`, however certain it is."""
    assert "none beyond the noise" == printed(rounds(10, numpy=1.007, torch=1.0, jax=1.2))[1]


def test_the_fastest_is_ahead_of_the_third_too():
    """Its rounds scatter so much that it may be faster than both."""
    noisy = rounds(8, (0.001, 0.001, 0.4), numpy=1.1, torch=1.0, jax=1.12)
    _, fastest, second, _ = printed(noisy)
    assert ("none beyond the noise", "numpy-2.4.6: 1.1") == (fastest, second[:16])


def test_the_first_two_are_in_the_order_of_their_own_rounds():
    """More rounds without jax have torch ahead of it, against the anchor alone."""
    both = rounds(5, numpy=1.0, torch=0.9, jax=0.86)
    without_jax = rounds(12, numpy=1.0, torch=0.82)
    count, fastest, second, _ = printed([*both, *without_jax])
    assert ("5", "jax-0.10.2") == (count, fastest)
    assert "torch-2.13.0" == second.partition(":")[0]
    assert pytest.approx(0.9 / 0.86, rel=0.01) == float(second.partition(":")[2])
