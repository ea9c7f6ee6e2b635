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

    renew, at: as for `reads_all` and `nominal_figure`. A renewed reading that could not be taken
    leaves the former one. On a machine with several states one that is missing is taken only in the
    state of the others.
    """
    kept = dict(old.yardsticks) if old is not None and is_of_now(old) else {}
    former = kept.get(str(threads), {})
    known = {} if reads_all(old, threads, renew, at) else former
    fits = not known or old is None or _is_of_level(old, threads, at)
    found = dict(known)
    for kind in (kind for device in devices for kind in _kinds(device, warn)):
        if (figure := known.get(kind)) and figure.value:
            continue
        if fits or kind not in yardstick.KINDS:
            found[kind] = _or_former(
                nominal_figure(kind, threads, warn, at), former.get(kind), kind, warn
            )
    kept[str(threads)] = found
    return kept


def _or_former(new: Figure, former: Figure | None, kind: str, warn: Say) -> Figure:
    """Return the new figure, or the former one with a warning where the new one has no value."""
    if new.value is None and former is not None and former.value:
        warn(f"the former reading of the {kind} yardstick stays: {new.how}")
        return former
    return new


def is_of_now(known: Profile) -> bool:
    """Whether a profile's readings are of today's version of the yardsticks."""
    return known.yardstick_version == yardstick.VERSION


def reads_all(old: Profile | None, threads: int, renew: bool, at: float | None) -> bool:
    """Whether `yardsticks` reads all of them for `threads` threads: there are none, or they are to
    be renewed.

    at: the level of latency of the machine's state, None where it is not known. The first readings
    of a machine with states are renewed in their own state alone. Those of unrecorded state are
    not: they calibrate times of unrecorded state, and no state of today is the right one.
    """
    if old is None or not old.nominal(threads, yardstick.VERSION):
        return True
    return renew and _is_of_level(old, threads, at)


def all_read(
    old: Profile | None, new: Profile, threads: int, renew: bool, at: float | None
) -> bool:
    """Whether `yardsticks` took all of the processor's nominal readings in `new`, on `threads`
    threads: none is one of `old` that stays.

    old, renew, at: as for `yardsticks`.
    """
    former = old.yardsticks.get(str(threads), {}) if old is not None and is_of_now(old) else {}
    found = new.yardsticks.get(str(threads), {})
    stays = any(kind in former and former[kind] == found.get(kind) for kind in yardstick.KINDS)
    return reads_all(old, threads, renew, at) and not stays


def _is_of_level(known: Profile, threads: int, at: float | None) -> bool:
    """Whether the first readings are of the state of now, or the machine has no states."""
    return not known.levels or (at is not None and known.yardstick_levels.get(str(threads)) == at)


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
