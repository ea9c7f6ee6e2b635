"""Verdicts on the releases of an ensemble, also from rounds with ruined processes."""

import math
import uuid

import numpy as np
import pytest

from deepbench_ops.analysis.ensemble_verdicts import Ensemble, Goal, compare, half_width
from deepbench_ops.analysis.history_stores import OpenHistory
from deepbench_ops.analysis.verdict import NOTHING_KNOWN, compare_pairs
from deepbench_ops.measure import ensemble_sweeps
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.statistics.stopping_rule import FEWEST_FOR_WIDTH

NAMES = ["a", "b", "c", "d", "e"]
TRUE = np.log([1.0, 1.0, 1.02, 1.05, 0.8])
TASK = KernelIdentity("gemm", "m35_n700_k2048_NN", "float32")


def rounds(random, count: int, ruined: float = 0.0, sweeps: int = 20) -> list[Round]:
    """Return rounds of five releases: 1 % between processes, 1 % within, some processes slowed.

    ruined: share of processes that take 1.2 to 3 times as long for a whole round.
    """
    found = []
    for number in range(count):
        process = TRUE + random.normal(0, 0.01, len(NAMES))
        slowed = random.random(len(NAMES)) < ruined
        process += slowed * random.uniform(math.log(1.2), math.log(3), len(NAMES))
        machine = random.uniform(0, math.log(2), (sweeps, 1))  # whatever disturbs all alike
        logs = process + machine + random.normal(0, 0.01, (sweeps, len(NAMES)))
        taken = [dict(zip(NAMES, row, strict=True)) for row in np.exp(logs)]
        name = f"{uuid.uuid4().hex}-{number}"
        found.append(Round(taken, id=name, anchor="a", conditions=ensemble_sweeps.conditions()))
    return found


@pytest.mark.parametrize("ruined", [0.0, 0.1])
def test_ratios_survive_ruined_processes(ruined):
    """Of 40 histories of 20 rounds, intervals hold the truth, and 5 and 20 % are always found."""
    random = np.random.default_rng(3)
    missed = found = 0
    for _ in range(40):
        taken = rounds(random, 20, ruined)
        for index, name in enumerate(NAMES[1:], 1):
            verdict = compare(taken, "a", name)
            missed += not verdict.low <= math.exp(TRUE[index]) <= verdict.high
            found += name in "de" and verdict.kind in ("slower", "faster")
    assert missed <= 6  # of 160 intervals of 99 %
    assert 80 == found


def test_two_releases_are_a_pair():
    """An ensemble of two gives the verdict that its pairs give."""
    random = np.random.default_rng(5)
    pairs = np.exp(random.normal([0, 0.03], 0.01, (10, 30, 2)))
    taken = [Round([{"a": one, "b": other} for one, other in each]) for each in pairs]
    ours, theirs = compare(taken, "a", "b"), compare_pairs(pairs.tolist())
    assert theirs.kind == ours.kind
    assert pytest.approx((theirs.ratio, theirs.low, theirs.high)) == (
        ours.ratio,
        ours.low,
        ours.high,
    )


def test_a_release_without_values_is_ambiguous():
    """Nothing is known of it, and its half-width is infinite."""
    verdict = compare(rounds(np.random.default_rng(1), 5), "a", "z")
    assert NOTHING_KNOWN is verdict
    assert math.inf == half_width(verdict)


def test_measuring_stops_at_the_goal(monkeypatch, tmp_path):
    """A quiet kernel is measured up to the first round that settles it, and no further."""
    random, begun = np.random.default_rng(2), []

    def run_round(launches, tasks, number, anchor, together, reference, seconds):
        begun.append(number)
        return iter([(task, rounds(random, 1)[0]) for task in tasks])

    monkeypatch.setattr(ensemble_sweeps, "run_round", run_round)
    store = RoundStore(tmp_path / "a.jsonl", NAMES)
    found = Ensemble(dict.fromkeys(NAMES, Launch("python")), "a", store)
    found.measure([TASK], Goal(within=0.05, most=40))
    assert begun == list(range(len(begun)))
    assert FEWEST_FOR_WIDTH <= len(begun) < 40
    assert found.half_width(TASK) <= 0.05
    assert ["e"] == [name for name, each in found.against_anchor(TASK).items() if each.ratio < 0.9]


