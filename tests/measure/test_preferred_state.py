"""States of rounds from their latencies, and which rounds of a kernel count together."""

import pytest

from deepbench_ops.measure import preferred_state
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.unfinished_rounds import RoundStore

TASK = KernelIdentity("gemm", "m35_n700_k2048_NN", "float32")
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
    preferred_state.derive([taken], LEVELS)
    assert state == taken.state


def test_levels_are_learned_from_all_rounds():
    """Without a profile nothing is known of one round, and two levels of four."""
    first = one(200.0, 201.0)
    preferred_state.derive([first])
    assert "" == first.state
    taken = [first, one(202.0, 199.0), one(500.0, 501.0), one(502.0, 499.0)]
    preferred_state.derive(taken)
    assert ["near", "near", "far", "far"] == [each.state for each in taken]


def test_the_state_of_most_rounds_counts():
    """Unknown and changed ones agree with none, and rounds without times are no rounds."""
    states = ["near"] * 2 + ["unknown"] * 5 + ["far"] * 3 + ["changed in between"] * 4
    taken = [one(state=state) for state in states]
    empty = [Round(state="near") for _ in range(9)]
    found = preferred_state.select([*taken, *empty])
    assert ("far", taken[7:10], 11) == found


def test_all_rounds_count_where_no_state_is_known():
    """As without levels, on one core and on one thread."""
    taken = [one() for _ in range(4)]
    assert ("", taken, 0) == preferred_state.select(taken)


def test_no_round_counts_where_all_are_unknown():
    """They are left out, and there is no state."""
    assert ("", [], 3) == preferred_state.select([one(state="unknown")] * 3)


def mixed(*pairs: tuple[float, float], **more) -> Round:
    """Return a round whose sweeps, numbered by their seconds, have these latencies."""
    sweeps = [{"a": 1.0 + row, "b": 2.0} for row in range(len(pairs))]
    return Round(sweeps, latencies=[pairs[0][0], pairs[-1][1]], sweep_latencies=list(pairs), **more)


NEAR, FAR, CHANGING = (200.0, 205.0), (500.0, 490.0), (205.0, 500.0)


def test_the_sweeps_of_one_state_are_a_round():
    """Those in which the state changed are of none, nor are fewer than four of one state."""
    taken = mixed(*[NEAR] * 5, CHANGING, *[FAR] * 4, CHANGING, id="1-0", yardstick=[0.1] * 11)
    few = mixed(*[NEAR] * 3, CHANGING, *[FAR] * 3)
    preferred_state.derive([taken, few], LEVELS)
    found = preferred_state.parts(taken)
    assert {"near": [0, 1, 2, 3, 4], "far": [6, 7, 8, 9]} == {
        name: [sweep["a"] - 1 for sweep in part.sweeps] for name, part in found.items()
    }
    assert ["near", "near"] == [taken.state, found["near"].state]
    assert [500.0, 490.0] == sorted(found["far"].latencies, reverse=True)
    assert ["1-0", 4] == [found["far"].id, len(found["far"].yardstick)]
    assert ({}, "changed in between") == (preferred_state.parts(few), few.state)


def test_a_part_is_calibrated_by_the_nominal_reading_of_its_state():
    """And has the remark on it; raw where its sweeps have several."""
    nominals = [1.0] * 4 + [None] * 5
    remarks = [""] * 4 + ["raw seconds: why"] * 5
    several = mixed(*[NEAR] * 4, nominals=[1.0, 1.0, 2.0, 1.0], remarks=[""] * 4)
    taken = mixed(*[NEAR] * 4, CHANGING, *[FAR] * 4, nominals=nominals, remarks=remarks)
    preferred_state.derive([taken, several], LEVELS)
    found = [*preferred_state.parts(taken).values(), *preferred_state.parts(several).values()]
    assert [1.0, None, None] == [part.nominal for part in found]
    assert ["", "raw seconds: why", preferred_state.SEVERAL_NOMINALS] == [
        part.calibration for part in found
    ]


def test_sweeps_at_the_edge_of_a_state_are_calibrated_as_the_others_are():
    """While they were measured it was not known how far the state reaches."""
    edge, middle = (170.0, 171.0), (200.0, 201.0)
    dense = [one(*[low, low * 1.01] * 5) for low in range(165, 215)]
    taken = mixed(
        *[middle] * 4,
        *[edge] * 3,
        nominals=[1.0] * 4 + [None] * 3,
        remarks=[""] * 4 + ["raw seconds: the machine's state was unknown"] * 3,
    )
    preferred_state.derive([taken, *dense], LEVELS)
    part = preferred_state.parts(taken)["near"]
    assert (7, 1.0, "") == (len(part.sweeps), part.nominal, part.calibration)


def test_a_round_of_both_states_counts_in_the_one_that_others_have():
    """Its sweeps of that state alone."""
    both = mixed(*[NEAR] * 6, *[FAR] * 4)
    others = [one(500.0, 500.0), one(500.0, 500.0), one(200.0, 200.0)]
    preferred_state.derive([both, *others], LEVELS)
    found = preferred_state.select([both, *others])
    assert ("far", 1) == (found.state, found.left_out)
    assert [4, 1, 1] == [len(each.sweeps) for each in found.rounds]


def test_sweeps_without_levels_are_one_round():
    """Fewer than three readings and no profile: nothing is known."""
    taken = mixed((200.0, 205.0))
    preferred_state.derive([taken])
    assert {"": taken} == preferred_state.parts(taken)


def test_a_store_derives_states_again_when_a_round_is_added(tmp_path):
    """A second level gives the first one its name."""
    store = RoundStore(tmp_path / "a.jsonl", ["a", "b"], levels=LEVELS[:1])
    store.add(TASK, one(200.0, 200.0, number=1))
    assert ["one level"] == [each.state for each in store.of(TASK)]
    for number in (2, 3):
        store.add(TASK, one(500.0, 500.0, number=number))
    assert ["near", "far", "far"] == [each.state for each in store.of(TASK)]
