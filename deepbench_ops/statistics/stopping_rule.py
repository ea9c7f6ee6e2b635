"""When measuring may stop: looks at the rounds so far, and the error probability of each look.

Looking five times, each time ready to stop at an interval of 99 %, finds something in noise more
often than once in a hundred. So the probability of an error is spent over the planned looks (alpha
spending, Lan and DeMets 1983): the shares add up to 1, and with them the probability that any of
the looks is wrong stays below that of one, whatever their dependence (Bonferroni).

Stopping when an interval is narrow enough is another matter: how wide it is says nothing about
which side of the truth it lies on, so intervals may be looked at as often as wanted (fixed-width
intervals, Chow and Robbins 1965). `bench/stopping_by_width.py` has the rates with ruined rounds.
"""

from dataclasses import dataclass

EVERY = 5
"""Rounds between two looks."""

FEWEST_FOR_WIDTH = 6
"""Rounds before the width of an interval may end a measurement. Few rounds may agree by chance, and
then look more certain than they are."""


@dataclass(frozen=True)
class Look:
    """A planned look: after how many rounds, and its share of the error probability."""

    rounds: int
    share: float


def looks(most: int, every: int = EVERY) -> list[Look]:
    """Return the looks at up to `most` rounds.

    The spent share grows with the square of the rounds: later looks are the sharper ones.
    """
    ends = [*range(every, most, every), most]
    return [
        Look(end, (end**2 - begin**2) / most**2)
        for begin, end in zip([0, *ends], ends, strict=False)
    ]
