"""The fastest of several is ahead of each of the others, not by chance on one of many kernels."""

from deepbench_ops.analysis.clear_leads import are_clear, first_two_compared
from deepbench_ops.analysis.verdict import NOTHING_KNOWN, Verdict


def slower(probability: float, ratio: float = 1.1) -> Verdict:
    """Return the verdict that another one is slower, with the probability of that by chance."""
    kind = "slower" if probability < 0.01 else "ambiguous"
    return Verdict(kind, ratio, ratio / 1.05, ratio * 1.05, 0.05, probability, 5)


def test_a_lead_over_all_others_is_clear():
    """Also where no verdict is known, as then there is none against it."""
    assert [True, True, True] == are_clear([[slower(1e-6)], [slower(1e-6), slower(1e-5)], []])


def test_one_uncertain_verdict_is_enough_against_a_lead():
    """A single one that noise may explain, or that rests on too few rounds."""
    others = [slower(1e-6)], [slower(1e-6), slower(0.3)], [slower(1e-6), NOTHING_KNOWN]
    assert [True, False, False] == are_clear(others)


def test_less_than_a_percent_is_no_lead():
    assert [False] == are_clear([[slower(1e-9, 1.3), slower(1e-9, 1.008)]])


def test_a_kernel_counts_in_the_correction_with_its_least_certain_verdict():
    """One kernel of twenty at 0.8 % is chance, however certain its other verdicts are."""
    certain = slower(1e-12)
    assert [True] == are_clear([[certain, slower(0.008)]])
    several = are_clear([[certain, slower(0.008)], *[[certain, slower(0.5)]] * 19])
    assert [False] * 20 == several


def test_the_first_two_are_in_the_order_of_their_own_comparison():
    """Ratios to a third may say otherwise; without a comparison the order stays."""
    names = ["torch", "numpy", "jax"]
    assert ["numpy", "torch", "jax"] == first_two_compared(names, lambda *two: slower(0.5, 0.99))
    assert names == first_two_compared(names, lambda *two: slower(0.5, 1.01))
    assert names == first_two_compared(names, lambda *two: None)
