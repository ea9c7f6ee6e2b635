"""Verdicts between two releases: those that the rounds allow, and no others."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="analysis needs the `track` extra")
from deepbench_ops.analysis.verdict import (
    _adjusted,
    compare_each,
    compare_levels,
    compare_pairs,
    compare_samples,
    corrected,
)


def rounds(random, count, noise, level=0.0, samples=10):
    """That many rounds of samples, whose levels scatter by `noise` about `level` (in logs)."""
    levels = random.normal(level, noise, count)
    return [list(np.exp(each + random.normal(0, 0.01, samples))) for each in levels]


def kinds(before, after, noise, change, repeats=300):
    """How often each verdict comes of so many rounds a side."""
    random = np.random.default_rng(29)
    found = [
        compare_samples(
            rounds(random, before, noise), rounds(random, after, noise, math.log1p(change))
        ).kind
        for _ in range(repeats)
    ]
    return {kind: found.count(kind) / repeats for kind in set(found)}


@pytest.mark.slow
def test_ten_rounds_find_three_percent():
    """At 1 % noise of a round, in either direction."""
    assert kinds(10, 10, 0.01, 0.03).get("slower", 0) >= 0.97
    assert kinds(10, 10, 0.01, 1 / 1.03 - 1).get("faster", 0) >= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.003, 0.01, 0.05])
@pytest.mark.parametrize("count", [3, 10])
def test_no_change_is_rarely_called_one(count, noise):
    """At most about one in a hundred, whatever the noise and the number of rounds."""
    found = kinds(count, count, noise, 0.0)
    assert found.get("slower", 0) + found.get("faster", 0) <= 0.02


@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 2), (2, 30), (30, 2), (1, 10)])
def test_two_rounds_of_a_side_claim_nothing(before, after):
    """Whatever the difference, and however close the rounds."""
    assert {"ambiguous": 1.0} == kinds(before, after, 0.001, 0.5, repeats=20)


def test_same_says_what_would_have_been_seen():
    """Quiet rounds of one level are the same; noisy ones leave it open, and say how much."""
    random = np.random.default_rng(31)
    quiet = compare_samples(rounds(random, 10, 0.005), rounds(random, 10, 0.005))
    noisy = compare_samples(rounds(random, 5, 0.1), rounds(random, 5, 0.1))
    assert ("same", "ambiguous") == (quiet.kind, noisy.kind)
    assert quiet.detectable < 0.05 < noisy.detectable


@pytest.mark.slow
def test_what_is_called_detectable_is_detected():
    """A change of that size is found about 95 times in 100."""
    random = np.random.default_rng(37)
    size = np.median(
        [
            compare_samples(rounds(random, 10, 0.02), rounds(random, 10, 0.02)).detectable
            for _ in range(100)
        ]
    )
    assert kinds(10, 10, 0.02, size).get("slower", 0) == pytest.approx(0.95, abs=0.04)


@pytest.mark.slow
def test_the_interval_holds_the_truth():
    """In 99 of 100 cases."""
    random = np.random.default_rng(41)
    inside = 0
    for _ in range(400):
        verdict = compare_samples(rounds(random, 6, 0.02), rounds(random, 8, 0.04, 0.1))
        inside += verdict.low <= math.exp(0.1) <= verdict.high
    assert 0.97 <= inside / 400


def pairs(random, count, noise, change, machine=0.2):
    """Rounds of 20 pairs on a machine whose speed wanders."""
    found = []
    for level in random.normal(math.log1p(change), noise, count):
        speed = random.normal(0, machine, 20)
        before, after = speed + random.normal(0, 0.01, (2, 20))
        found.append(list(zip(np.exp(before), np.exp(after + level), strict=True)))
    return found


@pytest.mark.slow
def test_pairs_see_through_a_wandering_machine():
    """Two per cent in ten rounds of 1 % noise, though the machine's speed wanders by 20."""
    random = np.random.default_rng(43)
    found = [compare_pairs(pairs(random, 10, 0.01, 0.02)).kind for _ in range(200)]
    apart = [
        compare_samples(
            [[b for b, _ in each] for each in taken], [[a for _, a in each] for each in taken]
        ).kind
        for taken in (pairs(random, 10, 0.01, 0.02) for _ in range(50))
    ]
    assert found.count("slower") >= 0.9 * 200
    assert apart.count("slower") < 0.2 * 50
    none = [compare_pairs(pairs(random, 10, 0.01, 0.0)).kind for _ in range(300)]
    assert none.count("slower") + none.count("faster") <= 0.02 * 300


def ruined(random, count, share, upward, change=0.0):
    """Pairs with some rounds that are off by a factor of 1.2 to 3."""
    found = pairs(random, count, 0.01, change)
    for number in np.flatnonzero(random.random(count) < share):
        factor = random.uniform(1.2, 3) ** (1 if upward else random.choice([-1, 1]))
        found[number] = [(before, after * factor) for before, after in found[number]]
    return found