def test_a_kernel_that_the_anchor_lacks_is_settled_by_the_others(monkeypatch, tmp_path):
    """They are compared with the one of most rounds, which is the anchor of further rounds."""
    random, anchors = np.random.default_rng(2), []

    def run_round(launches, tasks, number, anchor, together, reference, seconds):
        anchors.append(anchor)
        (taken,) = rounds(random, 1)
        lost = {"e", "d"} if number == 1 else {"e"}
        taken.sweeps = [{n: s for n, s in each.items() if n not in lost} for each in taken.sweeps]
        taken.reasons = dict.fromkeys(lost, "Unsupported: no such operation")
        return iter([(task, taken) for task in tasks])

    monkeypatch.setattr(ensemble_sweeps, "run_round", run_round)
    store = RoundStore(tmp_path / "a.jsonl", NAMES)
    found = Ensemble(dict.fromkeys(NAMES, Launch("python")), "e", store)
    found.measure([TASK], Goal(within=0.05, most=40))
    assert ["e", "d", "c"] == anchors[:3]
    assert FEWEST_FOR_WIDTH <= len(anchors) < 40
    assert "c" == found.anchor_of(TASK)
    assert {"a", "b", "d"} == set(found.against_anchor(TASK))
    assert found.half_width(TASK) <= 0.05


def test_the_budget_ends_a_round_in_the_middle(monkeypatch, tmp_path):
    """No further kernel is begun once the seconds are spent, and the measured ones are kept."""
    other = KernelIdentity("gemm", "m1760_n128_k1760_NN", "float32")
    random, ended = np.random.default_rng(4), []

    def run_round(launches, tasks, number, anchor, together, reference, seconds):
        try:
            for task in tasks:
                yield task, rounds(random, 1)[0]
        finally:
            ended.append(number)

    monkeypatch.setattr(ensemble_sweeps, "run_round", run_round)
    store = RoundStore(tmp_path / "a", NAMES)
    found = Ensemble(dict.fromkeys(NAMES, Launch("python")), "a", store)
    times = iter([0.0, 11.0])
    found.measure([TASK, other], Goal(seconds=0.5), clock=lambda: next(times))
    assert (1, 0) == (len(store.of(TASK)), len(store.of(other)))
    assert [0] == ended


def test_a_kernel_of_long_calls_waits_for_the_others(monkeypatch, tmp_path):
    """Six rounds of one of three would take more than 90 seconds, as a smaller one tells: it has
    its first round when the others are settled."""
    ids = ("m7680_n1500_k2560_NN", "m35_n700_k2048_NN", "m3072_n128_k1024_NN")
    long, *short = (KernelIdentity("gemm", name, "float32") for name in ids)
    random, now, asked = np.random.default_rng(4), [0.0], []

    def run_round(launches, tasks, number, anchor, together, reference, seconds):
        for task in tasks:
            (taken,) = rounds(random, 1)
            taken.spent = 70.0 if task == long else 0.5
            now[0] += taken.spent
            asked.append(task)
            yield task, taken

    monkeypatch.setattr(ensemble_sweeps, "run_round", run_round)
    store = RoundStore(tmp_path / "a", NAMES)
    found = Ensemble(dict.fromkeys(NAMES, Launch("python")), "a", store)
    found.measure([long, *short], Goal(within=0.05, seconds=90.0), clock=lambda: now[0])
    assert short == asked[:2]
    assert set(short) == set(asked[2:-2])
    assert [long, long] == asked[-2:]
    assert all(found.half_width(task) <= 0.05 for task in short)


def test_a_kernel_that_would_take_more_than_is_left_is_not_begun(monkeypatch, tmp_path):
    """One of three takes 500 of 90 seconds, which shows when it is prepared: it is tried for ten,
    and when the others are settled for all that is left. Neither is enough, and the command ends.
    """
    long = KernelIdentity("rnn", "lstm_h256_n4_t150", "float32")
    short = [TASK, KernelIdentity("gemm", "m3072_n128_k1024_NN", "float32")]
    random, now, given = np.random.default_rng(4), [0.0], []

    def run_round(launches, tasks, number, anchor, together, reference, seconds):
        for task in tasks:
            now[0] += 0.5
            given.append((task, seconds(task)))
            (taken,) = [Round(too_long=500.0)] if task == long else rounds(random, 1)
            taken.spent = 0.5
            yield task, taken

    monkeypatch.setattr(ensemble_sweeps, "run_round", run_round)
    store = RoundStore(tmp_path / "a", NAMES)
    found = Ensemble(dict.fromkeys(NAMES, Launch("python")), "a", store)
    found.measure([*short, long], Goal(within=0.05, seconds=90.0), clock=lambda: now[0])
    assert [] == store.of(long)
    assert all(found.half_width(task) <= 0.05 for task in short)
    assert (short[0], math.inf) == given[0]  # the first may take any time
    first, second = (allowed for task, allowed in given if task == long)
    assert 10.0 == first
    assert 60.0 < second < 90.0
    assert long == given[-1][0]


