"""States of a machine are learned from latencies between its cores, and named."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.measure import machine_states
from deepbench_ops.measure.machine_states import CHANGED, FAR, NEAR, ONE_LEVEL, UNKNOWN_STATE

RECORDED_FAR = [312.8, 323.9, 323.4, 325.4, 322.0, 309.6, 326.3, 322.8, 316.5, 321.6, 331.0]
"""Readings of one machine with two virtual cores while seven processes shared them."""
RECORDED_NEAR = [165.0, 165.0, 190.0]
"""The same machine in its other state; only ends of the range were noted."""
OTHER_MACHINE = [442.0, 442.0, 521.0], [196.0, 196.0, 258.0]
"""Ends of the ranges of another one, far and near: its near is no level of the first one's."""
WIDE = {303: 40, 315: 73, 327: 126, 340: 183, 353: 226, 366: 251, 380: 282, 395: 303, 410: 291}
WIDE |= {426: 266, 442: 212, 459: 158, 477: 103, 495: 47, 514: 15}
"""Counts of one hump of readings, each up to 1.04 times that many nanoseconds, as on a machine with
one state; its profile has the level 441.7, of the first readings there."""
TWO_HUMPS = {153: 20, 159: 800, 165: 2160, 171: 1900, 178: 500, 185: 460, 192: 220, 200: 55}
TWO_HUMPS |= {207: 65, 215: 110, 224: 60, 232: 8}
"""The same of a machine whose kernels take 4 to 12 % longer at the smaller hump."""

near, far = st.floats(160, 190), st.floats(308, 340)
spread = st.lists(st.one_of(near, far, st.floats(20, 5000)), max_size=40)


def test_two_levels_are_found_in_recorded_readings() -> None:
    """Each machine has its two levels, by its own values."""
    for slow, fast in ((RECORDED_FAR, RECORDED_NEAR), OTHER_MACHINE):
        levels = machine_states.learned([*slow, *fast])
        assert 2 == len(levels)
        assert {NEAR} == {machine_states.state([each], levels) for each in fast}
        assert {FAR} == {machine_states.state([each], levels) for each in slow}


def test_a_machine_seen_in_one_state_has_one_level() -> None:
    """Readings that lie together are one level, and a stray one makes no second."""
    levels = machine_states.learned([*RECORDED_FAR, 900.0])
    assert 1 == len(levels)
    assert ONE_LEVEL == machine_states.state(RECORDED_FAR, levels)
    assert UNKNOWN_STATE == machine_states.state([900.0], levels)


def test_stray_readings_of_many_make_no_level() -> None:
    """Three of two hundred lie close together by chance; six of them are a level."""
    strays = [211.0, 214.0, 218.0]
    assert 1 == len(machine_states.learned([*RECORDED_FAR * 18, *strays]))
    assert 2 == len(machine_states.learned([*RECORDED_FAR * 18, *strays, *strays]))


def spread_out(counts: dict[int, int]) -> list[float]:
    """Return as many readings as the counts say, evenly spread over each range."""
    return [low * (1 + 0.038 * i / n) for low, n in counts.items() for i in range(n)]


def test_a_level_reaches_as_far_as_readings_lie_dense() -> None:
    """Nearly all of one wide hump is one state, though the profile's level is not its middle."""
    readings = spread_out(WIDE)
    for known in ([], [441.7]):
        levels = machine_states.learned(readings, known)
        assert 1 == len(levels)
        state_of = machine_states.namer(levels, readings)
        named = [state_of([each]) for each in readings]
        assert {ONE_LEVEL, UNKNOWN_STATE} == set(named)
        assert named.count(UNKNOWN_STATE) < 0.1 * len(named)
        alone = [machine_states.state([each], levels) for each in readings]
        assert alone.count(UNKNOWN_STATE) > 2 * named.count(UNKNOWN_STATE)


