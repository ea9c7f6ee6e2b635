"""Machines and frameworks compared on the kernels that they share, and the course of a change."""

import math
import time
from datetime import date

import pytest
from example_points import GEMMS, point
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.analysis.change_causes import Cause
from deepbench_ops.analysis.change_courses import Courses
from deepbench_ops.analysis.frameworks_by_family import matrix
from deepbench_ops.analysis.frameworks_by_kernel import contests
from deepbench_ops.analysis.kernel_lines import Line, lines
from deepbench_ops.analysis.machine_ranking_by_family import rankings
from deepbench_ops.analysis.shared_kernels import ENOUGH, FEWEST_KERNELS, common, levels
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure.machine_states import CHANGED, FAR, NEAR
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.releases.release_table import PUBLISHED, Release

RELEASES = [Release("numpy", f"2.{minor}.0", date(2025, minor + 1, 1)) for minor in range(4)]
TORCH = Release("torch", "2.13.0", date(2026, 7, 8))


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6),
    st.lists(st.floats(1e-3, 1e3), min_size=6, max_size=12),
    st.randoms(),
)
def test_levels_of_sides_that_differ_by_a_factor_are_these_factors(factors, kernels, random):
    """Whatever kernels a side lacks: alike kernels leave the ratio of two sides as it is."""
    whole = {f"side{i}": {k: f * v for k, v in enumerate(kernels)} for i, f in enumerate(factors)}
    some = {
        name: {k: own[k] for k in random.sample(list(own), random.randint(4, len(own)))}
        for name, own in whole.items()
    }
    _, found = levels(some)
    names = list(found)
    for name in names[1:]:
        wanted = whole[name][0] / whole[names[0]][0]
        assert math.isclose(wanted, found[name].value / found[names[0]].value, rel_tol=1e-9)


def common_by_trial(sides: dict[str, frozenset[int]]) -> tuple[list[str], frozenset[int]]:
    """The common set by its definition: each side is left out once, and the others are compared."""
    names = [name for name, own in sides.items() if len(own) >= FEWEST_KERNELS]

    def shared(some: list[str]) -> frozenset[int]:
        return frozenset.intersection(*map(sides.__getitem__, some)) if some else frozenset()

    while len(names) > 2 and len(shared(names)) < ENOUGH:
        without = {name: [other for other in names if other != name] for name in names}
        names = without[max(reversed(names), key=lambda name: len(shared(without[name])))]
    return names, shared(names)


@given(st.lists(st.frozensets(st.integers(0, 11)), max_size=9))
def test_the_common_set_is_that_of_leaving_out_each_side_once(several):
    """The definition takes too long for hundreds of sides."""
    sides = {str(number): own for number, own in enumerate(several)}
    values = {name: dict.fromkeys(own, 1.0) for name, own in sides.items()}
    assert common_by_trial(sides) == common(values)


def test_hundreds_of_sides_are_compared_in_less_than_seconds():
    """Each lacks other kernels, so that nearly all leave the common set."""
    values = {
        str(side): {kernel: 1.0 for kernel in range(300) if kernel < 3 or (kernel + side) % 7}
        for side in range(300)
    }
    started = time.process_time()
    levels(values)
    assert time.process_time() - started < 5


def test_a_side_with_few_kernels_does_not_take_them_from_the_others():
    """It is compared with the side that it shares most with, and says so."""
    values = {
        "a": dict.fromkeys(range(10), 1.0),
        "b": dict.fromkeys(range(10), 2.0),
        "c": dict.fromkeys(range(8, 11), 3.0),
        "d": {99: 1.0},
    }
    names, kernels = common(values)
    assert (["a", "b"], 10) == (names, len(kernels))
    assert len(kernels) >= ENOUGH
    _, found = levels({name: {k: own[k] for k in own} for name, own in values.items()})
    assert {"a", "b"} == found.keys()  # c shares only two kernels with each
    values["c"] = dict.fromkeys(range(7, 11), 3.0)
    _, found = levels(values)
    assert (3, "a") == (found["c"].kernels, found["c"].through)
    assert pytest.approx(3.0) == found["c"].value


def test_sides_that_share_nothing_have_no_levels():
    """No level is made up where fewer than three kernels are shared."""
    assert (frozenset(), {}) == levels({"a": {1: 1.0, 2: 1.0, 3: 1.0}, "b": {4: 1.0, 5: 2.0, 6: 1}})
    assert (frozenset(), {}) == levels({})


