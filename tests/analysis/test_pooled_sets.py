"""A kernel that several sets list is one kernel, with the processes of all of them."""

from datetime import date

import example_points as points_of_tests
import pytest

pytest.importorskip("asv", reason="results are read by asv")
from deepbench_ops.analysis import frameworks_by_kernel, machine_comparison
from deepbench_ops.analysis.pooled_sets import newest_point, pooled_point, pooled_times
from deepbench_ops.releases.release_table import Release

OLD = Release("numpy", "2.3.5", date(2025, 1, 1))
NUMPY = Release("numpy", "2.4.6", date(2026, 1, 1))
TORCH = Release("torch", "2.13.0", date(2026, 2, 1))
PUBLISHED = Release("published", "2017.1.17", date(2017, 1, 17))


def point(release, rounds, published_set="inference_server", **more):
    """A point whose processes took these seconds."""
    said = {"seconds": rounds[0], "samples": len(rounds), "rounds": tuple(rounds)}
    return points_of_tests.point(release=release, set=published_set, **{**said, **more})


DEVICE = "inference_device"


def test_two_sets_are_one_point_with_all_processes():
    """57 and 86 ms of one kernel are 71 ms of four processes, not two kernels."""
    found = pooled_point([point(NUMPY, (57.0, 71.0)), point(NUMPY, (86.0, 71.0), DEVICE)])
    assert (71.0, 4, 4, DEVICE) == (found.seconds, found.samples, len(found.rounds), found.set)


def test_the_interval_holds_those_of_both():
    one = point(NUMPY, (1.0, 1.0), low=0.9, high=1.1)._replace(samples=8)
    other = point(NUMPY, (1.0, 1.0), DEVICE, low=0.95, high=1.3)._replace(samples=8)
    assert (0.9, 1.3) == pooled_point([one, other]).interval
    assert pooled_point([one, other._replace(low=None, high=None)]).interval is None


def test_a_single_set_stays_as_it_is():
    """Nothing of a kernel that is in one set is computed again; of releases the newest counts."""
    alone = point(NUMPY, (1.0, 2.0))
    assert alone == pooled_point([alone, point(OLD, (9.0, 9.0), DEVICE)])


@pytest.mark.parametrize("step", [1, -1], ids=["in order", "reversed"])
def test_of_two_releases_of_one_day_the_higher_version_is_the_newest(step):
    """In whatever order their files are read; as text, 2.9 would come after 2.10."""
    releases = [Release("numpy", version, NUMPY.date) for version in ("2.9.0", "2.10.0")]
    found = [point(releases[0], (1.0,)), point(releases[1], (2.0,))][::step]
    assert (2.0, 2.0) == (pooled_point(found).seconds, newest_point(found).seconds)
    (times,) = pooled_times(found).values()
    assert [2.0, 1.0] == [each.seconds for each in times]


def test_frameworks_meet_once_for_each_kernel():
    """A kernel of two sets has one row, which names both; one set of each side is enough."""
    found = [
        point(NUMPY, (1.0, 1.01)),
        point(NUMPY, (1.0, 1.02), DEVICE),
        point(TORCH, (2.0, 2.02), DEVICE),
    ]
    (contest,) = frameworks_by_kernel.contests(found)
    assert (DEVICE, "inference_server") == contest.sets
    assert [4, 2] == [len(each.rounds) for each in contest.points]


def compared(first, other):
    """The family of products of two contenders."""
    (group,) = machine_comparison.groups(
        machine_comparison.contender("box", first), machine_comparison.contender("other", other)
    )
    return group


def test_a_kernel_counts_once_in_a_comparison():
    """Its two sets are no two kernels that agree with each other."""
    both = [point(NUMPY, (1.0, 1.0)), point(NUMPY, (1.0, 1.0), DEVICE)]
    group = compared(both, [each._replace(seconds=2.0, rounds=(2.0, 2.0)) for each in both])
    assert (1, 1, 1, 2.0) == (group.shared, group.first_has, group.other_has, group.ratio)


def test_published_sets_stay_apart():
    """Sheets of training and of inference may hold other passes."""
    both = [point(PUBLISHED, (1.0,)), point(PUBLISHED, (1.2,), DEVICE)]
    assert 2 == compared(both, both).shared
