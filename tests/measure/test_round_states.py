"""States of rounds from their latencies, and which rounds of a kernel count together."""

import pytest

from deepbench_ops.measure import round_states
from deepbench_ops.measure.ensemble import Round
from deepbench_ops.measure.ensemble_store import EnsembleStore
from deepbench_ops.measure.pairs import Task

TASK = Task("gemm", "m35_n700_k2048_NN", "float32")
LEVELS = (200.0, 500.0)


def one(*latencies: float, state: str = "", number: int = 0) -> Round:
    """Return a round of two releases with these latencies."""
    sweeps = [{"a": 1.0, "b": 2.0}]
    return Round(sweeps, latencies=list(latencies), id=f"1-{number}", anchor="a", state=state)


@pytest.mark.parametrize(
    ("latencies", "state"),
    [
        ((195.0, 205.0), "near"),
        ((510.0, 490.0), "far"),
        ((195.0, 505.0), "changed in between"),
        ((320.0, 320.0), "unknown"),
        ((), ""),
    ],
)
def test_the_state_is_that_of_the_latencies(latencies, state):
    """By the levels of the machine's profile."""
    taken = one(*latencies)
    round_states.derive([taken], LEVELS)
    assert state == taken.state


def test_levels_are_learned_from_all_rounds():
    """Without a profile nothing is known of one round, and two levels of four."""
    first = one(200.0, 201.0)
    round_states.derive([first])
    assert "" == first.state
    taken = [first, one(202.0, 199.0), one(500.0, 501.0), one(502.0, 499.0)]
    round_states.derive(taken)
    assert ["near", "near", "far", "far"] == [each.state for each in taken]


def test_the_state_of_most_rounds_counts():
    """Unknown and changed ones agree with none, and rounds without times are no rounds."""
    states = ["near"] * 2 + ["unknown"] * 5 + ["far"] * 3 + ["changed in between"] * 4
    taken = [one(state=state) for state in states]
    empty = [Round(state="near") for _ in range(9)]
    found = round_states.select([*taken, *empty])
    assert ("far", taken[7:10], 11) == found


def test_all_rounds_count_where_no_state_is_known():
    """As without levels, on one core and on one thread."""
    taken = [one() for _ in range(4)]
    assert ("", taken, 0) == round_states.select(taken)


def test_no_round_counts_where_all_are_unknown():
    """They are left out, and there is no state."""
    assert ("", [], 3) == round_states.select([one(state="unknown")] * 3)


def test_a_store_derives_states_again_when_a_round_is_added(tmp_path):
    """A second level gives the first one its name."""
    store = EnsembleStore(tmp_path / "a.jsonl", ["a", "b"], levels=LEVELS[:1])
    store.add(TASK, one(200.0, 200.0, number=1))
    assert ["one level"] == [each.state for each in store.of(TASK)]
    for number in (2, 3):
        store.add(TASK, one(500.0, 500.0, number=number))
    assert ["near", "far", "far"] == [each.state for each in store.of(TASK)]