def test_rounds_of_other_conditions_are_not_read(tmp_path, monkeypatch):
    """Other threads: the file stays, and its rounds are not combined with new ones."""
    path = tmp_path / "a.jsonl"
    (taken,) = rounds(np.random.default_rng(1), 1)
    RoundStore(path, NAMES).add(TASK, taken)
    again = RoundStore(path, NAMES)
    assert not again.missing(TASK, 0)
    assert pytest.approx(taken.logs(NAMES), abs=1e-4) == again.of(TASK)[0].logs(NAMES)
    assert not RoundStore(path, NAMES[::-1]).missing(TASK, 0)
    assert ["f"] == RoundStore(path, [*NAMES, "f"]).lacking(TASK, 0)
    monkeypatch.setenv("DEEPBENCH_THREADS", "1")
    assert RoundStore(path, NAMES).missing(TASK, 0)


def test_measuring_goes_on_until_one_state_settles_a_kernel(monkeypatch, tmp_path):
    """Rounds far and near take turns: each state has half of them, and they are not combined."""
    random, begun = np.random.default_rng(2), []

    def run_round(launches, tasks, number, anchor, together, reference, seconds):
        begun.append(number)
        (taken,) = rounds(random, 1)
        taken.latencies = [500.0, 500.0] if number % 2 else [200.0, 200.0]
        slower = 1.5 if number % 2 else 1.0
        taken.sweeps = [{**each, "e": slower * each["e"]} for each in taken.sweeps]
        return iter([(task, taken) for task in tasks])

    monkeypatch.setattr(ensemble_sweeps, "run_round", run_round)
    store = RoundStore(tmp_path / "a.jsonl", NAMES, levels=[200.0, 500.0])
    found = Ensemble(dict.fromkeys(NAMES, Launch("python")), "a", store)
    found.measure([TASK], Goal(within=0.05, most=40))
    selected = found.selected(TASK)
    assert {selected.state} == {each.state for each in selected.rounds}
    assert len(begun) == len(selected.rounds) + selected.left_out
    assert abs(len(selected.rounds) - selected.left_out) <= 1
    assert found.half_width(TASK) <= 0.05
    expected = {"near": 0.8, "far": 1.2}[selected.state]
    assert pytest.approx(expected, rel=0.03) == found.compare(TASK, "a", "e").ratio
    assert 6 < len(begun) < 40


def test_a_release_in_another_state_alone_leaves_a_kernel_open(tmp_path):
    """Its half-width is infinite, though the others are known well."""
    store = RoundStore(tmp_path / "a.jsonl", NAMES, levels=[200.0, 500.0])
    for number, taken in enumerate(rounds(np.random.default_rng(4), 14)):
        taken.latencies = [200.0, 200.0] if number < 10 else [500.0, 500.0]
        if number < 10:
            taken.sweeps = [{n: s for n, s in each.items() if n != "e"} for each in taken.sweeps]
        store.add(TASK, taken)
    found = Ensemble(dict.fromkeys(NAMES, Launch("python")), "a", store)
    assert ("near", 4) == (found.selected(TASK).state, found.selected(TASK).left_out)
    assert NOTHING_KNOWN is found.compare(TASK, "a", "e")
    assert math.inf == found.half_width(TASK)
    opened = OpenHistory(store, ensemble_sweeps.SweptYardstick(Launch("python")), None)
    assert (True, False) == (opened.settles(TASK, "d"), opened.settles(TASK, "e"))


@pytest.mark.parametrize(
    ("reason", "settles"),
    [("Unsupported: no such operation", True), ("BeyondLimits: it needs 2e9 bytes", False)],
)
def test_a_release_beyond_the_limits_is_not_settled(tmp_path, reason, settles):
    """`asv run` measures it on its own, and a history that goes on tries it again."""
    path = tmp_path / "a.jsonl"
    store = RoundStore(path, [*NAMES, "f"])
    for taken in rounds(np.random.default_rng(4), 3):
        taken.reasons = {"f": reason}
        store.add(TASK, taken)
    opened = OpenHistory(store, ensemble_sweeps.SweptYardstick(Launch("python")), None)
    assert settles is opened.settles(TASK, "f")
    assert [] == store.lacking(TASK, 2)
    assert ([] if settles else ["f"]) == RoundStore(path, [*NAMES, "f"]).lacking(TASK, 0)
