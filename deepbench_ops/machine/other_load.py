"""Detection of other processes that use the processors during a measurement."""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

WORTH_A_WORD = 0.05
"""Share of processor time from which on use by other processes counts as a disturbance."""

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Usage:
    """Processor seconds since the start of the system, on the processors that this process may use:
    those of all processes together, and those that the hypervisor gave to other systems."""

    busy: float
    stolen: float


def usage(path: Path = Path("/proc/stat"), cores: Iterable[int] | None = None) -> Usage | None:
    """Return the usage until now; None where the system does not report it."""
    try:
        own = os.sched_getaffinity(0) if cores is None else set(cores)
        lines = [line.split() for line in path.read_text().splitlines() if line.startswith("cpu")]
        found = [
            [int(ticks) / TICKS for ticks in rest[:8]]
            for name, *rest in lines
            if name != "cpu" and int(name.removeprefix("cpu")) in own
        ]
        # user, nice, system, idle, iowait, irq, softirq, steal
        busy = sum(sum(each[:3]) + sum(each[5:7]) for each in found)
        return Usage(busy, sum(each[7] for each in found)) if found else None
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def own_seconds() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


class LoadMonitor:
    """Monitor of the processor time of other processes, from its creation on.

    read, own, clock: functions that return the usage, this process's own processor seconds and the
    time in seconds.
    """

    def __init__(
        self,
        read: Callable[[], Usage | None] = usage,
        own: Callable[[], float] = own_seconds,
        clock: Callable[[], float] = time.monotonic,
        cores: int | None = None,
    ) -> None:
        self._read, self._own, self._clock = read, own, clock
        self._cores = cores or os.cpu_count() or 1
        if cores is None and hasattr(os, "sched_getaffinity"):
            self._cores = len(os.sched_getaffinity(0))
        self._before, self._own_before, self._started = read(), own(), clock()

    def found(self) -> str:
        """Return in words how much processor time others used, and who; "" if it was little."""
        now, passed = self._read(), self._cores * (self._clock() - self._started)
        if self._before is None or now is None or passed <= 0:
            return ""
        others = now.busy - self._before.busy - (self._own() - self._own_before)
        shares = {
            "other processes": others / passed,
            "other systems of this host": (now.stolen - self._before.stolen) / passed,
        }
        phrases = [f"{who} took {part:.0%}" for who, part in shares.items() if part > WORTH_A_WORD]
        return f"{' and '.join(phrases)} of its processors' time" if phrases else ""
