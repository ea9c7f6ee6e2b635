"""Rounds of an ensemble that were measured in one state of the machine.

A ratio of two releases holds for a state (`machine_states`). So of a kernel's rounds those of one
state count together: the state that has most of them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from deepbench_ops.measure import machine_states
from deepbench_ops.measure.ensemble import Round


class Selected(NamedTuple):
    """The rounds of a kernel that count, in their order.

    state: of the machine in all of them, "" where it is not known. left_out: how many rounds with
    times were measured in other states, or while the state was unknown or changed.
    """

    state: str
    rounds: list[Round]
    left_out: int


def derive(rounds: Sequence[Round], known: Iterable[float] = ()) -> None:
    """Set the state of rounds from their latencies before and after.

    known: levels of the machine's profile in nanoseconds; further ones are learned from all these
    rounds, so that all are to be given at once. A round without latencies keeps its state.
    """
    readings = [reading for each in rounds for reading in each.latencies]
    levels = machine_states.learned(readings, known)
    for each in rounds:
        each.state = machine_states.state(each.latencies, levels) or each.state


def most_common(states: Iterable[str]) -> str:
    """Return the state of most rounds by the state of each, the first by name of several.

    Rounds whose state is unknown or changed agree with none, and do not count; "" without others.
    """
    counts = Counter(each for each in states if each not in machine_states.INCOMPARABLE)
    return max(sorted(counts), key=counts.__getitem__, default="")


def select(rounds: Iterable[Round]) -> Selected:
    """Return a kernel's rounds in the state that has most of those with times."""
    timed = [each for each in rounds if each.names]
    state = most_common(each.state for each in timed)
    used = [each for each in timed if each.state == state]
    return Selected(state, used, len(timed) - len(used))
