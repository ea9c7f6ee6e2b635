"""Checks of submitted times: of a known kernel, in seconds, in agreement with their raw seconds,
and no faster than their machine."""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission_records
from deepbench_ops.machine.impossible_times import Roofs, times_bandwidth, times_peak
from deepbench_ops.machine.machine_profile import Profile
from deepbench_ops.problems.benchmark_names import refuse_unknown_kernel
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.selections import CLASSES
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.run_conditions import CONDITIONS, DEVICE, VALUE
from deepbench_ops.statistics.yardstick_calibration import on_quiet_machine
from deepbench_ops.storage import seconds_limits
from deepbench_ops.storage.measurement_files import Record
from deepbench_ops.storage.result_key import unquoted

Point = dict[str, Any]

LEAST_SHARE_OF_ROOF = 1 / 200
"""Share of its roof that the best kernel of a family must reach. The least best of results/,
release by release, is 1/16 (recurrent layers of the GTX 1080 Ti on 2017-07-12), the highest 2.5
times the peak (convolutions of the V100), which in milliseconds would be 1/400."""

FEWEST_KERNELS = 3
"""Least number of a family's kernels to judge it by its best: of fewer, all may be small."""

LARGEST_SAMPLE_RATIO = 10.0
"""Largest ratio of a time to the median of its samples: machines vary by less, units by 1000."""

LARGEST_RECORD_RATIO = 1.1
"""How far a time may be from the median of its calibrated raw seconds: of the
11,047 times of results/ the farthest is 0.1 % off."""

ROUNDED = 1e-4
"""asv keeps intervals to five digits, so that a bound may pass the time that it belongs to."""


def check(result: Mapping[str, Any], known: Profile) -> None:
    """Raise DeepbenchError, with the reason, for an impossible point of a result.

    `known` is the submitted profile, whose peaks and bandwidth of the result's device count.
    """
    roofs = Roofs.of(known, DEVICE.of(result["variables"]))
    release = f"{result['framework']}-{result['release']}"
    seen = set()
    for number, one in enumerate(submission_records.versions(result)):
        point, records = one.point, one.measurements
        try:
            key = point["benchmark"], tuple(point["params"])
            if number < len(result["points"]):
                if key in seen:
                    raise DeepbenchError("it is there twice")
                seen.add(key)
            elif key not in seen:
                raise DeepbenchError("it is another version of a point that is missing")
            refuse_unknown(*key)
            _refuse_another_unit(point, records)
            wrong = seconds_limits.why_not(point["seconds"], samples=point.get("samples"))
            if wrong:
                raise DeepbenchError(wrong)
            _refuse_contradictions(point, records)
            refuse_impossible(point, roofs)
        except DeepbenchError as wrong:
            named = f"{point['benchmark']}({', '.join(point['params'])})"
            raise DeepbenchError(f"{release} {named}: {wrong}") from None
    try:
        _refuse_too_slow(result["points"], roofs)
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{release}: {wrong}") from None


def check_conditions(variables: Mapping[str, str]) -> None:
    """Raise DeepbenchError for an unknown condition of a run, or an unknown value of one."""
    known = {condition.variable: condition for condition in CONDITIONS}
    for name, value in variables.items():
        if name not in known:
            raise unknown("condition", name, sorted(known))
        if name == DEVICE.variable:  # others than are measured here may be sent
            fits = VALUE.fullmatch(value) is not None
        else:
            fits = value in known[name].values
        if not fits:
            raise DeepbenchError(f"{name} is {value!r}, no {known[name].name} of a run")


