"""Seconds of each call of an operation inside a step, by torch's profiler."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from torch.profiler import ProfilerActivity, profile

from deepbench_ops.backends.torch_backend.operator_trace import Operation

SECONDS_PER_MICROSECOND = 1e-6

Times = Sequence[float | None]
"""Seconds of each call of an operation; None for calls that the profile does not show."""


def seconds(step: Callable[[], object], found: Sequence[Operation], device: str) -> Sequence[Times]:
    """Run a step under the profiler; return the seconds of each call of each operation.

    A call's time is that of all it calls in turn. Calls are distinguished by their order among
    those of the same name. A step whose calls are recorded adds some gradients into new tensors, by
    `add` instead of `add_`. So where a name was recorded and profiled in different numbers, its
    calls are counted together with those that work in place, and distinguished by shapes and order.
    Calls that then differ in number too have no seconds.
    """
    activities = [ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(ProfilerActivity.CUDA)
    with profile(activities=activities, record_shapes=True) as profiled:
        step()
    names = {form for operation in found for form in _forms(operation.name)}
    events = [
        event
        for event in profiled.events()
        if _plain(event.name) in names and not _inside(event, names)
    ]
    calls = [
        _Call(place, turn, index, operation)
        for index, operation in enumerate(found)
        for turn, place in enumerate(operation.places)
    ]
    times: list[list[float | None]] = [[None] * operation.calls for operation in found]
    for call, event in _matched(calls, events):
        times[call.index][call.turn] = _time(event, device)
    return times


@dataclass(frozen=True)
class _Call:
    """A recorded call. place: position in the step. turn, index: those of the call among the calls
    of its operation, and of the operation among all."""

    place: int
    turn: int
    index: int
    operation: Operation


def _matched(calls: Sequence[_Call], events: Sequence[Any]) -> Iterable[tuple[_Call, Any]]:
    """Return the recorded calls that are in a profile, each with its event."""
    named = _paired(
        calls, events, lambda call: call.operation.name, lambda event: _plain(event.name)
    )
    known, used = {call.place for call, _ in named}, {id(event) for _, event in named}
    shaped = _paired(
        [call for call in calls if call.place not in known],
        [event for event in events if id(event) not in used],
        lambda call: (_forms(call.operation.name), call.operation.shapes),
        lambda event: (_forms(_plain(event.name)), _shapes(event)),
    )
    return [*named, *shaped]


def _paired(
    calls: Iterable[_Call],
    events: Iterable[Any],
    key: Callable[[_Call], Hashable],
    event_key: Callable[[Any], Hashable],
) -> list[tuple[_Call, Any]]:
    """Pair calls with events of the same key, in order, where there are as many of both."""
    recorded: dict[Hashable, list[_Call]] = defaultdict(list)
    profiled: dict[Hashable, list[Any]] = defaultdict(list)
    for call in sorted(calls, key=lambda call: call.place):
        recorded[key(call)].append(call)
    for event in sorted(events, key=lambda event: event.time_range.start):
        profiled[event_key(event)].append(event)
    return [
        pair
        for each, group in recorded.items()
        if len(group) == len(profiled[each])
        for pair in zip(group, profiled[each], strict=True)
    ]


def _forms(name: str) -> tuple[str, str]:
    """Return the two names of an operation: into a new tensor, and in place."""
    return name.removesuffix("_"), name.removesuffix("_") + "_"


def _shapes(event: Any) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of an event's tensors, without those in lists and single numbers."""
    return tuple(
        tuple(shape)
        for shape in event.input_shapes
        if shape and all(isinstance(size, int) for size in shape)
    )


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
