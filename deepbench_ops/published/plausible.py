"""What a submitted time must be: of a known kernel, in seconds, and no faster than its machine."""

import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from deepbench_ops.conditions import CONDITIONS, DEVICE
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.profile import Figure
from deepbench_ops.problems import sizes
from deepbench_ops.problems.ids import problem_of
from deepbench_ops.problems.nearest import unknown
from deepbench_ops.problems.precision import MIXED, PRECISIONS
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.published import raw
from deepbench_ops.published.headings import TIMES
from deepbench_ops.published.peaks import BEYOND, times_peak
from deepbench_ops.results.measurements import Record

Point = dict[str, Any]

BEYOND_CONVOLUTION = 10.0
"""How many times the peak is impossible for convolutions, which can do with a fraction of the
direct method's FLOPs."""

ANOTHER_UNIT = 10.0
"""How far a time may be from the median of what it was made of: machines vary, units by 1000."""

ROUNDED = 1e-4
"""asv keeps intervals to five digits, so that a bound may pass the time that it belongs to."""


def check(result: Mapping[str, Any], peaks: Mapping[str, Figure]) -> None:
    """Raise DeepbenchError, with the reason, for a point of a result that cannot be.

    `peaks` are those of the submitted profile for the result's device, by precision.
    """
    sent = raw.by_point(result.get("measurements", ()))
    seen = set()
    for point in result["points"]:
        try:
            key = point["benchmark"], tuple(point["params"])
            if key in seen:
                raise DeepbenchError("it is there twice")
            seen.add(key)
            _refuse_unknown(*key)
            _refuse_another_unit(point, sent.get(raw.plain(*key), ()))
            _refuse_impossible(point, peaks)
        except DeepbenchError as wrong:
            named = f"{point['benchmark']}({', '.join(point['params'])})"
            release = f"{result['framework']}-{result['release']}"
            raise DeepbenchError(f"{release} {named}: {wrong}") from None


def check_conditions(variables: Mapping[str, str]) -> None:
    """Raise DeepbenchError for what is no condition of a run, or no value of one."""
    known = {condition.variable: condition for condition in CONDITIONS}
    for name, value in variables.items():
        if name not in known:
            raise unknown("condition", name, sorted(known))
        if name == DEVICE.variable:  # others than are measured here may be sent
            fits = re.fullmatch(r"[a-z][a-z0-9_]*", value) is not None
        else:
            fits = value in known[name].values
        if not fits:
            raise DeepbenchError(f"{name} is {value!r}, no {known[name].name} of a run")


def _refuse_unknown(benchmark: str, params: Sequence[str]) -> None:
    family, kind, kernel = benchmark.split(".")
    axes = 3 if family == "all_reduce" else 2
    if len(params) != axes:
        raise DeepbenchError(f"{len(params)} parameters: {family} has {axes}")
    problem_id, precision = (text.strip("'") for text in params[:2])
    problem = problem_of(family, problem_id)
    operation = kernel.removeprefix("kernel_")
    operations = {*problem.operations, *problem.beside, *TIMES.get(family, {}).values()}
    for what, name, known in (
        ("set", kind, CLASSES.values()),
        (f"operation of {family}", operation, operations),
        ("precision", precision, (*PRECISIONS, MIXED)),
    ):
        if name not in known:
            raise unknown(what, name, sorted(known))
    ranks = [str(sizes.size("ranks", text)) for text in params[2:]]
    spelt = [repr(problem.id), repr(precision), *ranks]
    if list(params) != spelt:
        raise DeepbenchError(f"write its parameters as {', '.join(spelt)}")


def _refuse_another_unit(point: Point, records: Sequence[Record]) -> None:
    seconds: float = point["seconds"]
    low, high = point.get("low", seconds), point.get("high", seconds)
    if low > seconds * (1 + ROUNDED) or seconds > high * (1 + ROUNDED):
        raise DeepbenchError(f"{seconds:g} s is outside of its interval, {low:g} to {high:g} s")
    raw_seconds = [each for record in records for each in record["seconds"]]
    for what, taken in (("samples", point.get("samples", ())), ("raw seconds", raw_seconds)):
        middle = statistics.median(taken) if taken else seconds
        if not middle / ANOTHER_UNIT <= seconds <= middle * ANOTHER_UNIT:
            raise DeepbenchError(
                f"{seconds:g} s is far from {middle:g} s, the median of its {what}: another unit?"
            )


def _refuse_impossible(point: Point, peaks: Mapping[str, Figure]) -> None:
    known = {name: each.value for name, each in peaks.items() if each.value is not None}
    key = point["benchmark"], tuple(point["params"])
    share = times_peak(key, point["seconds"], known)
    if share and share > (BEYOND_CONVOLUTION if key[0].startswith("conv.") else BEYOND):
        raise DeepbenchError(
            f"{point['seconds']:g} s would take {share:.3g} times the peak that its profile says"
            " the machine can do"
        )
