"""Lines of kernels: which are long enough, and where their changes are."""

from example_points import RELEASES, point

from deepbench_ops.analysis.kernel_lines import Line

STEP = (1.0,) * 12 + (2.0,) * 12
"""Times of the rounds of one release that change in the middle."""


def test_changes_are_between_releases_only():
    """Rounds of one release have none, however many there are and however they differ."""
    alone = Line((point(release=RELEASES[0], rounds=STEP),))
    assert not alone.judgeable
    assert [] == alone.changes
    both = Line((*alone.points, point(release=RELEASES[1], rounds=(2.0,) * 12)))
    assert both.long_enough
    assert {RELEASES[1]} >= {shift.after.release for shift in both.changes}
