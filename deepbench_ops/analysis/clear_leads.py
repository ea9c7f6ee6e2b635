"""Leads of the fastest of several over all others, by verdicts on each two of them."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from deepbench_ops.analysis.verdict import Verdict, corrected

T = TypeVar("T")

LEAST = 1.01
"""A smaller ratio is no lead, however certain."""


def first_two_compared(
    fastest_first: Sequence[T], compare: Callable[[T, T], Verdict | None]
) -> list[T]:
    """Return two or more in their order, but the first two in that of their own comparison.

    The given order may rest on ratios to a third one. compare: returns the verdict on the second
    argument's seconds over the first's, None where they cannot be compared.
    """
    first, second, *others = fastest_first
    found = compare(first, second)
    if found is not None and found.ratio < 1:
        return [second, first, *others]
    return list(fastest_first)


def are_clear(kernels: Sequence[Sequence[Verdict]]) -> list[bool]:
    """Return whether the fastest is ahead of all others, for each of several kernels.

    kernels: of each the verdicts on the others' seconds over those of the fastest. Without any the
    answer is True. All verdicts of a kernel have to hold, which noise alone makes no more probable
    than the least certain one. So the correction for the number of kernels has that one of each.
    """
    stand = iter(
        corrected([max(each, key=lambda one: one.probability) for each in kernels if each])
    )
    return [
        all(one.kind == "slower" and one.ratio >= LEAST for one in [*each, next(stand)])
        if each
        else True
        for each in kernels
    ]