def refuse_unknown(benchmark: str, params: Sequence[str]) -> None:
    """Raise DeepbenchError for a family, problem, set, operation or precision that there is not,
    and for parameters that are spelt otherwise than asv stores them."""
    family, *names = benchmark.split(".")
    if family not in TYPES:
        raise unknown("family", family, sorted(TYPES))
    if len(names) != 2 or not names[1].startswith("kernel_"):
        raise DeepbenchError(f"{benchmark} is no benchmark: write FAMILY.SET.kernel_OPERATION")
    kind, kernel = names
    if kind not in CLASSES.values():
        raise unknown("set", kind, sorted(CLASSES.values()))
    plain = unquoted(benchmark, params)[1]
    refuse_unknown_kernel(family, kernel.removeprefix("kernel_"), plain)
    spelt = [repr(problem_of(family, plain[0]).id), repr(plain[1]), *plain[2:]]
    if list(params) != spelt:
        raise DeepbenchError(f"write its parameters as {', '.join(spelt)}")


def _refuse_another_unit(point: Point, records: Sequence[Record]) -> None:
    seconds: float = point["seconds"]
    low, high = point.get("low", seconds), point.get("high", seconds)
    if low > seconds * (1 + ROUNDED) or seconds > high * (1 + ROUNDED):
        raise DeepbenchError(f"{seconds:g} s is outside of its interval, {low:g} to {high:g} s")
    raw_seconds = [each for record in records for each in record["seconds"]]
    for what, values in (("samples", point.get("samples", ())), ("raw seconds", raw_seconds)):
        middle = statistics.median(values) if values else seconds
        if not middle / LARGEST_SAMPLE_RATIO <= seconds <= middle * LARGEST_SAMPLE_RATIO:
            raise DeepbenchError(
                f"{seconds:g} s is far from {middle:g} s, the median of its {what}: another unit?"
            )


def _refuse_contradictions(point: Point, records: Sequence[Record]) -> None:
    """Raise DeepbenchError where a point contradicts the records of its processes."""
    calibrated = [
        on_quiet_machine(each, reading, record["nominal"])
        for record in records
        if record.get("nominal")
        for each, reading in zip(record["seconds"], record["yardstick"], strict=False)
    ]
    if calibrated:  # other processes of the point may have met a state without a nominal reading
        calibrated += [
            each for record in records if not record.get("nominal") for each in record["seconds"]
        ]
    seconds: float = point["seconds"]
    middle = statistics.median(calibrated) if calibrated else seconds
    if not middle / LARGEST_RECORD_RATIO <= seconds <= middle * LARGEST_RECORD_RATIO:
        raise DeepbenchError(
            f"{seconds:g} s is not {middle:g} s, the median of its raw seconds over their"
            " yardstick's readings times its nominal one: pack the measured times again"
        )


def _refuse_too_slow(points: Sequence[Point], roofs: Roofs) -> None:
    """Raise DeepbenchError where all kernels of a family are far below their machine's roof."""
    shares = defaultdict(list)
    for point in points:
        key = point["benchmark"], tuple(point["params"])
        of_peak = times_peak(key, point["seconds"], roofs.peaks)
        if of_peak is not None:
            of_bandwidth = times_bandwidth(key, point["seconds"], roofs.bandwidth) or 0.0
            family = key[0].split(".")[0]
            shares[family, unquoted(*key)[1][1]].append(max(of_peak, of_bandwidth))
    for (family, precision), found in shares.items():
        if len(found) >= FEWEST_KERNELS and max(found) < LEAST_SHARE_OF_ROOF:
            raise DeepbenchError(
                f"the best of {len(found)} kernels of {family} in {precision} reaches"
                f" 1/{1 / max(found):.0f} of the peaks in the machine's profile: check that"
                " times are in seconds, the peak in FLOP/s and the bandwidth in bytes/s"
            )


def refuse_impossible(point: Point, roofs: Roofs) -> None:
    """Raise DeepbenchError for a time that beats the peak or the bandwidth of its machine."""
    beaten = roofs.beaten((point["benchmark"], tuple(point["params"])), point["seconds"])
    if beaten:
        raise DeepbenchError(
            f"{point['seconds']:g} s would take {beaten} that its profile says the machine has"
        )
