"""Checks of the rounds of histories inside a submission, on which verdicts elsewhere rest too."""

import re
import statistics
from collections.abc import Mapping
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions.submission_checks import refuse_impossible, refuse_unknown
from deepbench_ops.machine.impossible_times import Roofs
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.run_conditions import DEVICE
from deepbench_ops.storage import ensemble_round_checks, ensemble_round_files, facts_digest
from deepbench_ops.storage.ensemble_round_checks import NoRound
from deepbench_ops.storage.ensemble_round_files import Entry

NAME = re.compile(r"[a-z][a-z0-9_]*")
ANY_SET = next(iter(CLASSES.values()))
"""Rounds are of no set: any class names their benchmark."""

Sent = Mapping[str, Any]
"""By name of the file: its `facts` and `rounds`."""


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
