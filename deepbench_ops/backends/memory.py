"""How much main memory is left: what does not fit is refused before it is allocated."""

from pathlib import Path

MEMINFO = Path("/proc/meminfo")
LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)
"""What a container may use and what it uses, in either version of control groups."""


def available() -> float:
    """Return bytes that can be taken without swapping, infinity where nothing tells."""
    return min([_of_machine(), *(_of_group(*paths) for paths in LIMITS)])


def _of_machine() -> float:
    try:
        lines = MEMINFO.read_text().splitlines()
    except OSError:
        return float("inf")
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return float(found[0]) * 1024 if found else float("inf")


def _of_group(limit: Path, used: Path) -> float:
    try:
        return float(limit.read_text()) - float(used.read_text())
    except (OSError, ValueError):  # no such group, or "max"
        return float("inf")
