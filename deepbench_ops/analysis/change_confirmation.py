"""Confirmation of changes: kernels measured again, the release before next to the one after.

Lines of releases were measured on different days. Two releases in an ensemble are measured in the
same milliseconds, so that a change of the machine does not repeat (see `measure.ensemble_sweeps`).
Kernels with a certain verdict after a few rounds are not measured further; the looks share one
error probability (`statistics.stopping_rule`).
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from deepbench_ops import project
from deepbench_ops.analysis.change_causes import Cause
from deepbench_ops.analysis.ensemble_verdicts import Ensemble, Goal, compare_in_one_state
from deepbench_ops.analysis.kernel_lines import Shift
from deepbench_ops.analysis.points import Point
from deepbench_ops.analysis.verdict import Verdict, corrected, settled
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import library_variables
from deepbench_ops.measure.fingerprint import SETTINGS
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.measure.unfinished_rounds import RoundStore
from deepbench_ops.measure.worker_control import Launch
from deepbench_ops.releases import worker_launch
from deepbench_ops.statistics.ratio_texts import interval_text, ratio_texts
from deepbench_ops.statistics.stopping_rule import Look, looks

EACH = 3
"""Kernels of a cause that are measured: those that changed most."""

FRESH = 24 * 3600
"""Seconds after which a round that waits for the others is of another day, and does not count."""

KernelStep = tuple[str, str, KernelIdentity]
"""The names of the releases before and after, and the task that is measured."""


@dataclass
class Confirmed:
    """Verdicts in shared rounds on kernels of causes, and reasons of those without one.

    machine: the one that measured; changes on others stay as they are.
    """

    machine: str
    verdicts: dict[KernelStep, Verdict] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)

    def of(self, cause: Cause) -> list[tuple[Shift, Verdict]]:
        """Return the kernels of a cause that were measured again, in every set that lists them."""
        found = ((shift, self.again(shift)) for shift in _measurable(cause))
        return [(shift, verdict) for shift, verdict in found if verdict is not None]

    def again(self, shift: Shift) -> Verdict | None:
        """Return the verdict on a kernel; None where it was not measured again."""
        return self.verdicts.get(_key(shift)) if shift.after.machine == self.machine else None

    def repeats(self, cause: Cause) -> bool:
        """Whether one of its kernels changed again, or none could be measured."""
        again = self.of(cause)
        return not again or any(verdict.kind == shift.kind for shift, verdict in again)

    def unlike(self, cause: Cause) -> list[tuple[Shift, Verdict]]:
        """Return its kernels that did not change in the same direction again, each once."""
        again = {_key(shift): (shift, verdict) for shift, verdict in self.of(cause)}
        return [(shift, verdict) for shift, verdict in again.values() if verdict.kind != shift.kind]

    def is_open(self, cause: Cause) -> bool:
        """Whether it did not repeat, and one of its kernels has no certain verdict."""
        verdicts = [verdict.kind for _, verdict in self.of(cause)]
        return not self.repeats(cause) and "ambiguous" in verdicts

    def summaries(self, cause: Cause) -> list[str]:
        """Return one text per kernel measured again, or the one reason why none was."""
        if cause.machine != self.machine:
            return [f"not measured again: it is on {cause.machine}"]
        again = self.of(cause)
        if not again:
            return [self.reasons.get((cause.before.name, cause.after.name), "not measured here")]
        return [
            as_text(verdict)
            for verdict in {_key(shift): verdict for shift, verdict in again}.values()
        ]


def as_text(verdict: Verdict) -> str:
    """Return a verdict with its ratio and interval: "slower 1.2 (1.15 .. 1.26)"."""
    (ratio,) = ratio_texts(verdict.ratio)
    return f"{verdict.kind} {ratio} ({interval_text(verdict.low, verdict.high)})"


def confirm(
    causes: Sequence[Cause],
    rounds: int,
    say: Callable[[str], object],
    folder: Path | None = None,
) -> Confirmed:
    """Measure the kernels that changed most of each cause, and return the verdicts on them.

    causes: all on this machine. folder: of the releases' environments, which are made where they
    are missing; the project's unless given. Rounds that are done are kept next to it for a day, so
    that the same question goes on after an interruption.
    """
    folder = project.environments() if folder is None else folder
    together: dict[tuple[str, str], list[Cause]] = {}
    for cause in causes:
        together.setdefault((cause.before.name, cause.after.name), []).append(cause)
    confirmed, groups = Confirmed(next((cause.machine for cause in causes), "")), []
    for names, members in together.items():
        tasks = list(dict.fromkeys(t for cause in members for t in _most_changed(cause)))
        if not tasks:
            confirmed.reasons[names] = _why_not(members)
            continue
        say(f"{names[0]} against {names[1]}: kernels {len(tasks)}, rounds up to {rounds}")
        path = folder.parent / "confirm" / f"{names[0]}..{names[1]}.jsonl"
        kept = RoundStore(path, names, since=time.time() - FRESH)
        launches = cache(partial(_launches, members[0], folder, say))
        groups.append(PairGroup(names, tasks, kept, launches))
    alone: dict[KernelStep, Verdict] = {}
    for look in looks(rounds):
        for group in groups:
            try:
                alone |= group.verdicts(look)
            except DeepbenchError as reason:
                confirmed.reasons[group.names] = str(reason)
                say(str(reason))
                group.open = []
        judged = corrected(list(alone.values()))
        confirmed.verdicts = dict(zip(alone, judged, strict=True))
        for group in groups:
            group.leave(confirmed.verdicts)
    for group in groups:
        if group.names not in confirmed.reasons:
            group.kept.forget()
    return confirmed


@dataclass
class PairGroup:
    """Measurement of two releases: the kernels without a verdict yet, and the stored rounds."""

    names: tuple[str, str]
    open: list[KernelIdentity]
    kept: RoundStore
    launches: Callable[[], dict[str, Launch]]

    def verdicts(self, look: Look) -> dict[KernelStep, Verdict]:
        """Measure up to a look, and return the verdicts on the kernels that are open.

        Raises DeepbenchError where none of them could be measured on both releases.
        """
        if any(self.kept.missing(task, look.rounds - 1) for task in self.open):
            ensemble = Ensemble(self.launches(), self.names[-1], self.kept)
            ensemble.measure(self.open, Goal(within=0.0, most=look.rounds))
        measured = [task for task in self.open if self._has_times(task)]
        if self.open and not measured:
            raise DeepbenchError(self._reason(self.open[0]))
        self.open = measured
        return {
            (*self.names, task): compare_in_one_state(self.kept.of(task), *self.names, look.share)
            for task in self.open
        }

    def leave(self, verdicts: dict[KernelStep, Verdict]) -> None:
        """Measure no more of the kernels whose verdict is certain."""
        self.open = [task for task in self.open if not settled(verdicts[*self.names, task])]

    def _has_times(self, task: KernelIdentity) -> bool:
        """Whether any round has times of both releases."""
        return any(set(self.names) <= set(each.names) for each in self.kept.of(task))

    def _reason(self, task: KernelIdentity) -> str:
        """Return the reason why a kernel lacks times of a release."""
        reasons = [text for each in self.kept.of(task) for text in each.reasons.values()]
        return reasons[0] if reasons else "not measured"


def _launches(cause: Cause, folder: Path, say: Callable[[str], object]) -> dict[str, Launch]:
    return {
        release.name: worker_launch.launch(release, folder, say)
        for release in (cause.before, cause.after)
    }


def _key(shift: Shift) -> KernelStep:
    return shift.before.release.name, shift.after.release.name, _task(shift.after)


def _measurable(cause: Cause) -> list[Shift]:
    """Return the kernels of a cause that can be measured again, the largest change first.

    They run in one process, under the usual conditions, on the processor, and were measured under
    the external settings that hold here.
    """
    fit = [s for s in cause.shifts if _plain(s.after) and _under_settings_of_here(s.after)]
    return sorted(fit, key=lambda shift: -abs(math.log(shift.change.ratio)))


def _plain(point: Point) -> bool:
    return point.ranks is None and not point.unusual.keys() - {SETTINGS}


def _under_settings_of_here(point: Point) -> bool:
    return point.settings is None or point.settings == library_variables.of_this_process()


def _why_not(causes: Sequence[Cause]) -> str:
    """Return why none of the kernels of some causes is measured again."""
    points = [shift.after for cause in causes for shift in cause.shifts if _plain(shift.after)]
    if not points:
        return "cannot be measured in shared rounds"
    under = library_variables.text(points[0].settings or ()) or "no external settings"
    here = library_variables.text(library_variables.of_this_process()) or "none"
    return f"measured under {under}; here: {here}"


def _most_changed(cause: Cause) -> list[KernelIdentity]:
    """Return the kernels of a cause to measure, each once."""
    return list(dict.fromkeys(_task(shift.after) for shift in _measurable(cause)))[:EACH]


def _task(point: Point) -> KernelIdentity:
    return KernelIdentity(point.family, point.problem_id, point.precision, point.operation)
