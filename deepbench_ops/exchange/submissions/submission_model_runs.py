"""Checks of the runs of whole models inside a submission: percentiles and scaling."""

from collections.abc import Iterable

from deepbench_ops.analysis import model_latency_points
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.impossible_times import Roofs
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.storage import model_run_fields
from deepbench_ops.storage.model_run_fields import ModelRun

FIELD = "model_runs"


def check(sent: Iterable[ModelRun], known: Profile) -> None:
    """Raise DeepbenchError, naming the run, for one that cannot be.

    known: the submitted profile, whose peaks and bandwidth no latency may beat.
    """
    for number, run in enumerate(sent, 1):
        try:
            wrong = model_run_fields.why_not(run) or _beaten(run, known)
        except (KeyError, TypeError, ValueError) as fault:
            wrong = f"it is no run ({type(fault).__name__}: {fault})"
        if wrong:
            raise DeepbenchError(f"run {number} of a model: {wrong}")


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
