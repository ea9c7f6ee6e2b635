"""How much main memory is left: what does not fit is refused before it is allocated."""

from pathlib import Path

MEMINFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")
LIMITS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
)
"""Where either version of control groups says what a container may use and what it uses, and
what of that is only a file's cached pages, which the system gives back when asked."""


def available() -> float:
    """Return bytes that can be taken without swapping, infinity where the system does not say."""
    return min([_of_machine(), *(_of_group(*names) for names in LIMITS)])


def _of_machine() -> float:
    try:
        kilobytes = _number(MEMINFO.read_text(), "MemAvailable:")
    except (OSError, LookupError):
        return float("inf")
    return kilobytes * 1024


def _of_group(limit: str, used: str, statistics: str, cached: str) -> float:
    try:
        taken = float((GROUP / used).read_text())
        reclaimable = _number((GROUP / statistics).read_text(), cached)
        return float((GROUP / limit).read_text()) - taken + reclaimable
    except (OSError, LookupError, ValueError):  # no such group, or its limit is "max"
        return float("inf")


def _number(text: str, name: str) -> float:
    """Return the number after `name`, on a line of its own; LookupError without one."""
    found = [line.split()[1] for line in text.splitlines() if line.split()[:1] == [name]]
    return float(found[0])
