"""Reasons for a noisy machine, with their remedies."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

NO_TURBO = Path("/sys/devices/system/cpu/intel_pstate/no_turbo")
"""0 where Intel's own driver sets the clock and turbo is on; that driver has no `boost`."""

STOLEN = 0.01
"""Share of processor time taken by a hypervisor from which on it is reported."""


def advice(facts: Mapping[str, str], load: float, stolen: float | None) -> list[str]:
    """Return a line for each problem that the user can remedy.

    facts: those of the fingerprint. load: number of runnable processes before the measurement.
    stolen: share of processor time that went to other tenants during the measurement, None where
    the system does not report it.
    """
    found = []
    governor = facts.get("governor", "")
    if governor and governor != "performance":
        found.append(
            f"The frequency governor is {governor!r}: clocks follow the load."
            " Remedy: cpupower frequency-set -g performance"
        )
    if not governor:
        found.append(
            "No frequency governor is visible, as in most virtual machines: the host sets the"
            " clock. Pairs and the yardstick are the only remedy."
        )
    if switch := _turbo_switch(facts):
        found.append(f"Turbo is on: clocks fall as the processor warms up. Remedy: echo {switch}")
    if facts.get("smt") == "1":
        found.append(
            "Two hardware threads share a core, and slow each other."
            " Remedy: keep the others idle, or echo off > /sys/devices/system/cpu/smt/control"
        )
    if load > 0.5:
        found.append(
            f"{load:.1f} processes were running before this one. Remedy: stop them, or wait"
        )
    if stolen is not None and stolen > STOLEN:
        found.append(
            f"{stolen:.0%} of the processor time went to other tenants of this host."
            " Remedy: another hour, or a machine that is not shared"
        )
    return found


def _turbo_switch(facts: Mapping[str, str]) -> str:
    """Return the value and the file that turn turbo off; "" where it is off or not known."""
    if facts.get("boost") == "1":
        return "0 > /sys/devices/system/cpu/cpufreq/boost"
    with suppress(OSError):
        if NO_TURBO.read_text().strip() == "0":
            return f"1 > {NO_TURBO}"
    return ""


def processor_time(path: Path = Path("/proc/stat")) -> tuple[float, float] | None:
    """Return (stolen, total) processor time since the start of the system, None where unknown."""
    try:
        name, *ticks = path.read_text().splitlines()[0].split()
    except (OSError, IndexError, ValueError):
        return None
    if name != "cpu" or len(ticks) < 8:
        return None
    # user, nice, system, idle, iowait, irq, softirq, steal; user already has that of guests
    values = [float(tick) for tick in ticks[:8]]
    return values[7], sum(values)


def stolen_since(before: tuple[float, float] | None) -> float | None:
    """Return the share of processor time stolen since an earlier reading, None if unknown."""
    now = processor_time()
    if before is None or now is None or now[1] <= before[1]:
        return None
    return (now[0] - before[0]) / (now[1] - before[1])
