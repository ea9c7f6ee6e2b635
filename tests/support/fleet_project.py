"""A project folder with one release of numpy, that of this interpreter, and plans in it."""

import atexit
import hashlib
import json
import os
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet.fleet_plan import Job, Plan
from deepbench_ops.machine import machine_facts, machine_profile
from deepbench_ops.machine.machine_profile import Figure, Profile
from deepbench_ops.measure import yardstick
from deepbench_ops.releases import installed_release
from deepbench_ops.storage import atomic_write

ROOT = Path(__file__).resolve().parents[2]
MACHINE = "here"
RELEASE = f"numpy-{metadata.version('numpy')}"
FAMILY = "topk"
POINTS = 2


def job(shard: int = 1, machine: str = MACHINE, **more) -> Job:
    """A job of a few seconds."""
    plain = {"families": (FAMILY,), "points": POINTS, "seconds": 10.0, "release": RELEASE}
    return Job(machine=machine, shard=shard, **{**plain, **more})


def plan(*jobs: Job, **more) -> Plan:
    """A plan of these jobs."""
    return Plan("headline", ("float32",), jobs or (job(),), **more)


def make(root: Path, release: str = RELEASE, machine: str = MACHINE) -> Path:
    """Make the project, with a description of this machine; return the path for a plan."""
    values = {
        "version": 1,
        "project": "deepbench",
        "project_url": "#",
        "dvcs": "releases",
        "repo": "releases.csv",
        "plugins": [".deepbench_ops.asv_adapter.plugin"],
        "environment_type": "release",
        "pythons": ["3"],
        "env_dir": ".asv/env",
        "matrix": {"env_nobuild": {"DEEPBENCH_DEVICE": ["cpu"], "DEEPBENCH_CACHE": ["warm"]}},
        "launch_method": "forkserver",
        "benchmark_dir": "benchmarks",
        "results_dir": "results",
        "html_dir": "html",
        "hash_length": 8,
        "show_commit_url": "#",
    }
    (root / "asv.conf.json").write_text(json.dumps(values))
    framework, _, version = release.partition("-")
    header = "framework,version,date,pins,on_request,index"
    (root / "releases.csv").write_text(f"{header}\n{framework},{version},2024-03-01,,no,\n")
    shutil.copytree(ROOT / "benchmarks", root / "benchmarks")
    installed_release.remember(root / ".asv" / "env", release, Path(sys.executable))
    describe(root / "results", machine)
    return root / "fleet" / "plan.json"


def describe(results: Path, machine: str, **other: str) -> None:
    """Write a machine's description, that of this one but for `other`, and a profile."""
    entry = {**machine_facts.identity(machine), **other, "version": 1}
    atomic_write.write_text(results / machine / "machine.json", json.dumps(entry))
    peak = Figure(1e12, "FLOP/s", "data sheet: a test")
    bandwidth = Figure(1e11, "bytes/s", "data sheet: a test")
    peaks = {"cpu": {"float32": peak}}
    reading = Figure(1e-3, "s", "measured: a test")
    readings = {str(count): dict.fromkeys(yardstick.KINDS, reading) for count in (1, 2)}
    figures = (peaks, {"cpu": bandwidth}, yardstick.VERSION, readings)
    machine_profile.write(results, Profile(machine, "2026-11-25", {}, *figures))


def write(path: Path, made: Plan) -> Plan:
    """Write a plan."""
    plans.write(path, made)
    return made


def environ(home: Path) -> dict[str, str]:
    """Environment variables of a user with this home folder, and a folder for temporary files.

    That has a short path: asv puts a socket there, whose path has at most 107 bytes.
    """
    temporary = Path(tempfile.gettempdir()) / hashlib.sha256(bytes(home)).hexdigest()[:12]
    if not temporary.exists():
        temporary.mkdir(exist_ok=True)  # jobs of a test start at the same time
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    own = {"HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    return {**os.environ, **own, "DEEPBENCH_THREADS": "1"}
