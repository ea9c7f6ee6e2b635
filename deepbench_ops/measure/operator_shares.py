"""Seconds of each call of an operation inside a step, by torch's profiler."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from torch.profiler import ProfilerActivity, profile

from deepbench_ops.backends.torch_backend.operator_trace import Operation

SECONDS_PER_MICROSECOND = 1e-6


def seconds(
    step: Callable[[], object], found: Sequence[Operation], device: str
) -> list[Sequence[float]]:
    """Run a step under the profiler; return the seconds of each call of each operation.

    A call's time is that of all it calls in turn. Calls are distinguished by their order among
    those of the same name. Where the profiler saw another number of them than were recorded, which
    happens if a framework takes another way while it is watched, they share the name's time
    equally.
    """
    activities = [ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(ProfilerActivity.CUDA)
    with profile(activities=activities) as profiled:
        step()
    names = {operation.name for operation in found}
    called: dict[str, list[Any]] = defaultdict(list)
    for event in profiled.events():
        name = _plain(event.name)
        if name in names and not _inside(event, names):
            called[name].append(event)
    times = {
        name: [_time(event, device) for event in sorted(events, key=lambda e: e.time_range.start)]
        for name, events in called.items()
    }
    recorded = {name: sum(op.calls for op in found if op.name == name) for name in names}
    return [_of(operation, times.get(operation.name, []), recorded) for operation in found]


def _of(operation: Operation, times: Sequence[float], recorded: dict[str, int]) -> Sequence[float]:
    if len(times) == recorded[operation.name]:
        return [times[place] for place in operation.places]
    return [sum(times) / recorded[operation.name]] * operation.calls


def _plain(name: str) -> str:
    return name.removeprefix("aten::")


def _inside(event: Any, names: set[str]) -> bool:
    """Whether an event is part of one that was recorded itself."""
    above = event.cpu_parent
    while above is not None:
        if _plain(above.name) in names and above.name.startswith("aten::"):
            return True
        above = above.cpu_parent
    return False


def _time(event: Any, device: str) -> float:
    total = event.device_time_total if device == "cuda" else event.cpu_time_total
    return float(total) * SECONDS_PER_MICROSECOND
