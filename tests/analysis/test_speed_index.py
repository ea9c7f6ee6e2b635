"""The index of a family's speed over the releases of a framework."""

from datetime import date

import pytest
from example_points import GEMMS, RELEASES, lines_of, point

from deepbench_ops.analysis.kernel_lines import lines
from deepbench_ops.analysis.speed_index import speeds
from deepbench_ops.releases.release_table import Release, timeline


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


def test_a_later_patch_of_an_older_minor_stays_on_the_index():
    """Nor is one of two releases of a day left out: versions order the releases of a line."""
    days = {"2.0.0": 1, "2.0.1": 9, "2.1.0": 5, "2.1.1": 12, "2.2.0": 12}
    order = timeline([Release("torch", name, date(2026, 1, day)) for name, day in days.items()])
    points = [
        point(problem_id=GEMMS[kernel], release=release, seconds=2.0**-place)
        for kernel in range(3)
        for place, release in enumerate(order)
    ]
    (speed,) = speeds(lines(points, order))
    assert order == speed.releases
    assert speed.values == pytest.approx((1.0, 2.0, 4.0, 8.0, 16.0))


def test_a_kernel_of_several_sets_counts_once():
    """As one kernel among the others."""
    once = lines_of((2.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0))
    again = [point._replace(set="inference_server") for point in once[0].points]
    (speed,) = speeds([*once, *lines(again, RELEASES)])
    assert speed.values[1] == pytest.approx(2 ** (1 / 3))
    assert (3, 3, 3, 3) == speed.kernels
