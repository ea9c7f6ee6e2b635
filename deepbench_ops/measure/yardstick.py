"""Fixed workloads that no framework release can change, timed next to every kernel.

On a shared machine the same kernel runs at one speed now and at half of it a minute later. A
yardstick is slowed by the same causes: a kernel's time divided by the yardstick's, taken
milliseconds apart, moves far less; and a slice taken while it reads far too much can be taken
again. A neighbour that takes arithmetic units slows other kernels than one that takes memory
bandwidth, hence two kinds:

- ``compute``: a square sgemm from one pinned OpenBLAS wheel, which has its own library name
  and symbols and so never mixes with the BLAS of the framework under test;
- ``memory``: memcpy between buffers that together exceed the last-level cache.

Each thread runs its own copy of the work on a single-threaded library and sleeps in between: a
pooled BLAS would leave its workers spinning into the next slice, where the kernel is timed.

Both are of the processor. A device that another distribution declares may bring its own
(`device_yardsticks`), whose kinds are named after it: ``toy0 compute 1``.
"""

import ctypes
import importlib.metadata
import os
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.measure import device_yardsticks, library_variables
from deepbench_ops.measure.calls_per_slice import calls_per_slice
from deepbench_ops.measure.device_yardsticks import Work, Workload
from deepbench_ops.measure.threads import one_cpu_per_core

WHEEL = "scipy-openblas32"
WHEEL_VERSION = "0.3.34.481.3"

# Raised when the workloads change: readings of different versions cannot be compared.
VERSION = "1"

SGEMM_SIZE = 384
MEMORY_COPY_BYTES = 16 * 2**20

# A copy takes the next pair of buffers every time: the last pair's may still be in the cache, and
# which physical pages a buffer got decides its speed by several percent for as long as it lives.
BUFFERS = 6

# Lines between the kinds, the same on all machines so that a problem keeps its yardstick
# wherever it is measured: the bytes up to which operands stay in a cache, and FLOPs per byte from
# which a kernel is not held up by memory alone. That is far below a machine's balance: products
# with two columns already run at half the bandwidth of those with one, and the sgemm tells more
# of them. (A copy that stays in the cache was tried as a third kind: its own readings wandered
# by 20 % from process to process.)
COMPUTE_BOUND_INTENSITY = 1.0
CACHED_BYTES = 16 * 2**20

KINDS = ("compute", "memory")
"""Kinds of the processor's yardstick."""

PROCESSOR = "cpu"


def exists(device: str) -> bool:
    """Return whether a device has a yardstick; imports nothing."""
    return device == PROCESSOR or device_yardsticks.declared(device)


def kinds(device: str) -> tuple[str, ...]:
    """Return the kinds of a device's yardstick, compute before memory; () where it has none.

    Raises DeepbenchError for a declared one that cannot be used.
    """
    if device == PROCESSOR:
        return KINDS
    own = device_yardsticks.of(device)
    return () if own is None else tuple(f"{device} {kind} {own.version}" for kind in KINDS)


def kind_for(flops: float, bytes_moved: float, device: str = PROCESSOR) -> str:
    """Return the kind of yardstick for a kernel of so many FLOPs and bytes."""
    own = device_yardsticks.of(device)
    cached_bytes = CACHED_BYTES if own is None else own.cached_bytes
    intensity = COMPUTE_BOUND_INTENSITY if own is None else own.bound_intensity
    compute, memory = kinds(device)
    return compute if bytes_moved <= cached_bytes or flops >= intensity * bytes_moved else memory


def workload(kind: str) -> Workload | None:
    """Return the workload of a device's kind, such as `toy0 compute 1`; None for others."""
    device, _, rest = kind.partition(" ")
    own = device_yardsticks.of(device)
    return own.named(rest.split()[0]) if own is not None and kind in kinds(device) else None


class Yardstick:
    """A fixed workload on every thread at once; that of a device is run from one thread."""

    def __init__(self, kind: str, threads: int) -> None:
        of_device = None if kind in KINDS else workload(kind)
        make: Callable[[int], Work]
        if kind in KINDS:
            make = _sgemm if kind == "compute" else _memory_copy
        elif of_device is not None:
            make, threads = of_device.make, 1
        else:
            raise DeepbenchError(f"unknown yardstick {kind!r}: one of {', '.join(KINDS)}")
        self.kind = kind
        self.threads = threads
        cpus = one_cpu_per_core()
        self._together = threading.Barrier(threads)
        self._crew = [
            _Hand(make, seed, cpus[seed % len(cpus)], self._together) for seed in range(threads)
        ]
        self.unit_seconds = self._settle()

    def slice(self, units: int) -> float:
        """Run ``units`` units on each thread; return the seconds per unit of the slowest.

        Each thread first runs a unit that does not count: waking up and filling the caches would
        otherwise take a tenth of a slice.
        """
        for hand in self._crew:
            hand.begin(units)
        return max(hand.wait() for hand in self._crew) / units

    def units_for(self, seconds: float) -> int:
        """Return how many units fill about ``seconds``."""
        return calls_per_slice(seconds, self.unit_seconds)

    def close(self) -> None:
        """End the helper threads."""
        for hand in self._crew:
            hand.end()

    def _settle(self) -> float:
        readings = [self.slice(1) for _ in range(4)]
        return min(readings[1:])


