"""Number of threads of a kernel, fixed before any library reads its environment variables."""

import os
from collections.abc import MutableMapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import core_choice, library_variables
from deepbench_ops.measure.library_variables import THREAD_VARIABLES

TASKS = Path("/proc/self/task")
"""Folder with an entry for each thread of this process, on Linux."""


def physical_cores() -> int:
    """Return the number of physical cores this process may run on.

    Two hardware threads of one core share its multipliers, so a second one adds noise rather
    than speed to the kernels measured here.
    """
    return len(one_cpu_per_core())


def one_cpu_per_core() -> list[int]:
    """Return the first allowed hardware thread of every physical core, in the order in which they
    are taken: by number unless ``DEEPBENCH_CORES`` says otherwise (`core_choice`)."""
    first: dict[str, int] = {}
    for cpu in sorted(allowed_cpus()):
        first.setdefault(_core_of(cpu), cpu)
    return core_choice.ordered(sorted(first.values()), core_choice.asked())


@cache
def allowed_cpus() -> frozenset[int]:
    """Return the hardware threads this process was started on; pinning leaves it fewer."""
    if not hasattr(os, "sched_getaffinity"):  # macOS, where nothing can be pinned either
        return frozenset(range(os.cpu_count() or 1))
    return frozenset(os.sched_getaffinity(0))


def _core_of(cpu: int) -> str:
    """Return the list of the hardware threads of a thread's core, its own number where unknown.

    The number of a core does not identify it: on ARM each cluster counts its own from 0.
    """
    topology = core_choice.CPUS / f"cpu{cpu}" / "topology"
    for name in ("core_cpus_list", "thread_siblings_list"):  # the second one before Linux 5.3
        with suppress(OSError):
            return (topology / name).read_text().strip()
    return str(cpu)


def wanted(environ: MutableMapping[str, str] | None = None) -> int:
    """Return the thread count asked for by ``DEEPBENCH_THREADS``, else the physical cores.

    Raises DeepbenchError for anything but a positive whole number.
    """
    text = (os.environ if environ is None else environ).get("DEEPBENCH_THREADS", "")
    if not text:
        return physical_cores()
    if not text.isdecimal() or int(text) == 0:
        raise DeepbenchError(f"DEEPBENCH_THREADS is {text!r}: give a whole number from 1 up")
    return int(text)


def fix(environ: MutableMapping[str, str] | None = None) -> int:
    """Set every pool's variable to the wanted count, and return it.

    Must run before the framework is imported: OpenBLAS and OpenMP read theirs only once.
    """
    library_variables.environment_at_start()  # before anything of ours is among them
    environ = os.environ if environ is None else environ
    count = wanted(environ)
    core_choice.demand(one_cpu_per_core(), count, core_choice.asked())
    for name in THREAD_VARIABLES:
        environ[name] = str(count)
    return count


def cores(count: int) -> set[int]:
    """Return the hardware threads that processes share which take turns, `count` of them.

    One of each physical core, in the order of `one_cpu_per_core`; second ones of a core only where
    there are more threads than cores.
    """
    first = one_cpu_per_core()
    return set([*first, *sorted(allowed_cpus() - set(first))][:count])


def pin(count: int) -> str:
    """Give each of the ``count`` busiest threads of this process a core of its own.

    To be called once a kernel has run for a while, when its pool exists and has worked. Left to
    itself the scheduler puts two threads of a pool on one core for milliseconds after they
    wake, and a slice then reads up to twice too long. Returns the settings, for the record.
    """
    if not TASKS.is_dir():
        return "not pinned: this system does not list a process's threads"
    cpus = one_cpu_per_core()
    busiest = sorted(TASKS.iterdir(), key=_nanoseconds_run, reverse=True)[:count]
    for task, cpu in zip(sorted(busiest, key=lambda task: int(task.name)), cpus, strict=False):
        os.sched_setaffinity(int(task.name), {cpu})
    pinned = min(len(busiest), len(cpus))
    return f"{pinned} busiest threads pinned to cpu {','.join(map(str, cpus[:pinned]))}"


def unpin() -> None:
    """Let every thread of this process run on all cores again, as before `pin`.

    Threads inherit the cores of the one that starts them: a pool made by a pinned thread would
    sit on a single core.
    """
    for task in TASKS.iterdir() if TASKS.is_dir() else ():
        with suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), allowed_cpus())


def _nanoseconds_run(task: Path) -> int:
    try:
        return int((task / "schedstat").read_text().split()[0])
    except (OSError, IndexError, ValueError):
        return 0  # the thread has ended meanwhile, or the kernel keeps no such count
