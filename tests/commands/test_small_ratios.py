"""Small differences are printed in as many digits as their intervals."""

from example_points import point

from deepbench_ops.analysis.machine_comparison import FamilyComparison
from deepbench_ops.commands import compare, frameworks
from deepbench_ops.pages import verdict_page


def family(ratio, low, high):
    return FamilyComparison("gemm", "float32", ratio, low, high, 9, 9, 9, None, None)


def test_the_ratio_of_a_family_lies_in_its_interval():
    """In as many digits as its ends, also where it is one kernel's."""
    assert ["1.004", "1.003 .. 1.005"] == compare._group_row(family(1.0043, 1.0032, 1.0052))[2:4]
    nan = float("nan")
    assert ["1.004", "one kernel"] == compare._group_row(family(1.0043, nan, nan))[2:4]


def test_a_time_lies_in_its_interval():
    """Milliseconds in four digits, as their ends."""
    one = point(seconds=1.0044e-3, low=1.0036e-3, high=1.0052e-3, samples=30)
    assert "1.004 (1.004 to 1.005)" == frameworks.shown(one, False)


def test_the_page_of_verdicts_names_small_changes():
    """No change is called no difference."""
    assert "1.004\u00d7 slower" == verdict_page.factor(1.0043)
    assert "1.003 to 1.005\u00d7 slower" == verdict_page.span(1.003, 1.005)
    assert "no difference" == verdict_page.factor(1.0)
