"""Choice of the cores that threads are pinned to, on machines with several last-level caches.

``DEEPBENCH_CORES=near`` takes cores that share a last-level cache, ``far`` cores of as many caches
as there are. It is recorded with every time as a setting, so that times under different choices
are not compared. Without the variable cores are taken in the order of their numbers.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure.library_variables import CORES

VARIABLE = CORES
NEAR_CORES, FAR_CORES = "near", "far"
CPUS = Path("/sys/devices/system/cpu")


def asked(environ: Mapping[str, str] = os.environ) -> str:
    """Return the choice, "" for none. Raises DeepbenchError for another word."""
    choice = environ.get(VARIABLE, "")
    if choice not in ("", NEAR_CORES, FAR_CORES):
        raise DeepbenchError(
            f"{VARIABLE} is {choice!r}: write {NEAR_CORES} or {FAR_CORES}, or leave it out"
        )
    return choice


def ordered(cpus: Sequence[int], choice: str, root: Path = CPUS) -> list[int]:
    """Return hardware threads in the order in which they are taken.

    near: those of the cache that most of them share come first. far: from each cache in turn.
    """
    if not choice:
        return list(cpus)
    domains = sorted(grouped(cpus, root), key=len, reverse=True)
    if choice == NEAR_CORES:
        return list(chain.from_iterable(domains))
    turns = chain.from_iterable(zip_longest(*domains))
    return [cpu for cpu in turns if cpu is not None]


def demand(cpus: Sequence[int], count: int, choice: str, root: Path = CPUS) -> None:
    """Raise DeepbenchError where `count` threads cannot be placed as asked for."""
    if not choice:
        return
    everywhere = grouped(_all_cpus(root), root)
    sizes = [len(domain) for domain in grouped(cpus, root)]
    wrong = ""
    if len(everywhere) < 2:
        wrong = "this machine shows no two last-level caches"
    elif count < 2:
        wrong = "a single thread is neither near nor far"
    elif choice == NEAR_CORES and max(sizes, default=0) < count:
        wrong = f"no {count} allowed cores share a last-level cache"
    elif choice == FAR_CORES and len(sizes) < 2:
        wrong = "all allowed cores share a last-level cache"
    if wrong:
        raise DeepbenchError(f"{VARIABLE}={choice}: {wrong}; leave the variable out")


def grouped(cpus: Iterable[int], root: Path = CPUS) -> list[list[int]]:
    """Return hardware threads by the last-level cache that they share, in order.

    Those whose caches the system does not describe are one group.
    """
    found: dict[str, list[int]] = {}
    for cpu in cpus:
        found.setdefault(_last_level_cache(root / f"cpu{cpu}"), []).append(cpu)
    return list(found.values())


def _last_level_cache(folder: Path) -> str:
    """Return the list of hardware threads that share a thread's last cache, "" if not known."""
    caches = []
    for index in folder.glob("cache/index*"):
        with suppress(OSError, ValueError):
            level = int((index / "level").read_text())
            caches.append((level, (index / "shared_cpu_list").read_text().strip()))
    return max(caches)[1] if caches else ""


def _all_cpus(root: Path) -> list[int]:
    names = (path.name.removeprefix("cpu") for path in root.glob("cpu[0-9]*"))
    return sorted(int(name) for name in names if name.isdigit())