def test_the_sparse_edge_of_a_level_is_no_level() -> None:
    """Readings beyond its reach become more towards it; after a gap they are a level."""
    edge = {222 + 9 * step: 2 + 2 * step for step in range(9)}
    alike = [*spread_out(WIDE), *spread_out(edge)]
    assert [441.7] == machine_states.learned(alike, [441.7])
    apart = [*spread_out(WIDE), *spread_out({200: 40, 208: 40})]
    assert 2 == len(machine_states.learned(apart, [441.7]))


def test_a_level_does_not_reach_across_a_gap() -> None:
    """A smaller hump next to a level, with fewer readings in between, is no part of it."""
    readings = spread_out(TWO_HUMPS)
    levels = machine_states.learned(readings, [177.4])
    state_of = machine_states.namer(levels, readings)
    assert [ONE_LEVEL, UNKNOWN_STATE] == [state_of([each]) for each in (190.0, 218.0)]


@given(spread)
def test_ranges_of_levels_hold_what_belongs_to_them_and_do_not_overlap(readings) -> None:
    """Whatever the readings: more of them make no reading unknown that was of a level."""
    levels = machine_states.learned(readings)
    ranges = machine_states.reaches(levels, readings)
    assert levels == list(ranges)
    for reading in readings:
        own = machine_states.level_of(reading, levels)
        holding = [level for level, (low, end) in ranges.items() if low <= reading < end]
        assert holding == [own] if own is not None else len(holding) <= 1


def test_readings_that_disagree_are_a_change() -> None:
    """Before and after in different levels is a change; without levels nothing is known."""
    levels = machine_states.learned([*RECORDED_FAR, *RECORDED_NEAR])
    assert CHANGED == machine_states.state([170.0, 320.0], levels)
    assert UNKNOWN_STATE == machine_states.state([170.0, 235.0], levels)
    assert "" == machine_states.state([170.0, 320.0], [])
    assert "" == machine_states.state([], levels)


def test_three_levels_have_names_in_order() -> None:
    """Threads of a core, cores of a cache and cores of two caches are three."""
    levels = machine_states.learned([60.0] * 3 + [180.0] * 3 + [400.0] * 3)
    names = [machine_states.name(level, levels) for level in levels]
    assert [NEAR, "level 2 of 3", FAR] == names


@given(spread, st.randoms(use_true_random=False))
def test_the_order_of_readings_does_not_matter(readings, random) -> None:
    """The same readings in another order have the same levels."""
    shuffled = list(readings)
    random.shuffle(shuffled)
    assert machine_states.learned(readings) == machine_states.learned(shuffled)


@given(spread)
def test_levels_lie_apart(readings) -> None:
    """Two levels are never closer than the factor, so no reading belongs to both."""
    levels = machine_states.learned(readings)
    assert levels == sorted(levels)
    for low, high in pairwise(levels):
        assert high >= machine_states.LEVEL_RATIO * low


@given(spread, spread)
def test_known_levels_stay(earlier, later) -> None:
    """Later readings add levels and move none."""
    known = machine_states.learned(earlier)
    assert set(known) <= set(machine_states.learned(later, known))


@given(st.lists(st.one_of(near, far), min_size=1, max_size=30))
def test_names_do_not_change_back_and_forth(readings) -> None:
    """While readings of two levels come in, the name of a reading changes twice at most."""
    levels: list[float] = []
    for reading in (175.0, 325.0):
        names = []
        for count in range(len(readings) + 1):
            levels = machine_states.learned(readings[:count])
            names.append(machine_states.name(machine_states.level_of(reading, levels), levels))
        changes = [one for one, other in pairwise(names) if one != other]
        assert len(changes) == len(set(changes)) <= 2


@given(st.lists(st.sampled_from(["", NEAR, FAR, UNKNOWN_STATE, CHANGED]), max_size=6))
def test_processes_that_agree_share_their_state(states) -> None:
    """One known state of all is that of the point; processes without a state do not count."""
    found = machine_states.together(states)
    known = set(states) - {""}
    if len(known) < 2:
        assert {found} == known or not known
    else:
        assert found in machine_states.INCOMPARABLE
