"""Reasons why a machine has no figure that was run in the same way as a published figure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from deepbench_ops.analysis.nearest_model_run import (
    MIXED,
    NearestRun,
    PublishedConditions,
    device_text,
)
from deepbench_ops.backends.families.model import memory_needed
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.measure.kernel_measurement import CALL_LIMIT_SECONDS
from deepbench_ops.models import recorded_training_steps
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.run_conditions import EXECUTION, LAYOUT

COMPILED = "compiled"
"""The execution that an int8 network is asked for in: there is none that is eager."""


@dataclass(frozen=True)
class Resources:
    """Facts that decide which kernels a machine's processors can measure, each None where unknown.

    memory: bytes of main memory. peak: FLOP/s, the highest of its profile. without: precisions of
    which the profile has no peak.
    """

    processors: int | None = None
    memory: float | None = None
    peak: float | None = None
    without: frozenset[str] = field(default=frozenset())


def resources_of(entry: Mapping[str, str], profile: Profile | None) -> Resources:
    """Return the resources in a machine's asv entry and profile, without the memory of a GPU."""
    count = entry.get("num_cpu", "")
    processors = int(count) if count.isdigit() else None
    if profile is None or set(profile.peaks) - {"cpu"}:
        return Resources(processors)
    memory = profile.facts.get("memory_bytes", "")
    peaks = {name: figure.value for name, figure in profile.peaks.get("cpu", {}).items()}
    return Resources(
        processors,
        float(memory) if memory.isdigit() else None,
        max((value for value in peaks.values() if value), default=None),
        frozenset(name for name, value in peaks.items() if value is None),
    )


def several_devices(network: str, batch: int | None, devices: int, here: Resources) -> str:
    """Return why a machine's own figure cannot be compared with that of several devices."""
    several = f"{devices} devices, and a point is of one"
    if here.processors is not None and devices > here.processors:
        return (
            f"{several}; as ranks they need {devices} processors, and there are {here.processors}"
        )
    each = f" --batch {batch}" if batch else ""
    return f"{several}; as ranks: deepbench scaling {network}{each} --ranks 1,{devices}"


def missing_reasons(
    wanted: PublishedConditions, run: NearestRun | None, here: Resources
) -> list[str]:
    """Return the reasons why there is no own figure that was run like a published one.

    run: the nearest run there is. Where it only has not been measured yet, the reason is the
    command that measures it. Empty where the run is like the published one.
    """
    found = [] if wanted.precision else ["its table states no precision"]
    if wanted.batch is None:
        return [*found, "its table states no batch"]
    if run is not None and not _unlike(wanted, run):
        return found
    written = wanted.framework != "mindspore" or wanted.network in recorded_training_steps.names()
    if not written:
        found.append(f"{wanted.network} is not written in MindSpore, torch runs it here")
    precision = _precision(wanted)
    if run is not None and wanted.precision and run.point.precision not in _allowed(wanted):
        unmeasured = f"{precision} was not measured"
        missing = f"{unmeasured}, and the machine's profile has no peak of it"
        found.append(missing if precision in here.without else unmeasured)
    model = Model(name=wanted.network, batch=wanted.batch, threads=wanted.threads)
    beyond = list(_beyond(model, wanted.operation, precision, here))
    if beyond:
        return found + beyond
    if run is not None and written and set(_unlike(wanted, run)) == {"torch"}:
        return [*found, _command(wanted, model, precision, "mindspore")]
    if run is None or set(_unlike(wanted, run)) - {"torch"}:
        found.append(_command(wanted, model, precision, _framework(wanted, written)))
    return found


def _allowed(wanted: PublishedConditions) -> tuple[str, ...]:
    return MIXED if wanted.precision == "mixed" else (wanted.precision or "float32",)


def _precision(wanted: PublishedConditions) -> str:
    """Return the precision to measure: for mixed bfloat16, in which alone of the two CPUs train."""
    return _allowed(wanted)[0]


def _framework(wanted: PublishedConditions, written: bool) -> str:
    return "mindspore" if wanted.framework == "mindspore" and written else "torch"


def _unlike(wanted: PublishedConditions, run: NearestRun) -> tuple[str, ...]:
    """Return how a run differs, except in a precision that is not published, in the execution, and
    in the name of the accelerator where the published figure is of one."""
    aside = {EXECUTION.usual, run.point.execution}
    if wanted.accelerator:
        aside.add(device_text(run.point))
    if not wanted.precision:
        aside.add(run.point.precision)
    return tuple(each for each in run.differs if each not in aside)


def _beyond(model: Model, operation: str, precision: str, here: Resources) -> Iterable[str]:
    """Yield the resources of a machine that are too small, by the limits of measuring."""
    if here.processors is not None and model.threads > here.processors:
        yield f"{model.threads} batches at once on {here.processors} processors"
    needed = memory_needed(model, operation, COMPILED if precision == "int8" else EXECUTION.usual)
    if here.memory is not None and needed > here.memory:
        yield f"{needed:.3g} bytes of memory needed by the estimate, {here.memory:.3g} there"
    seconds = model.flops_of(operation) / here.peak if here.peak else 0.0
    if seconds > CALL_LIMIT_SECONDS:
        yield (
            f"{seconds:.0f} s for a call even at the machine's peak, and {CALL_LIMIT_SECONDS:g} is"
            " the limit (DEEPBENCH_CALL_LIMIT)"
        )


def _command(wanted: PublishedConditions, model: Model, precision: str, framework: str) -> str:
    """Return the reason "not measured yet", with the command that measures it."""
    listed = "training" if wanted.operation == "training_step" else "inference_server"
    place = rf"^model\.{CLASSES[listed]}\.kernel_{wanted.operation}"
    command = (
        rf"not measured yet: asv run --bench '{place}\(.{model.id}., .{precision}.\)' {framework}"
    )
    matrix = {
        EXECUTION.variable: COMPILED if precision == "int8" else "",
        LAYOUT.variable: wanted.layout if wanted.layout != LAYOUT.usual else "",
    }
    asked = [f"{variable} {value}" for variable, value in matrix.items() if value]
    return f"{command}, with {' and '.join(asked)} in asv.conf.json's matrix" if asked else command
