"""Free main memory. A kernel that would not fit is refused before its memory is allocated."""

from pathlib import Path

MEMINFO = Path("/proc/meminfo")
CGROUP_FOLDER = Path("/sys/fs/cgroup")
CGROUP_FILES = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
)
"""Files of both versions of control groups: the limit of a container and its use, in bytes, and the
file and entry with the bytes of cached file pages in that use, which the system can free."""


def available() -> float:
    """Return the bytes that can be allocated without swapping, infinity where they are unknown."""
    return min([_of_machine(), *(_of_group(*names) for names in CGROUP_FILES)])


def _of_machine() -> float:
    try:
        kilobytes = _number(MEMINFO.read_text(), "MemAvailable:")
    except (OSError, LookupError):
        return float("inf")
    return kilobytes * 1024


def _of_group(limit: str, used: str, statistics: str, cached: str) -> float:
    try:
        taken = float((CGROUP_FOLDER / used).read_text())
        reclaimable = _number((CGROUP_FOLDER / statistics).read_text(), cached)
        return float((CGROUP_FOLDER / limit).read_text()) - taken + reclaimable
    except (OSError, LookupError, ValueError):  # no such group, or its limit is "max"
        return float("inf")


def _number(text: str, name: str) -> float:
    """Return the number on the line that begins with `name`; raise LookupError without one."""
    found = [line.split()[1] for line in text.splitlines() if line.split()[:1] == [name]]
    return float(found[0])
