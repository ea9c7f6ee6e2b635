"""Rounds of a machine's histories inside a submission: verdicts elsewhere rest on them as well.

They are merged as their files are, by kernel and round, in any order and however often. A round
that differs from the stored one is refused.
"""

import json
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions.submission_checks import refuse_impossible, refuse_unknown
from deepbench_ops.machine.impossible_times import Roofs
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.run_conditions import DEVICE
from deepbench_ops.storage import ensemble_round_checks, ensemble_round_files, facts_digest
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.ensemble_round_checks import NoRound
from deepbench_ops.storage.ensemble_round_files import (
    Entry,
    RoundIdentity,
    RoundsFile,
    identity,
)

NAME = re.compile(r"[a-z][a-z0-9_]*")
ANY_SET = next(iter(CLASSES.values()))
"""Rounds are of no set: any class names their benchmark."""

Sent = Mapping[str, Any]
"""By name of the file: its `facts` and `rounds`."""


def pack(machine: Path) -> dict[str, Any]:
    """Return the rounds in a machine's folder of results, by name of their file.

    Raises DeepbenchError for a damaged file.
    """
    files = {
        ensemble_round_files.name_of(path): path for path in ensemble_round_files.paths(machine)
    }
    loaded = {name: ensemble_round_files.load(path) for name, path in files.items()}
    return {name: {"facts": each.facts, "rounds": each.entries} for name, each in loaded.items()}


def check(sent: Sent, known: Profile) -> None:
    """Raise DeepbenchError, naming file and round, for rounds that cannot be.

    `known` is the submitted profile, with peaks and bandwidth of each device.
    """
    for name, each in sent.items():
        if not NAME.fullmatch(name):
            raise DeepbenchError(f"rounds of {name!r}: name a framework")
        for digest, facts in each["facts"].items():
            if facts_digest.digest(facts) != digest:
                raise DeepbenchError(
                    f"rounds of {name}: facts {digest} are others than their digest says: ask for"
                    " the submission again"
                )
        for number, entry in enumerate(each["rounds"], 1):
            try:
                ensemble_round_checks.check(entry)
                _refuse_impossible(entry, known)
            except (NoRound, DeepbenchError) as wrong:
                raise DeepbenchError(f"rounds of {name}, number {number}: {wrong}") from None


def refuse_different(machine: Path, sent: Sent) -> None:
    """Raise DeepbenchError for a round that has other numbers in a machine's folder, or twice."""
    for _ in _merged(machine, sent):
        pass


def accept(machine: Path, sent: Sent, ready: Ready) -> int:
    """Merge rounds into those of a machine's folder; return how many files that changed.

    Raises DeepbenchError as `refuse_different` does.
    """
    changed = 0
    for path, stored, found in _merged(machine, sent):
        if found.entries != stored.entries:
            ensemble_round_files.write(ready(path), found)
            changed += 1
    return changed


class SentRounds:
    """Rounds of the submissions of one import, which must agree with each other too.

    Only their digests are kept. The file of an earlier submission is read again where the digests
    of a round differ: one of the two may have all of the other, and more sweeps or releases.
    """

    def __init__(self, submissions: Mapping[Path, Any]) -> None:
        self._submissions = submissions
        self._seen: dict[tuple[str, str, RoundIdentity], tuple[bytes, Path]] = {}

    def add(self, path: Path, machine: str, sent: Sent) -> None:
        """Add the checked rounds of the next submission.

        Raises DeepbenchError for one that has other numbers in an earlier submission.
        """
        differing: dict[Path, list[tuple[str, Entry]]] = defaultdict(list)
        for name, entry in _each(sent):
            one = _digest(entry), path
            before, other = self._seen.setdefault((machine, name, identity(entry)), one)
            if before != one[0]:
                differing[other].append((name, entry))
        for other, several in differing.items():
            earlier = self._submissions[other].get("ensembles", {})
            known = {(name, identity(entry)): entry for name, entry in _each(earlier)}
            for name, entry in several:
                kernel, number = identity(entry)
                more = ensemble_round_files.fuller(known[name, identity(entry)], entry)
                if more is None:
                    raise DeepbenchError(
                        f"rounds of {name}: round {number} of {' '.join(kernel)} has other numbers"
                        f" in {other}: import one of the two files"
                    )
                if more is entry:
                    self._seen[machine, name, identity(entry)] = _digest(entry), path


def _each(sent: Sent) -> Iterator[tuple[str, Entry]]:
    """Yield the rounds with the names of their files."""
    for name, each in sent.items():
        for entry in each["rounds"]:
            yield name, entry


def _digest(entry: Entry) -> bytes:
    return sha256(json.dumps(entry, sort_keys=True).encode()).digest()


def _merged(machine: Path, sent: Sent) -> Iterator[tuple[Path, RoundsFile, RoundsFile]]:
    """Yield each file that rounds are for, its content, and its content with them."""
    for name, each in sent.items():
        path = ensemble_round_files.path_of(machine, name)
        stored = ensemble_round_files.load(path)
        new = RoundsFile(dict(each["facts"]), list(each["rounds"]))
        yield path, stored, ensemble_round_files.merged(stored, new, str(path))


def _refuse_impossible(entry: Entry, known: Profile) -> None:
    """Raise DeepbenchError for an unknown kernel, and for a release that beats the machine."""
    family, problem, precision, operation = ensemble_round_files.kernel_of(entry)
    benchmark = f"{family}.{ANY_SET}.kernel_{operation}"
    params = [repr(problem), repr(precision)]
    refuse_unknown(benchmark, params)
    roofs = Roofs.of(known, entry.get("conditions", {}).get(DEVICE.name, DEVICE.usual))
    for release, column in entry["seconds"].items():
        if times := [each for each in column if each is not None]:
            point = {"benchmark": benchmark, "params": params, "seconds": statistics.median(times)}
            try:
                refuse_impossible(point, roofs)
            except DeepbenchError as wrong:
                raise DeepbenchError(f"{release}: {wrong}") from None
