"""Comparison of two measurements of the same ratios, for parts of `history_proof.py`.

A kernel counts as good only if all of its ratios are: the worst one decides.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from proof_rounds import count_states
from proof_tables import median, named, share_of

from deepbench_ops.analysis.ensemble_verdicts import compare, half_width
from deepbench_ops.analysis.verdict import Verdict
from deepbench_ops.measure import preferred_state
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity

Measurement = Mapping[KernelIdentity, Sequence[Round]]

NEAR, FAR = 0.015, 0.05
"""Differences to the quiet ratio that most disturbed ones are to keep, and all of them."""


@dataclass(frozen=True)
class Twice:
    """The ratio of a release to the anchor, measured twice in one state of the machine."""

    task: KernelIdentity
    release: str
    state: str
    first: Verdict
    second: Verdict

    @property
    def apart(self) -> float:
        """Distance of the two ratios, as a logarithm."""
        return abs(math.log(self.first.ratio / self.second.ratio))

    @property
    def allowed(self) -> float:
        """Half-width of the combined interval of 99 %, as a logarithm."""
        both = (self.first, self.second)
        return math.hypot(*((math.log(each.high) - math.log(each.low)) / 2 for each in both))

    @property
    def agrees(self) -> bool:
        """Whether the ratios lie within their combined interval."""
        return self.apart <= self.allowed

    @property
    def off(self) -> float:
        """Difference of the second ratio to the first, as a share of it."""
        return self.second.ratio / self.first.ratio - 1


def ratios(first: Measurement, second: Measurement) -> list[Twice]:
    """Return all ratios that both measurements have with an interval in a state that both have.

    Raises SystemExit where there are none.
    """
    preferred_state.derive([*every_round(first), *every_round(second)])
    found = [each for task in first if task in second for each in _of(task, first, second)]
    if not found:
        raise SystemExit(
            "no kernel has intervals of both in one state yet: a larger --budget, or more --rounds"
        )
    return found


def _of(task: KernelIdentity, first: Measurement, second: Measurement) -> Iterator[Twice]:
    """Yield the ratios of one kernel."""
    parts = [[preferred_state.parts(each) for each in side[task]] for side in (first, second)]
    counts = [Counter(chain.from_iterable(side)) for side in parts]
    shared = sorted(set(counts[0]) & set(counts[1]))
    if not shared:
        return
    state = max(shared, key=lambda name: min(count[name] for count in counts))
    sides = [[each[state] for each in side if state in each] for side in parts]
    anchor = sides[0][0].anchor
    for name in sorted({name for each in sides[0] for name in each.names} - {anchor}):
        verdicts = [compare(side, anchor, name) for side in sides]
        if all(math.isfinite(half_width(each)) for each in verdicts):
            yield Twice(task, name, state or "unknown", *verdicts)


def every_round(measurement: Measurement) -> list[Round]:
    """Return the rounds of all kernels."""
    return list(chain.from_iterable(measurement.values()))


def row(ratio: Twice) -> dict[str, str]:
    """Return the row of one ratio."""
    both = (ratio.first, ratio.second)
    first, second = (f"{each.ratio:.4f} ({each.low:.4f} .. {each.high:.4f})" for each in both)
    return {
        **named(ratio.task),
        "release": ratio.release,
        "state": ratio.state,
        "first": first,
        "second": second,
        "difference": f"{ratio.off:+.2%}",
        "allowed": f"{ratio.allowed:.2%}",
    }


def hours_apart(found: Sequence[Twice], first: Measurement, second: Measurement) -> list[str]:
    """Return the summary of the ratios of two measurements, hours apart."""
    ended = max(each.ended_at for each in every_round(first))
    began = min(each.started_at for each in every_round(second))
    good = by_kernel([(each.task, each.agrees) for each in found])
    return [
        f"two measurements, {(began - ended) / 3600:.1f} h apart"
        f" ({count_states([*every_round(first), *every_round(second)])}):",
        "- kernels with all ratios within their combined interval of 99 %:"
        f" {share_of(sum(map(all, good.values())), len(good))}; at least 97 %",
        f"- ratios within it: {share_of(sum(each.agrees for each in found), len(found))}",
        f"- distance of two ratios, median: {median([each.apart for each in found]):.2%}, allowed"
        f" {median([each.allowed for each in found]):.2%}",
        left_out(first, len(good)),
    ]


def disturbed(found: Sequence[Twice], quiet: Measurement, noisy: Measurement) -> list[str]:
    """Return the summary of the ratios of quiet rounds and disturbed ones."""
    offs = by_kernel([(each.task, abs(each.off)) for each in found])
    worst = [max(each) for each in offs.values()]
    return [
        f"quiet and disturbed rounds ({count_states(every_round(quiet) + every_round(noisy))}); of"
        " each kernel the ratio that differs most counts:",
        f"- within {NEAR:.1%} of the quiet ratio:"
        f" {share_of(sum(each <= NEAR for each in worst), len(worst))}; at least 90 %",
        f"- off by more than {FAR:.0%}: {sum(each > FAR for each in worst)}; none allowed",
        left_out(quiet, len(worst)),
    ]


def left_out(measured: Measurement, compared: int) -> str:
    """Return the line about kernels that cannot be compared."""
    return (
        f"- kernels left out, without intervals of both in one state: {len(measured) - compared}"
        f" of {len(measured)}"
    )


def by_kernel(values: Sequence[tuple[KernelIdentity, float]]) -> dict[KernelIdentity, list[float]]:
    """Return the values of each kernel."""
    found: dict[KernelIdentity, list[float]] = {}
    for task, value in values:
        found.setdefault(task, []).append(value)
    return found