@pytest.mark.parametrize("upward", [False, True], ids=["either way", "upward"])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_ruined_rounds_do_not_count(share, upward):
    """The truth lies in the interval, and 2 % are found, as if they had not been measured."""
    random = np.random.default_rng(61)
    found = [compare_pairs(ruined(random, 20, share, upward)) for _ in range(200)]
    changed = [compare_pairs(ruined(random, 20, share, upward, 0.02)) for _ in range(100)]
    assert sum(not verdict.low <= 1 <= verdict.high for verdict in found) <= 6
    assert all(abs(verdict.ratio - 1) < 0.02 for verdict in found)
    assert sum(verdict.kind == "slower" for verdict in changed) >= 95


@pytest.mark.parametrize("upward", [False, True], ids=["either way", "upward"])
def test_ten_rounds_find_two_percent_next_to_ruined_ones(upward):
    """In 85 of 100 cases at least, with one round in ten ruined; the ratio stays within 2 %."""
    random = np.random.default_rng(71)
    found = [compare_pairs(ruined(random, 10, 0.1, upward, 0.02)) for _ in range(400)]
    assert 0.85 * 400 <= sum(verdict.kind == "slower" for verdict in found)
    assert sum(abs(verdict.ratio / 1.02 - 1) > 0.02 for verdict in found) <= 0.02 * 400


def test_rounds_in_two_equal_groups_leave_it_open():
    """Half at one level and half at another: none of them is ruined for sure."""
    rounds = [[(1.0, level + noise)] for level in (1.0, 1.5) for noise in (0, 0.004, 0.008)]
    verdict = compare_pairs(rounds)
    assert "ambiguous" == verdict.kind
    assert verdict.low < 1.0 and 1.5 < verdict.high


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_the_probability_agrees_with_the_interval(share):
    """Below 1 % where the interval leaves out 1, at every look."""
    random = np.random.default_rng(67)
    for change in np.linspace(0, 0.03, 100):
        verdict = compare_pairs(ruined(random, 10, 0.1, False, change), share)
        assert (verdict.probability < 0.01) == (not verdict.low <= 1 <= verdict.high)


def test_rounds_that_agree_to_the_digit_are_not_certain():
    """Three equal ones of a coarse clock do not outweigh five that scatter."""
    rounds = [[(1.0, after)] for after in (1.02, 1.02, 1.02, 1.0, 0.99, 1.01, 1.03, 0.98)]
    assert compare_pairs(rounds).low < 1.01 < compare_pairs(rounds).high


def test_a_difference_too_small_to_matter_is_none():
    """Two per mille, however certain."""
    before = [[1.0]] * 5
    assert "same" == compare_samples(before, [[1.002]] * 5).kind
    assert "slower" == compare_samples(before, [[1.01]] * 5).kind
    assert "same" == compare_samples(before, before).kind


def test_rounds_that_agree_by_chance_do_not_hide_their_own_scatter():
    """Medians that fall together prove no more than the samples behind them."""
    scattered = [[0.5, 1.0, 2.0]] * 4
    assert "ambiguous" == compare_samples(scattered, [[0.55, 1.1, 2.2]] * 4).kind


@pytest.mark.slow
def test_many_questions_are_asked_at_once():
    """A finding that one in a hundred questions would give is none among a thousand."""
    random = np.random.default_rng(47)
    none = [
        compare_samples(rounds(random, 10, 0.01), rounds(random, 10, 0.01)) for _ in range(1000)
    ]
    real = [
        compare_samples(rounds(random, 10, 0.01), rounds(random, 10, 0.01, 0.05)) for _ in range(50)
    ]
    alone = sum(verdict.kind in ("slower", "faster") for verdict in none)
    kept = corrected(none + real)
    assert 1 <= alone <= 25
    assert sum(verdict.kind in ("slower", "faster") for verdict in kept[:1000]) <= 3
    assert all(verdict.kind == "slower" for verdict in kept[1000:])
    for before, after in zip(none + real, kept, strict=True):
        assert before == replace(after, kind=before.kind)


def test_probabilities_are_adjusted_as_scipy_does():
    """The same as Benjamini and Hochberg's there, ties and one alone included."""
    from scipy.stats import false_discovery_control

    random = np.random.default_rng(5)
    for count in (1, 2, 50):
        probabilities = np.round(random.random(count) ** 3, 2)
        expected = false_discovery_control(probabilities)
        assert expected == pytest.approx(_adjusted(probabilities), abs=1e-12)


def test_no_questions_no_findings():
    assert [] == corrected([])
    ambiguous = compare_samples([], [])
    assert [ambiguous] == corrected([ambiguous])


@pytest.mark.parametrize(
    "side",
    [[], [[]], [[], []], [[math.nan]], [[0.0, -1.0], [math.inf]], [[math.nan]] * 5],
    ids=str,
)
def test_sides_without_a_usable_time_are_ambiguous(side):
    """No rounds, empty ones, or nothing in them that is a time."""
    sound = [[1.0, 1.1]] * 5
    for verdict in (
        compare_samples(side, sound),
        compare_samples(sound, side),
        compare_pairs([[(a, 1.0) for a in each] for each in side]),
    ):
        assert ("ambiguous", math.inf, 0) == (verdict.kind, verdict.detectable, verdict.rounds)
        assert math.isnan(verdict.ratio)


