"""Runs of whole models inside a submission: percentiles and scaling.

Of two runs that answer the same question a signed one is kept, then that of the later day, of the
same day the one with the greater text: the same in any order, and however often.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from deepbench_ops.analysis import model_latency_points
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import signed_versions
from deepbench_ops.exchange.submissions.signed_versions import SignedVersions
from deepbench_ops.machine.impossible_times import Roofs
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.storage import atomic_write, json_lines, model_runs
from deepbench_ops.storage.atomic_write import Ready
from deepbench_ops.storage.model_runs import ModelRun

FIELD = "model_runs"


def pack(machine: Path) -> list[ModelRun]:
    """Return the runs in a machine's folder. Raises DeepbenchError for a damaged file."""
    return sorted(model_runs.load(machine), key=model_runs.order)


def check(sent: Iterable[ModelRun], known: Profile) -> None:
    """Raise DeepbenchError, naming the run, for one that cannot be.

    known: the submitted profile, whose peaks and bandwidth no latency may beat.
    """
    for number, run in enumerate(sent, 1):
        try:
            wrong = model_runs.why_not(run) or _in_future(run) or _beaten(run, known)
        except (KeyError, TypeError, ValueError) as fault:
            wrong = f"it is no run ({type(fault).__name__}: {fault})"
        if wrong:
            raise DeepbenchError(f"run {number} of a model: {wrong}")


def accept(machine: Path, sent: Sequence[ModelRun], ready: Ready, signed: SignedVersions) -> int:
    """Merge runs into those of a machine's folder; return how many files that changed."""
    path = machine / model_runs.FILE
    stored = model_runs.load(machine)

    def rank(run: ModelRun) -> tuple[bool, str, str]:
        is_signed = signed_versions.id_of(path, _text(run)) in signed.signers
        return is_signed, str(run.get("day", "")), _text(run)

    found = model_runs.best([*stored, *sent], rank)
    if found == sorted(stored, key=model_runs.order):
        return 0
    atomic_write.write_text(ready(path), json_lines.as_text(found))
    return 1


def ids(machine: Path, sent: Iterable[ModelRun]) -> Iterator[str]:
    """Yield the ids by which runs are noted as signed."""
    return (signed_versions.id_of(machine / model_runs.FILE, _text(run)) for run in sent)


def _in_future(run: ModelRun) -> str:
    """Return the day of a run that lies ahead, "" for none: that run would be kept for ever."""
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)  # it may be that elsewhere already
    day = str(run.get("day", ""))
    return f"its day is {day}, in the future" if day > tomorrow.isoformat() else ""


def _text(run: ModelRun) -> str:
    return json.dumps(run, sort_keys=True)


def _beaten(run: ModelRun, known: Profile) -> str:
    """Return the roof that a latency beats, "" for none, and for a model that is unknown here."""
    if run["kind"] != model_latency_points.KIND:
        return ""
    try:
        problem = model_latency_points.problem(run)
    except DeepbenchError:
        return ""
    kind = CLASSES[model_latency_points.SET]
    benchmark = f"{Model.family}.{kind}.kernel_{model_latency_points.OPERATION}"
    key = benchmark, (repr(problem.id), repr(run["precision"]))
    beaten = Roofs.of(known, run["device"]).beaten(key, run["median_seconds"])
    return beaten and f"{run['median_seconds']:g} s would take {beaten} of the machine's profile"