class _Hand:
    """A thread on a core of its own that waits asleep, not spinning, for units to run.

    Left to itself a woken thread may share a core with another for milliseconds, which would
    read as a machine of half its speed.
    """

    def __init__(
        self, make: Callable[[int], Work], seed: int, core: int, together: threading.Barrier
    ) -> None:
        self.work = make(seed)
        self._core = core
        self._together = together
        self._units = 0
        self._seconds = 0.0
        self._go = threading.Semaphore(0)
        self._done = threading.Semaphore(0)
        threading.Thread(target=self._loop, daemon=True).start()

    def begin(self, units: int) -> None:
        """Start so many units of work."""
        self._units = units
        self._go.release()

    def wait(self) -> float:
        """Return the seconds that the units took, once they are done."""
        self._done.acquire()
        return self._seconds

    def end(self) -> None:
        """End the thread."""
        self.begin(-1)

    def _loop(self) -> None:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {self._core})  # of this thread alone
        turns = cycle(self.work.units)
        while True:
            self._go.acquire()
            if self._units < 0:
                return
            next(turns)()
            self._together.wait()
            start = time.perf_counter()
            for once in islice(turns, self._units):
                once()
            self._seconds = time.perf_counter() - start
            self._done.release()


def nominal(kind: str, threads: int, seconds: float = 2.0) -> float:
    """Return the seconds per unit of the undisturbed machine: the tenth percentile of readings.

    It is read once per machine and yardstick version and then kept in the machine's profile:
    calibrated seconds are (kernel / yardstick) x nominal, so a new reading would move every
    point of the timeline.
    """
    yardstick = Yardstick(kind, threads)
    units = yardstick.units_for(0.01)
    readings = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        readings.append(yardstick.slice(units))
    yardstick.close()
    return float(np.quantile(readings, 0.1))


@cache
def versions() -> dict[str, str]:
    """Return the identity of the yardstick: its version, its library and its sizes."""
    return {
        "yardstick": VERSION,
        "yardstick_library": f"{WHEEL} {_wheel_version()}",
        "yardstick_compute": f"sgemm {SGEMM_SIZE}x{SGEMM_SIZE}x{SGEMM_SIZE} per thread",
        "yardstick_memory": f"memcpy {MEMORY_COPY_BYTES} bytes per thread",
    }


def description(kind: str, threads: int) -> str:
    """Return the work, the library and the threads of a kind, separated by commas."""
    own = workload(kind)
    if own is not None:
        return f"{own.text}, {own.library}, 1 thread"
    facts = versions()
    library = facts["yardstick_library"] if kind == "compute" else "libc"
    return f"{facts[f'yardstick_{kind}']}, {library}, {threads} threads"


def device_versions(device: str) -> dict[str, str]:
    """Return the identity of the yardstick that a framework brings for a device; {} for none."""
    own = device_yardsticks.of(device)
    if own is None:
        return {}
    parts = (f"{work.text}, {work.library}" for work in (own.compute, own.memory))
    return {f"yardstick_{device}": "; ".join((own.version, *parts))}


def _wheel_version() -> str:
    try:
        return importlib.metadata.version(WHEEL)
    except importlib.metadata.PackageNotFoundError:
        raise DeepbenchError(
            f"the yardstick needs {WHEEL}=={WHEEL_VERSION}: pip install it next to the framework"
        ) from None


def _library() -> ctypes.CDLL:
    found = _wheel_version()
    if found != WHEEL_VERSION:
        raise DeepbenchError(
            f"the yardstick is {WHEEL} {found}, not {WHEEL_VERSION}: pip install the pinned one"
        )
    with library_variables.without(library_variables.BLAS):  # the same code whatever the host sets
        import scipy_openblas32  # loads the library

        folder = Path(scipy_openblas32.get_lib_dir())
        path = next(iter(sorted(folder.glob("libscipy_openblas*"))))
        library = ctypes.CDLL(os.fspath(path))
    library.scipy_openblas_set_num_threads(1)
    return library


def _sgemm(seed: int) -> Work:
    sgemm = _library().scipy_cblas_sgemm
    size = SGEMM_SIZE
    random = np.random.default_rng(seed)
    a, b = (random.uniform(-1, 1, (size, size)).astype(np.float32) for _ in range(2))
    c = np.zeros((size, size), np.float32)
    row_major, no_transpose = 101, 111
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, c)]
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    head = (row_major, no_transpose, no_transpose, size, size, size, one)
    arguments = (*head, pointers[0], size, pointers[1], size, zero, pointers[2], size)
    return Work((lambda: sgemm(*arguments),), (a, b, c))


def _memory_copy(seed: int) -> Work:
    return _memcpy(seed, MEMORY_COPY_BYTES)


def _memcpy(seed: int, size: int) -> Work:
    memcpy = ctypes.CDLL(None).memcpy
    memcpy.restype = ctypes.c_void_p
    # One large allocation, since numpy asks for huge pages only for such.
    values = np.arange(seed, seed + 2 * BUFFERS, dtype=np.uint8)
    buffers = np.repeat(values, size).reshape(-1, size)
    units = tuple(
        partial(
            memcpy,
            ctypes.c_void_p(target.ctypes.data),
            ctypes.c_void_p(source.ctypes.data),
            ctypes.c_size_t(size),
        )
        for source, target in zip(buffers[::2], buffers[1::2], strict=True)
    )
    return Work(units, tuple(buffers))
