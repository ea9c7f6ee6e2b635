"""Print the latency of memory inside and beyond the caches, in nanoseconds per access.

    python bench/memory_latency.py [--readings 5]

Each access needs the one before: every line of a buffer holds the address of another, in an order
that is one random cycle, and a loop of three instructions follows it. The loop is machine code in
a page of memory, called by ctypes, since a loop in Python takes longer than an access and numpy's
functions start several accesses at a time. So it runs on x86-64 alone, and only where programs may
make a page executable. Beyond some megabytes an access may also have to look up the address of its
page. The time that the thread has run counts, not that of the clock; other programs may still take
a part of the caches. The fastest of several readings counts; the slowest stands next to it.
"""

import argparse
import ctypes
import math
import mmap
import platform
import time
from pathlib import Path

import numpy as np
from tabulate import tabulate

LINE = 64
"""Bytes of a line of the caches."""

CHASE = bytes.fromhex("4889f8 488b00 48ffce 75f8 c3")
"""mov rax, rdi; again: mov rax, [rax]; dec rsi; jnz again; ret"""

READING_SECONDS = 0.05
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
FIRST_STEPS = 10_000


class MemoryLatency:
    """A random cycle over a buffer, and the loop that follows it.

    Raises OSError where the machine is not an x86-64 one, or allows no executable page.
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        if platform.machine() not in ("x86_64", "AMD64"):
            raise OSError(f"no loop for {platform.machine()}: x86-64 alone has one")
        self.count = size // LINE
        self._links = cycle(self.count, seed)
        self._page = mmap.mmap(
            -1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        )
        self._page.write(CHASE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._chase = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(start)
        self.first = self._links.ctypes.data
        self.follow(self.count)

    def follow(self, steps: int) -> int:
        """Return the address after so many accesses from the first line."""
        return int(self._chase(self.first, steps))

    def read(self, seconds: float = READING_SECONDS) -> float:
        """Return nanoseconds per access, over about so many seconds."""
        steps = FIRST_STEPS
        while True:
            began = time.thread_time()
            self.follow(steps)
            spent = time.thread_time() - began
            if spent >= seconds / 2:
                return 1e9 * spent / steps
            steps = math.ceil(steps * min(100.0, 1.2 * seconds / max(spent, 1e-9)))


def cycle(count: int, seed: int) -> np.ndarray:
    """Return lines whose first words are addresses: of shape (count, LINE / 8).

    Each line has that of the next one, in a random order that returns to the first after all.
    """
    links = np.zeros((count, LINE // 8), dtype=np.uint64)
    order = np.random.default_rng(seed).permutation(count)
    addresses = links.ctypes.data + LINE * np.roll(order, -1)
    links[order, 0] = addresses.astype(np.uint64)
    return links


def cache_sizes() -> dict[str, int]:
    """Return the sizes in bytes of the caches that hold data, by level: L1, L2, L3."""
    found = {}
    for folder in sorted(CACHES.glob("index*")):
        if (folder / "type").read_text().strip() != "Instruction":
            size = (folder / "size").read_text().strip()
            found[f"L{(folder / 'level').read_text().strip()}"] = 1024 * int(size.removesuffix("K"))
    return found


def places(caches: dict[str, int]) -> dict[str, int]:
    """Return the sizes to read, by where they lie: half of each cache, and four times the last."""
    inside = {f"inside {name}": size // 2 for name, size in caches.items()}
    last = max(caches.values(), default=32 * 2**20)
    return {**inside, "beyond": 4 * last}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readings", type=int, default=5, help="of each size (default 5)")
    readings = parser.parse_args().readings
    rows = []
    for place, size in places(cache_sizes()).items():
        try:
            probe = MemoryLatency(size)
        except OSError as error:
            raise SystemExit(f"no memory latency: {error}") from None
        found = [probe.read() for _ in range(readings)]
        rows.append(
            {
                "place": place,
                "size, MiB": f"{size / 2**20:.3g}",
                "ns per access": f"{min(found):.1f}",
                "slowest reading": f"{max(found):.1f}",
            }
        )
    print(tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
