"""The index of a family's speed over the releases of a framework."""

import pytest
from example_points import RELEASES, lines_of

from deepbench_ops.analysis.speed_index import speeds


def test_speed_is_the_geometric_mean_of_what_each_kernel_gains():
    """Twice, as, and half as fast come to the same speed; large kernels count no more."""
    (speed,) = speeds(lines_of((2.0, 1.0, 1.0, 1.0), (9e3, 9e3, 9e3, 9e3), (1.0, 2.0, 1.0, 1.0)))
    assert speed.values == pytest.approx((1.0, 1.0, 2 ** (1 / 3), 2 ** (1 / 3)))
    assert (3, 3, 3, 3) == speed.kernels
    assert tuple(RELEASES) == speed.releases


def test_kernels_that_come_or_go_do_not_move_the_speed():
    """A step is of the kernels that both releases measured."""
    steady = [(1.0, 0.5, 0.5, 0.25)] * 3
    (alone,) = speeds(lines_of(*steady))
    (joined,) = speeds(lines_of(*steady, (None, 7.0, 3.5 * 2, 3.5), (4.0, 2.0, None, None)))
    assert alone.values == pytest.approx((1.0, 2.0, 2.0, 4.0))
    assert joined.values == pytest.approx(alone.values)


def test_few_kernels_are_no_family():
    """Two have no speed."""
    assert [] == speeds(lines_of((1.0, 2.0, 3.0, 4.0), (1.0, 2.0, 3.0, 4.0)))


def test_an_index_goes_on_where_new_kernels_outnumber_the_first_ones():
    """The release where they begin is not on the index, and the first kernels bridge it."""
    first, new = [(4.0, 2.0, None, 1.0)] * 3, [(None, None, 9.0, 3.0)] * 4
    (speed,) = speeds(lines_of(*first, *new))
    assert speed.values == pytest.approx((1.0, 2.0, 4.0))
    assert (RELEASES[0], RELEASES[1], RELEASES[3]) == speed.releases
    assert (3, 3, 3) == speed.kernels
