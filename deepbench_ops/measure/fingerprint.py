"""Fingerprint: the conditions of a measurement, from the processor to the load.

Two parts. `stable` is the same for every kernel of a process (processor, memory, kernel,
libraries, revision of this project) and is stored once, under its digest. `readings` change
from minute to minute (load, clock) and are stored with every measurement.
"""

import json
import os
import platform
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import deepbench_ops
from deepbench_ops.measure import library_variables
from deepbench_ops.measure.threads import allowed_cpus

CPU = Path("/sys/devices/system/cpu")
SETTINGS = "settings"
"""The fact that holds the external settings, as `library_variables.text` writes them."""
THREADS = "threads"
"""The fact that holds the number of threads, as text."""
ENVIRONMENT = "deepbench-release.json"
"""The file in a release's environment that lists its packages, and those left out."""
ENVIRONMENT_VARIABLE = "DEEPBENCH_ENVIRONMENT"
"""Names the folder of that file, where it is not that of the interpreter."""
NODE, NODE_VARIABLE = "node", "DEEPBENCH_NODE"
"""The fact that names the node of a fleet, and the variable that sets it."""


def stable(framework_versions: dict[str, str], threads: int) -> dict[str, str]:
    """Return the facts that hold for a whole process, as text by name.

    framework_versions: those of the backend's libraries (`Backend.versions`).
    """
    facts = {
        **of_the_run(),
        THREADS: str(threads),
        "affinity": ",".join(map(str, sorted(allowed_cpus()))),
        **framework_versions,
    }
    return dict(sorted(facts.items()))


@cache
def of_the_run() -> dict[str, str]:
    """Return the facts that no process of a run changes; asked for before a fork, once for all."""
    return {
        **_processor(),
        "memory_bytes": str(_memory_bytes()),
        "kernel": platform.release(),
        "os": platform.system(),
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "asv_runner": _version("asv_runner"),
        "revision": _revision(),
        SETTINGS: library_variables.text(library_variables.of_this_process()),
        **_of_environment(),
        **({NODE: os.environ[NODE_VARIABLE]} if os.environ.get(NODE_VARIABLE) else {}),
    }


def readings() -> dict[str, float]:
    """Return the present load over one minute, and the processor clock in MHz."""
    found = {"load_1min": round(os.getloadavg()[0], 2)}
    clocks = _cpuinfo_all("cpu MHz")
    if clocks:
        found["cpu_mhz"] = round(sum(map(float, clocks)) / len(clocks), 1)
    return found


def silicon() -> str:
    """Return family, model and stepping of the processor as "25/17/1", "" where it is not known.

    Clouds hide which model is behind a name, and lend different ones under the same.
    """
    return "/".join(_cpuinfo(key) for key in ("cpu family", "model", "stepping")).strip("/")


def _of_environment() -> dict[str, str]:
    """Return the requirements that this environment was made without, and whether it is an existing
    interpreter."""
    folder = Path(os.environ.get(ENVIRONMENT_VARIABLE, sys.prefix))
    try:
        holds = json.loads((folder / ENVIRONMENT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found = {"left_out": " ".join(holds.get("left_out", ()))}
    found["environment"] = str(holds.get("environment", ""))
    return {name: text for name, text in found.items() if text}


def _processor() -> dict[str, str]:
    flags = _cpuinfo("flags") or _cpuinfo("Features")
    return {
        "cpu": _cpuinfo("model name") or platform.processor() or platform.machine(),
        "cpu_family_model_stepping": silicon(),
        "cpu_microcode": _cpuinfo("microcode"),
        "cpu_flags": flags,
        "logical_cpus": str(os.cpu_count()),
        "governor": _read(CPU / "cpu0/cpufreq/scaling_governor"),
        "boost": _read(CPU / "cpufreq/boost"),
        "smt": _read(CPU / "smt/active"),
        "transparent_hugepages": _read(Path("/sys/kernel/mm/transparent_hugepage/enabled")),
    }


def _cpuinfo(key: str) -> str:
    values = _cpuinfo_all(key)
    return values[0] if values else ""


def _cpuinfo_all(key: str) -> list[str]:
    lines = _read(Path("/proc/cpuinfo")).splitlines()
    pairs = (line.partition(":") for line in lines)
    return [value.strip() for name, _, value in pairs if name.strip() == key]


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def _read(path: Path) -> str:
    """Return a kernel file's text, or nothing where the kernel does not offer it."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _revision() -> str:
    """Return this project's git revision, marked ``+`` when its files have been changed.

    Of a package that is in no checkout, it is the version.
    """
    here = Path(__file__).resolve().parents[2]
    if not (here / "pyproject.toml").is_file():
        return deepbench_ops.__version__
    command = ["git", "-C", str(here), "describe", "--always", "--dirty=+", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