def ranked(*points, profiles=None):
    return rankings([Line((each,)) for each in points], profiles or {})


def test_the_fastest_framework_of_a_machine_counts():
    """Kernel by kernel; rates are the geometric mean over the shared kernels."""
    points = [
        point(machine=machine, release=release, problem_id=id, seconds=seconds)
        for id in GEMMS[:6]
        for machine, release, seconds in (
            ("box", TORCH, 2e-3),
            ("box", RELEASES[3], 1e-3),
            ("other", TORCH, 4e-3),
        )
    ]
    (ranking,) = ranked(*points)
    assert ("gemm", "float32", 6, "FLOP/s") == (
        *(ranking.family, ranking.precision),
        *(ranking.kernels, ranking.counts),
    )
    first, second = ranking.ranks
    flops = [problem_of("gemm", id).flops for id in GEMMS[:6]]
    wanted = math.exp(sum(map(math.log, flops)) / 6) / 1e-3
    assert pytest.approx(wanted) == first.rate
    assert pytest.approx(4) == first.rate / second.rate
    assert (("numpy",), ("torch",)) == (first.frameworks, second.frameworks)


@pytest.mark.parametrize("other", [{"state": FAR}, {"set": "inference_server"}])
def test_the_newest_time_of_a_framework_counts_over_all_lines(other):
    """A faster time of an older release, in another state or set, is not its newest."""
    points = [
        point(machine=machine, problem_id=id, **said)
        for id in GEMMS[:5]
        for machine, said in (
            ("box", {"state": NEAR, "release": RELEASES[3], "seconds": 2.0}),
            ("box", {"state": NEAR, "release": RELEASES[2], "seconds": 1.0, **other}),
            ("box", {"state": NEAR, "release": RELEASES[1], "seconds": 1.0}),
            ("box", {"release": TORCH, "seconds": 3.0}),
            ("other", {"release": TORCH, "seconds": 2.0}),
        )
    ]
    (ranking,) = ranked(*points)
    box, other = sorted(ranking.ranks, key=lambda rank: rank.machine)
    assert pytest.approx(1) == box.rate / other.rate
    assert (("numpy",), RELEASES[3].date, 5) == (box.frameworks, box.day, box.kernels)


def test_the_fastest_framework_of_a_machine_is_chosen_within_one_state():
    """That of most times: a framework that was measured in another state may owe its lead to it."""
    points = [
        point(machine=machine, problem_id=id, **said)
        for id in GEMMS[:5]
        for machine, said in (
            ("box", {"state": NEAR, "release": RELEASES[2], "seconds": 2.0}),
            ("box", {"state": NEAR, "release": RELEASES[3], "seconds": 2.0}),
            ("box", {"state": FAR, "release": TORCH, "seconds": 1.0}),
            ("other", {"release": TORCH, "seconds": 2.0}),
        )
    ]
    (ranking,) = ranked(*points)
    box, other = sorted(ranking.ranks, key=lambda rank: rank.machine)
    assert pytest.approx(1) == box.rate / other.rate
    assert ("numpy",) == box.frameworks


def test_of_times_during_which_the_state_changed_the_newest_is_ranked():
    """They compare with other machines alone, so none is the fastest of the machine."""
    points = [
        point(machine=machine, problem_id=id, state=CHANGED, **said)
        for id in GEMMS[:5]
        for machine, said in (
            ("box", {"release": RELEASES[3], "seconds": 1.0}),
            ("box", {"release": TORCH, "seconds": 2.0}),
            ("other", {"release": TORCH, "seconds": 2.0}),
        )
    ]
    (ranking,) = ranked(*points)
    assert [("torch",), ("torch",)] == [rank.frameworks for rank in ranking.ranks]


def test_a_ranking_has_the_roof_of_its_kernels():
    """The rate over it is the geometric mean of the kernels' shares; none without a profile."""
    peak = Figure(1e12, "FLOP/s", "measured: product")
    memory = Figure(1e15, "bytes/s", "measured: copy")
    profile = Profile("box", peaks={"cpu": {"float32": peak}}, bandwidth={"cpu": memory})
    points = [
        point(machine=machine, problem_id=id, seconds=problem_of("gemm", id).flops / 0.5e12)
        for id in GEMMS[:5]
        for machine in ("box", "other")
    ]
    (ranking,) = ranked(*points, profiles={"box": profile})
    roofs = {rank.machine: rank.roof for rank in ranking.ranks}
    assert pytest.approx(1e12) == roofs["box"]
    assert roofs["other"] is None