def test_unusable_times_are_passed_over():
    """They change nothing about the rounds that have others."""
    random = np.random.default_rng(53)
    before, after = rounds(random, 5, 0.01), rounds(random, 7, 0.01, 0.1)
    holed = [[*each, math.nan, -1.0, 0.0, math.inf] for each in before]
    assert compare_samples(before, after) == compare_samples([*holed, [math.nan]], after)


times = st.floats(1e-9, 1e9) | st.sampled_from([0.0, -1.0, math.nan, math.inf])
sides = st.lists(st.lists(times, max_size=5), max_size=6)


@given(sides, sides)
def test_any_rounds_have_an_answer(before, after):
    """Ratio inside its interval; the other way round it is the inverse."""
    verdict = compare_samples(before, after)
    back = compare_samples(after, before)
    assert verdict.detectable > 0
    if not math.isnan(verdict.low):
        assert verdict.low <= verdict.ratio <= verdict.high
        assert {"slower": "faster", "faster": "slower"}.get(verdict.kind, verdict.kind) == (
            back.kind
        )
        assert verdict.ratio == pytest.approx(1 / back.ratio)


logs = st.floats(-0.5, 0.5)
ratios = st.lists(st.lists(logs, min_size=1, max_size=4), min_size=1, max_size=12)


def verdict_on(rounds, unit=0.0):
    return compare_pairs(
        [[(math.exp(unit), math.exp(unit + each)) for each in taken] for taken in rounds]
    )


def close(one, other):
    """Whether two verdicts say the same but for rounding."""
    bounds = [(v.low, v.ratio, v.high, v.detectable) for v in (one, other)]
    return one.rounds == other.rounds and bounds[0] == pytest.approx(
        bounds[1], rel=1e-6, abs=1e-6, nan_ok=True
    )


@given(ratios)
def test_sides_that_are_swapped_give_the_reciprocal(rounds):
    there, back = verdict_on(rounds), verdict_on([[-each for each in taken] for taken in rounds])
    swapped = replace(back, low=1 / back.high, ratio=1 / back.ratio, high=1 / back.low)
    assert close(there, swapped)


@given(ratios, st.floats(-5, 5))
def test_the_unit_of_seconds_changes_nothing(rounds, unit):
    assert close(verdict_on(rounds), verdict_on(rounds, unit))


@given(ratios, st.randoms())
def test_the_order_of_rounds_changes_nothing(rounds, random):
    mixed = list(rounds)
    random.shuffle(mixed)
    assert close(verdict_on(rounds), verdict_on(mixed))


@pytest.mark.parametrize(
    "tenths", [[-5, -2, -4, 4, -4, -3, -5, 5, -2, -3, 1, 0, 5], list(range(20)), [0] * 18]
)
def test_windows_that_are_equally_probable_are_kept_or_left_out_together(tenths):
    """Some of these tie with the last window that is kept."""
    rounds = [[each / 10] for each in tenths]
    there, back = verdict_on(rounds), verdict_on([[-each for each in taken] for taken in rounds])
    swapped = replace(back, low=1 / back.high, ratio=1 / back.ratio, high=1 / back.low)
    assert close(there, swapped)


def test_other_programs_import_the_judgement_of_seconds_from_analysis():
    """As the page on detection says; names that are none are no attributes."""
    from deepbench_ops import analysis

    pairs = [[(1.0, 1.1)] * 3] * 5
    assert "slower" == analysis.compare_pairs(pairs).kind
    assert "slower" == analysis.compare_samples([[1.0, 1.01]] * 5, [[1.1, 1.11]] * 5).kind
    assert [] == analysis.detect_changes([1.0] * 20, [(0.9, 1.1)] * 20)
    assert {"Change", "Verdict", "corrected"} < set(analysis.__all__)
    assert all(hasattr(analysis, name) for name in analysis.__all__)
    assert not hasattr(analysis, "compare_nothing")


def test_verdicts_of_several_kernels_are_those_of_each():
    """Judged together, whatever their numbers of rounds; levels without a number do not count."""
    random = np.random.default_rng(7)
    several = [
        [(level, 1e-6) for level in random.normal(change, 0.01, count).tolist()]
        for count, change in ((10, 0.0), (0, 0.0), (2, 0.1), (10, 0.05), (12, 0.0), (10, 0.2))
    ]
    several[3].append((math.nan, math.nan))
    together = compare_each(several)
    assert ["same", "ambiguous", "ambiguous", "slower", "same", "slower"] == [
        verdict.kind for verdict in together
    ]
    for levels, verdict in zip(several, together, strict=True):
        alone = compare_levels(levels)
        assert alone.rounds == verdict.rounds
        for name in ("ratio", "low", "high", "detectable", "probability"):
            expected = pytest.approx(getattr(alone, name), rel=1e-9, abs=1e-12, nan_ok=True)
            assert expected == getattr(verdict, name)
