"""The state of the machine that a history prefers for a kernel, and the rounds measured in it.

A ratio of two releases holds for a state (`machine_states`). A machine may change its state within
a round, so that each sweep has its own; the sweeps of one state are a round by themselves. Of a
kernel's rounds only those of one state count: the preferred one, which most of them have.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from deepbench_ops.measure import machine_states
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.ensemble_sweeps import FEWEST_SWEEPS

SEVERAL_NOMINALS = "raw seconds: sweeps of one state have several nominal readings"
"""Remark on the calibration of a round."""


class SelectedRounds(NamedTuple):
    """The rounds of a kernel that count, in their order.

    state: of the machine in all of them, "" where it is not known. left_out: how many rounds with
    times have none in this state.
    """

    state: str
    rounds: list[Round]
    left_out: int


def derive(rounds: Sequence[Round], known: Iterable[float] = ()) -> None:
    """Set `state` and `by_state` of rounds from the latencies before and after, and between sweeps.

    known: levels of the machine's profile in nanoseconds; further ones are learned from all these
    rounds, so that all are to be given at once. A round without latencies keeps its state.
    """
    readings = list(chain.from_iterable(map(_readings, rounds)))
    state_of = machine_states.namer(machine_states.learned(readings, known), readings)
    for each in rounds:
        each.state = state_of(each.latencies) or each.state
        states = [state_of(_finite(two)) for two in each.sweep_latencies]
        if any(states):
            each.by_state = _by_state(each, states)
            in_parts = [name for name, part in each.by_state.items() for _ in part.sweeps]
            each.state = most_common(in_parts) or machine_states.together(states)


def parts(this_round: Round) -> dict[str, Round]:
    """Return the sweeps of each state of the machine, as rounds; {} where no state is known of any.

    A round whose latencies were not read is one of the state "".
    """
    if this_round.by_state:
        return this_round.by_state
    return {} if this_round.state in machine_states.INCOMPARABLE else {this_round.state: this_round}


def most_common(states: Iterable[str]) -> str:
    """Return the state that occurs most often, the first by name of several.

    Unknown and changed ones agree with none, and do not count; "" without others.
    """
    counts = Counter(each for each in states if each not in machine_states.INCOMPARABLE)
    return max(sorted(counts), key=counts.__getitem__, default="")


def select(rounds: Iterable[Round]) -> SelectedRounds:
    """Return a kernel's rounds in the state that has most of those with times."""
    timed = [parts(each) for each in rounds if each.names]
    state = most_common(chain.from_iterable(timed))
    used = [each[state] for each in timed if state in each]
    return SelectedRounds(state, used, len(timed) - len(used))


def _by_state(this_round: Round, states: Sequence[str]) -> dict[str, Round]:
    """Return the sweeps of each state that has enough of them, by the state of each sweep."""
    rows = {
        name: [row for row, state in enumerate(states) if state == name]
        for name in dict.fromkeys(states)
        if name and name not in machine_states.INCOMPARABLE
    }
    return {
        name: _part(this_round, name, mine)
        for name, mine in rows.items()
        if len(mine) >= FEWEST_SWEEPS
    }


def _part(this_round: Round, state: str, rows: Sequence[int]) -> Round:
    """Return the round of these sweeps alone, which were measured in one state."""
    around = [this_round.sweep_latencies[row] for row in rows]
    nominal, remark = this_round.nominal, this_round.calibration
    if this_round.nominals:
        each_sweep = {(this_round.nominals[row], this_round.remarks[row]) for row in rows}
        # Sweeps at the edge of the state had none: how far it reaches shows after all rounds.
        chosen = {two for two in each_sweep if two[0] is not None} or each_sweep
        nominal, remark = chosen.pop() if len(chosen) == 1 else (None, SEVERAL_NOMINALS)
    return replace(
        this_round,
        sweeps=[this_round.sweeps[row] for row in rows],
        yardstick=[this_round.yardstick[row] for row in rows if this_round.yardstick],
        latencies=[min(map(min, around)), max(map(max, around))],
        sweep_latencies=around,
        nominal=nominal,
        nominals=[],
        remarks=[],
        calibration=remark,
        state=state,
        by_state={},
    )


def _readings(this_round: Round) -> list[float]:
    """Return the latencies of all sweeps, or where there are none those before and after."""
    return _finite(chain.from_iterable(this_round.sweep_latencies)) or this_round.latencies


def _finite(values: Iterable[float]) -> list[float]:
    return [each for each in values if math.isfinite(each)]