def test_a_machine_ranked_through_another_has_the_roof_of_the_kernels_they_share():
    """Its other kernels and their frameworks do not count."""
    peak = Figure(1e12, "FLOP/s", "measured: product")
    memory = Figure(1e15, "bytes/s", "measured: copy")
    profile = Profile("few", peaks={"cpu": {"float32": peak}}, bandwidth={"cpu": memory})
    own = {
        "box": dict.fromkeys(GEMMS[:6], 0.5),
        "other": dict.fromkeys(GEMMS[:6], 0.5),
        "few": dict.fromkeys(GEMMS[:3], 0.5) | dict.fromkeys(GEMMS[6:10], 0.1),
    }
    points = [
        point(
            machine=machine,
            problem_id=id,
            seconds=problem_of("gemm", id).flops / (share * 1e12),
            release=TORCH if id in GEMMS[6:] else RELEASES[3],
        )
        for machine, shares in own.items()
        for id, share in shares.items()
    ]
    (ranking,) = ranked(*points, profiles={"few": profile})
    (few,) = [rank for rank in ranking.ranks if rank.machine == "few"]
    assert ("box", 3, ("numpy",)) == (few.through, few.kernels, few.frameworks)
    assert few.roof is not None
    assert pytest.approx(0.5) == few.rate / few.roof


def test_unsteady_times_and_unusual_runs_are_not_ranked():
    """Nor are machines without another one to compare with."""
    points = [
        point(machine=machine, problem_id=id, **said)
        for id in GEMMS[:5]
        for machine, said in (
            ("box", {}),
            ("shaky", {"unsteady": "processes disagree"}),
            ("cold", {"cache": "cold"}),
        )
    ]
    assert [] == ranked(*points)
    (ranking,) = ranked(
        *points,
        *(
            point(
                machine="sheet", release=Release(PUBLISHED, "2017", date(2017, 1, 1)), problem_id=id
            )
            for id in GEMMS[:5]
        ),
    )
    assert [("box", False), ("sheet", True)] == sorted(
        (r.machine, r.published) for r in ranking.ranks
    )


def test_published_and_measured_times_of_a_machine_have_ranks_of_their_own():
    """The published ones are of other software, and may be of other problems."""
    sheet = Release(PUBLISHED, "2017", date(2017, 1, 1))
    points = [
        point(machine=machine, release=release, problem_id=id, seconds=seconds)
        for id in GEMMS[:5]
        for machine, release, seconds in (
            ("box", TORCH, 2.0 if id != GEMMS[0] else 0.5),
            ("box", sheet, 1.0),
            ("other", sheet, 4.0),
        )
    ]
    (ranking,) = ranked(*points)
    assert [
        ("box", True, (PUBLISHED,)),
        ("box", False, ("torch",)),
        ("other", True, (PUBLISHED,)),
    ] == [(rank.machine, rank.published, rank.frameworks) for rank in ranking.ranks]


def test_frameworks_are_compared_with_the_fastest_of_each_family():
    """The fastest has ratio 1; the others how many times as long they take."""
    points = [
        point(release=release, problem_id=id, seconds=seconds)
        for id in GEMMS[:6]
        for release, seconds in ((TORCH, 3e-3), (RELEASES[3], 1e-3))
    ]
    (row,) = matrix(contests(points))
    assert ("gemm", "float32") == (row.family, row.precision)
    assert [6, 6] == [len(cell.kernels) for cell in row.cells.values()]
    assert pytest.approx({"numpy": 1.0, "torch": 3.0}) == {
        name: cell.ratio for name, cell in row.cells.items()
    }


def test_the_course_of_a_change_is_relative_to_the_release_before_it():
    """Of several kernels it is their geometric mean."""
    seconds = {GEMMS[0]: (1.0, 1.0, 2.0, 2.0), GEMMS[1]: (3.0, 3.0, 24.0, 24.0)}
    points = [
        point(release=release, problem_id=id, seconds=value, rounds=(value,))
        for id, values in seconds.items()
        for release, value in zip(RELEASES, values, strict=True)
    ]
    found = lines(points, RELEASES)

    class Shift:
        def __init__(self, line):
            self.before, self.after = line.points[1], line.points[2]

    cause = Cause("box", RELEASES[1], RELEASES[2], True, "family", tuple(map(Shift, found)), 2)
    course = Courses(found).of(cause)
    assert RELEASES == [release for release, _ in course]
    assert pytest.approx([1, 1, 4, 4]) == [ratio for _, ratio in course]
