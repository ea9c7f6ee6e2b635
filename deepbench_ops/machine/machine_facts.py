"""Facts of this machine: those that identify it, and those that may change."""

import os
import platform
import subprocess
import sys
from pathlib import Path

from deepbench_ops.measure import (
    core_choice,
    fingerprint,
    gpu_readings,
    library_variables,
    threads,
)

NO_ACCELERATOR = "none"
PROC = Path("/proc")


def identity(name: str, accelerator: str | None = None) -> dict[str, str]:
    """Return the keys of asv's machine entry, all text; they are part of every line of asv.

    os has no kernel release and ram is in whole GiB, because asv's own values of these change with
    every kernel and would start new lines. accelerator: name of one that cannot be detected.
    """
    return {
        "machine": name,
        "os": platform.system(),
        "arch": platform.machine(),
        "cpu": processor_name() or "unknown",
        "num_cpu": str(os.cpu_count()),
        "ram": whole_gib(memory_bytes()),
        "accelerator": accelerator or accelerators().get("accelerator", NO_ACCELERATOR),
    }


def facts() -> dict[str, str]:
    """Return facts that may change while the machine keeps its name, as text: exact memory, caches,
    kernel, driver, external settings."""
    found = {
        "memory_bytes": str(memory_bytes() or ""),
        "last_level_cache_bytes": str(last_level_caches()),
        "kernel": platform.release(),
        "processor": fingerprint.silicon(),
        fingerprint.SETTINGS: library_variables.text(library_variables.of_this_process()),
        **accelerators(),
        **gpu_readings.facts(gpu_readings.CUDA),
    }
    return {name: value for name, value in found.items() if value}


def accelerators() -> dict[str, str]:
    """Return name, driver, memory and count of NVIDIA accelerators; {} where nvidia-smi finds
    none."""
    try:
        answer = subprocess.run(
            [
                "nvidia-smi",
                "--query-gpu=name,driver_version,memory.total",
                "--format=csv,noheader,nounits",
            ],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return parse_accelerators(answer.stdout)


def parse_accelerators(listing: str) -> dict[str, str]:
    """Return the accelerators in nvidia-smi's output: name, driver, memory in MiB.

    The name of several equal ones is "8 x NAME"; different ones are joined by " + ". Driver and
    memory are those of the first.
    """
    lines = [[cell.strip() for cell in line.split(",")] for line in listing.splitlines()]
    lines = [line for line in lines if len(line) == 3]
    if not lines:
        return {}
    names = [line[0] for line in lines]
    counted = [
        name if names.count(name) == 1 else f"{names.count(name)} x {name}"
        for name in dict.fromkeys(names)
    ]
    found = {"accelerator": " + ".join(counted), "driver": lines[0][1]}
    if lines[0][2].isdigit():
        found["accelerator_memory_bytes"] = str(int(lines[0][2]) * 2**20)
    return found


def last_level_caches(root: Path = core_choice.CPUS) -> int:
    """Return the bytes of all last-level caches of the cores that this process may use together, 0
    where unknown.

    root: where the system describes its processors.
    """
    groups = core_choice.grouped(sorted(threads.allowed_cpus()), root)
    return sum(_largest(root / f"cpu{first}" / "cache") for first, *_ in groups)


def _largest(caches: Path) -> int:
    """Return the bytes of the largest cache in a folder, 0 where unknown."""
    largest = 0
    for path in caches.glob("index*/size"):
        text = path.read_text().strip()
        scale = {"K": 2**10, "M": 2**20, "G": 2**30}.get(text[-1:], 1)
        digits = text.rstrip("KMG")
        if digits.isdigit():
            largest = max(largest, int(digits) * scale)
    return largest


def whole_gib(size: int) -> str:
    """Return a memory size in whole GiB, "unknown" for 0."""
    return f"{round(size / 2**30)} GiB" if size else "unknown"


def processor_name() -> str:
    """Return the name of the processor as the system reports it; "" where it cannot be read."""
    named = _proc("cpuinfo", "model name") or _sysctl("machdep.cpu.brand_string")
    return named or platform.processor()


def memory_bytes() -> int:
    """Return the physical memory in bytes, 0 where it cannot be read."""
    kilobytes = _proc("meminfo", "MemTotal").removesuffix(" kB")
    return int(kilobytes) * 1024 if kilobytes.isdigit() else int(_sysctl("hw.memsize") or 0)


def _proc(file: str, key: str) -> str:
    """Return the first value of a key in a file of Linux's /proc; "" if missing."""
    path = PROC / file
    lines = path.read_text("utf-8", errors="replace").splitlines() if path.is_file() else []
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for name, _, value in pairs if name.strip() == key), "")


def _sysctl(name: str) -> str:
    """Return a value from the kernel of macOS; "" on other systems."""
    if sys.platform != "darwin":
        return ""
    command = ["sysctl", "-n", name]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
