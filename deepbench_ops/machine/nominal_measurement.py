"""Nominal readings of the yardsticks: seconds per unit of work on the undisturbed machine.

They are read once and kept in the machine's profile, since every calibrated second is a multiple of
them. A machine whose host moves its cores has other readings in each state (`measure.
machine_states`): a reading counts for a state that the latency between two cores shows before it
and after it.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import date

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure import core_latency, machine_states, yardstick
from deepbench_ops.measure import threads as thread_counts

NOMINAL_SECONDS = 1.0
NOMINAL_WINDOWS = 4
AGREE = 1.03
PAUSE_SECONDS = 0.5
"""A yardstick is read twice, or up to NOMINAL_WINDOWS times with a pause in between, until the two
best readings agree within AGREE."""

STATE_SECONDS = 0.5
STATE_WITHIN_SECONDS = 20.0
LOOK_SECONDS = 0.2
"""Length of a reading in one state, the time within which the state has to last for one, and the
pause between two looks at the state. A host may move the cores every few seconds."""

Say = Callable[[str], None]


def ignore(_: str) -> None:
    """Ignore a line of the report."""


def yardsticks(
    threads: int,
    old: Profile | None,
    renew: bool,
    warn: Say = ignore,
    devices: Iterable[str] = (yardstick.PROCESSOR,),
    at: float | None = None,
) -> dict[str, dict[str, Figure]]:
    """Return the nominal seconds per unit by thread count and kind; unknown ones of `devices` are
    read now.

    renew, at: as for `reads_all` and `nominal_figure`.
    """
    kept = dict(old.yardsticks) if old is not None and is_of_now(old) else {}
    if reads_all(old, threads, renew):
        kept.pop(str(threads), None)
    known = kept.get(str(threads), {})
    kinds = [kind for device in devices for kind in _kinds(device, warn)]
    kept[str(threads)] = known | {
        kind: figure
        if (figure := known.get(kind)) and figure.value
        else nominal_figure(kind, threads, warn, at)
        for kind in kinds
    }
    return kept


def is_of_now(known: Profile) -> bool:
    """Whether a profile's readings are of today's version of the yardsticks."""
    return known.yardstick_version == yardstick.VERSION


def reads_all(old: Profile | None, threads: int, renew: bool) -> bool:
    """Whether `yardsticks` reads all of them for `threads` threads: there are none, or they are to
    be renewed.

    The first readings of a machine with several states are not renewed if their own state is not
    recorded. They calibrate times of unrecorded state, and no state of today is the right one.
    """
    if old is None or not old.nominal(threads, yardstick.VERSION):
        return True
    count = str(threads)
    in_states = len(old.levels) > 1 and any(count in level.yardsticks for level in old.levels)
    return renew and (count in old.yardstick_levels or not in_states)


def _kinds(device: str, warn: Say) -> tuple[str, ...]:
    """Return the kinds of a device's yardstick; none, with a warning, if it cannot be used."""
    try:
        return yardstick.kinds(device)
    except DeepbenchError as reason:
        warn(str(reason))
        return ()


def nominal_figure(kind: str, threads: int, warn: Say, at: float | None = None) -> Figure:
    """Return the nominal reading of a kind of yardstick, read now.

    at: the latency between two cores, in nanoseconds, of the state that it is to be of; None for
    any state. Yardsticks of other devices do not depend on it.
    """

    def read() -> float:
        if at is None or kind not in yardstick.KINDS:
            return yardstick.nominal(kind, threads, NOMINAL_SECONDS)
        return in_state(at, threads, lambda: yardstick.nominal(kind, threads, STATE_SECONDS))

    try:
        seconds, agree = agreed(read)
        work = yardstick.description(kind, threads)
    except DeepbenchError as reason:
        return Figure(None, "s", f"not measured: {reason}")
    if not agree:
        warn(
            f"the {kind} yardstick reads differently from one second to the next: the machine is"
            " disturbed, and every later time is a multiple of this reading. Before you measure,"
            " run `deepbench machine --renew-yardsticks` when it is quiet"
        )
    return Figure(seconds, "s", f"measured: {work}, {date.today().isoformat()}")


def in_state(nanoseconds: float, threads: int, read: Callable[[], float]) -> float:
    """Return the first reading before and after which the machine was in a state.

    nanoseconds: the latency between two cores in that state. Raises DeepbenchError if there was no
    such reading within STATE_WITHIN_SECONDS.
    """
    end = time.monotonic() + STATE_WITHIN_SECONDS
    with closing(core_latency.Reader(core_pair(threads))) as latency:

        def is_there() -> bool:
            found = latency.read()
            return found is not None and machine_states.fits(found, nanoseconds)

        while time.monotonic() < end:
            if not is_there():
                time.sleep(LOOK_SECONDS)
                continue
            reading = read()
            if is_there():
                return reading
    raise DeepbenchError(
        f"the latency between two cores did not stay at {nanoseconds:.0f} ns for long enough"
    )


def core_pair(threads: int) -> list[int]:
    """Return the two cores whose latency shows the state for kernels on `threads` threads; fewer
    where those have one core."""
    return thread_counts.one_cpu_per_core()[:threads][:2]


def agreed(
    read: Callable[[], float], sleep: Callable[[float], object] = time.sleep
) -> tuple[float, bool]:
    """Return the smallest of several readings with pauses between them, and whether the two
    smallest agree."""
    readings = sorted([read(), read()])
    while readings[1] > AGREE * readings[0] and len(readings) < NOMINAL_WINDOWS:
        sleep(PAUSE_SECONDS)
        readings = sorted([*readings, read()])
    return readings[0], readings[1] <= AGREE * readings[0]
