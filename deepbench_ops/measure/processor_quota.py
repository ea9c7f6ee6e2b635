"""Processor time that a container or a service may use: the limit of its control groups.

A kernel on more threads than that is stopped for a part of each period of the limit, as a rule
100 ms: its time is then that of the limit.
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

OWN_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def processors() -> float:
    """Return the number of processors whose time this process may use, infinity without a limit."""
    return min(_limits(), default=math.inf)


def notice(threads: int) -> str:
    """Return one line if kernels on so many threads are stopped by the limit, else ""."""
    most = processors()
    if threads <= most:
        return ""
    return (
        f"kernels run on {threads} threads, and the control group of this process may use the time"
        f" of {most:.3g} processors: they are stopped for a part of it. Remedy: a higher limit, or"
        f" DEEPBENCH_THREADS={max(1, int(most))}"
    )


def _limits() -> Iterator[float]:
    """Yield the limits of the groups of this process and of those around them, of both versions."""
    with suppress(OSError):
        for line in OWN_GROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                yield from _of_version_2(path)
            elif "cpu" in controllers.split(","):
                yield from _of_version_1(controllers, path)


def _of_version_2(path: str) -> Iterator[float]:
    for folder in _around(GROUPS, path):
        with suppress(OSError, ValueError):  # no such group here, or its limit is "max"
            quota, period = map(float, (folder / "cpu.max").read_text().split())
            yield quota / period


def _of_version_1(controllers: str, path: str) -> Iterator[float]:
    for mount in dict.fromkeys((controllers, "cpu")):
        for folder in _around(GROUPS / mount, path):
            with suppress(OSError, ValueError):
                quota = float((folder / "cpu.cfs_quota_us").read_text())
                if quota > 0:  # -1 is no limit
                    yield quota / float((folder / "cpu.cfs_period_us").read_text())


def _around(mount: Path, path: str) -> Iterator[Path]:
    """Yield the folders of a group and of those around it; a container may see its own as mount."""
    group = PurePosixPath(path.lstrip("/"))
    for each in (group, *group.parents):
        yield mount / each
