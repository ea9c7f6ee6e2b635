"""Rounds of an ensemble while it is measured, so that a history goes on after an interruption.

Each round of a kernel is appended to a journal. At checkpoints the journal's lines are filed next
to the results (`storage.ensemble_round_files`), and leave the journal last: a kill in between
leaves rounds in both, which are the same by their id. Filed rounds of earlier runs count as well.
Rounds are combined where they were measured under the same conditions, and in the same way. Those
of other conditions wait in the journal for a run under these, which files their results too.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deepbench_ops.errors import BeyondLimits
from deepbench_ops.measure import ensemble_round_json, ensemble_sweeps, preferred_state
from deepbench_ops.measure.ensemble_round import Round
from deepbench_ops.measure.kernel_identity import KernelIdentity
from deepbench_ops.storage import (
    atomic_write,
    ensemble_round_checks,
    ensemble_round_files,
    fact_lines,
    facts_digest,
    json_lines,
    locks,
    measured_rounds,
)
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.ensemble_round_files import Entry, RoundsFile
from deepbench_ops.storage.fact_lines import FactsByDigest

DOING = "deepbench history"

BEYOND_LIMITS = f"{BeyondLimits.__name__}: "
"""Prefix of the reasons that may hold no longer when a command is started again."""


@dataclass
class RoundStore:
    """Rounds of kernels over a set of releases.

    path: the journal. releases: the names of all that are to be measured, in any order. filed: the
    file next to the results, None where nothing is to be filed. levels: those of core latency in
    the machine's profile, by which rounds have their states. since: seconds since 1970; rounds
    that began earlier, rounds of other conditions than `here`, and damaged lines of the journal are
    left where they are and not returned. Neither are reasons of earlier commands by which a release
    had too little memory or time: it is tried again.
    Raises DeepbenchError for a filed line that is damaged.
    """

    path: Path
    releases: Collection[str]
    filed: Path | None = None
    levels: Sequence[float] = ()
    since: float = 0.0
    here: dict[str, str] = field(default_factory=ensemble_sweeps.conditions)
    rounds: dict[KernelIdentity, dict[str, Round]] = field(default_factory=dict)
    _has_states: bool = False
    _written: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for content in (self.stored(), self._journal()):
            for task, rounds in ensemble_round_json.by_kernel(content).items():
                usable = {
                    this_round.id: this_round
                    for this_round in rounds
                    if this_round.conditions == self.here and this_round.started_at >= self.since
                }
                for each in usable.values():
                    each.reasons = _lasting(each.reasons)
                self.rounds.setdefault(task, {}).update(usable)

    def stored(self) -> RoundsFile:
        """Return the filed rounds."""
        return ensemble_round_files.load(self.filed) if self.filed else RoundsFile({}, [])

    def lacking(self, task: KernelIdentity, number: int) -> list[str]:
        """Return the releases that a kernel's rounds settle no more than `number` times.

        A round settles a release if it has times of it, or the reason why it has none.
        """
        rounds = self.of(task)
        return [
            name
            for name in self.releases
            if sum(name in each.reasons or name in each.names for each in rounds) <= number
        ]

    def missing(self, task: KernelIdentity, number: int) -> bool:
        """Return whether a kernel lacks a round of this number for any release."""
        return bool(self.lacking(task, number))

    def add(self, task: KernelIdentity, this_round: Round) -> None:
        """Append one round of a kernel, on the disk before the next one is measured."""
        self.rounds.setdefault(task, {})[this_round.id] = this_round
        self._has_states = False
        facts, entry = ensemble_round_json.entry_of(task, this_round)
        new = {digest: each for digest, each in facts.items() if digest not in self._written}
        lines = fact_lines.lines(new, new)
        with locks.writing(self.path.parent, DOING):
            json_lines.append(self.path, [*lines, entry])
        self._written |= new.keys()

    def of(self, task: KernelIdentity) -> list[Round]:
        """Return the rounds of a kernel with their states, oldest first."""
        if not self._has_states:  # a new round may bring a new level for all
            every = [each for found in self.rounds.values() for each in found.values()]
            preferred_state.derive(every, self.levels)
            self._has_states = True
        return sorted(
            self.rounds.get(task, {}).values(), key=lambda each: (each.started_at, each.id)
        )

    def count(self, task: KernelIdentity) -> int:
        """Return how many rounds of a kernel there are, in whatever state of the machine."""
        return len(self.rounds.get(task, {}))

    def anchor(self, names: Collection[str]) -> str | None:
        """Return the anchor of most rounds among these releases, None where no round has one."""
        rounds = [each for found in self.rounds.values() for each in found.values()]
        counts = Counter(each.anchor for each in rounds if each.anchor in names)
        return max(sorted(counts), key=counts.__getitem__, default=None)

    def unfiled(self) -> list[KernelIdentity]:
        """Return the kernels that have rounds of these conditions in the journal."""
        return list(ensemble_round_json.by_kernel(self._to_file()))

    def file(self, ready: Ready = Path) -> None:
        """Add the journal's rounds of these conditions to the filed ones.

        ready: as `atomic_write.together` gives it. Raises DeepbenchError and OSError, and leaves
        the journal as it is in any case: `forget` removes it.
        """
        journal = self._to_file()
        if self.filed is not None and journal.entries:
            measured_rounds.add(self.filed, journal.facts, journal.entries, ready)

    def forget(self) -> None:
        """Remove the rounds of these conditions from the journal; they have been filed."""
        with locks.writing(self.path.parent, DOING):
            journal = self._journal()
            left = [each for each in journal.entries if self._waits(each)]
            if left:
                used = set().union(*map(ensemble_round_files.digests, left))
                lines = fact_lines.lines(journal.facts, used & journal.facts.keys())
                text = json_lines.as_text([*lines, *left], allow_nan=True)
                atomic_write.write_text(self.path, text)
            else:
                self.path.unlink(missing_ok=True)
        self._written.clear()

    def _to_file(self) -> RoundsFile:
        """Return the lines of the journal that were measured under these conditions."""
        journal = self._journal()
        own = [each for each in journal.entries if each.get("conditions", {}) == self.here]
        return RoundsFile(journal.facts, own)

    def _waits(self, entry: Entry) -> bool:
        """Whether a line waits in the journal for a run under its conditions."""
        is_old = entry["started_at"] < self.since
        return not is_old and entry.get("conditions", {}) != self.here

    def _journal(self) -> RoundsFile:
        """Return the whole lines of the journal."""
        facts: FactsByDigest = {}
        return RoundsFile(facts, list(_entries(self.path, facts)))


def _lasting(reasons: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in reasons.items() if not text.startswith(BEYOND_LIMITS)}


def _entries(path: Path, facts: FactsByDigest) -> Iterator[Entry]:
    """Yield the rounds of a journal, and put its facts into `facts`; damaged lines are left out."""
    for line in json_lines.read(path):
        try:
            if "facts" in line:
                facts[str(line["fingerprint"])] = facts_digest.checked(line)
            else:
                ensemble_round_checks.check(line)
                yield line
        except (ValueError, KeyError):
            continue
