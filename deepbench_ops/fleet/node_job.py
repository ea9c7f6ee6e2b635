"""One job of a fleet on its node: `python -m deepbench_ops.fleet.node_job PLAN JOB DIGEST`.

The job script that ReFrame generates runs this. It describes the machine type where that is
missing, measures by `asv run` in a project folder of the job's own, or a training, and writes the
outcome. It ends when the reader of its output has gone, as after the end of a connection by ssh. An
interrupted job that is started again goes on where it stopped, on any node.
"""

import errno
import json
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from deepbench_ops import process_lifetime, project
from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.asv_adapter.run_hooks import YES_VARIABLE
from deepbench_ops.errors import DeepbenchError, remedy
from deepbench_ops.fleet import fleet_plan as plans
from deepbench_ops.fleet import (
    job_folder,
    kernel_failures,
    node_allocation,
    node_process,
    node_training,
)
from deepbench_ops.fleet.fleet_plan import Job, Plan
from deepbench_ops.fleet.job_folder import JobFolder, Outcome
from deepbench_ops.fleet.machine_type import MachineType, type_of
from deepbench_ops.fleet.node_process import Ended
from deepbench_ops.measure import fingerprint
from deepbench_ops.releases import installed_release, table_location
from deepbench_ops.storage import atomic_write, locks, model_runs

INTERRUPTED = (130, -2, -9, -15)
"""Exit statuses of an `asv run` that something ended."""

FAILED = 1
"""Exit status of an `asv run` that could not measure; 2 says that some kernels failed."""

LEAST_FREE_BYTES = 2**18
"""A disk with less room is full: one of asv's files does not fit."""

BULLET = "\u00b7 "
"""Begins the lines of asv."""

NOT_INSTALLED = re.compile(r" is not installed \(")


def node_name() -> str:
    """Return the name of this node: Slurm's, else the host's."""
    return os.environ.get("SLURMD_NODENAME") or platform.node()


def run(path: Path, id: str, digest: str) -> str:
    """Measure a job of the plan in a file; return the line to end with.

    digest: that of the plan when the job script was written. Raises DeepbenchError, with the
    reason, where nothing could be measured.
    """
    plan = plans.read(path)
    if plan.digest != digest:
        raise DeepbenchError(
            f"this job script does not belong to {path}: one of them was changed; submit the job"
            " again with deepbench fleet run"
        )
    node = node_name()
    folder = job_folder.folder_of(plan, path, plan.job(id), node)
    with (
        locks.writing(folder.path, doing=f"the job {folder.name} on {node}"),
        locks.in_turn(locks.of_user() / f"fleet-{platform.node()}", doing=f"the job {folder.name}"),
    ):
        done = f"{job_folder.DONE} {folder.name} of the plan {digest}"
        known = folder.outcome()
        if known and known.measured:
            return f"{done} was measured before, on {known.node}"
        folder.begin(node)
        began = time.monotonic()
        failed, reason = folder.failed_before, ""
        try:
            points, failed, reason = _measure(plan, path, folder, node)
            if failed:
                raise DeepbenchError(reason)
        except DeepbenchError as wrong:
            seconds = round(time.monotonic() - began, 1)
            folder.end(Outcome(False, node, seconds, str(wrong), failed))
            raise
        seconds = round(time.monotonic() - began, 1)
        folder.end(Outcome(True, node, seconds))
        return f"{done}: {points} points in {seconds:.0f} s on {node}"


class Measured(NamedTuple):
    """Times that a job has now, kernels that failed, and a line with their first reason."""

    points: int
    failed: int = 0
    reason: str = ""


def _measure(plan: Plan, path: Path, folder: JobFolder, node: str) -> Measured:
    """Measure the rest of a job. Raises DeepbenchError where it has no times then."""
    root = project.find(path.resolve().parent)
    if root is None:
        raise DeepbenchError(f"{path} lies in no project folder: put it into one, such as fleet/")
    if plan.placement and (reason := node_allocation.why_not(plan.placement)):
        raise DeepbenchError(reason)
    kind = type_of(path, folder.job.machine)
    kind.describe(project.results(root), node)
    kind.give_profile(folder.results)
    _write_project(folder.path, root, kind)
    job = folder.job
    if job.training:
        assert plan.placement is not None
        done = node_training.measure(folder, plan.placement, kind, root, node)
    else:
        done = _run_asv(plan, folder, kind, node)
    if done.status in INTERRUPTED:
        raise SystemExit(done.status)
    if done.status and (full := full_disk(folder.path)):
        raise DeepbenchError(full)
    if job.training:
        if done.status:
            raise DeepbenchError(_reason(job, [done.last_line.removeprefix("deepbench: error: ")]))
        return Measured(len(model_runs.load(folder.results / job.machine)))
    machine = folder.results / job.machine
    saved = result_files.paths(machine)
    why = kernel_failures.first_reason(done.lines) if done.status != FAILED else ""
    if not saved or done.status == FAILED:
        raise DeepbenchError(_reason(job, [why] if why else done.lines))
    points = sum(1 for each in saved for _ in private_result_fields.each(result_files.read(each)))
    failed = len(kernel_failures.failed_kernels(machine))
    if not failed:
        return Measured(points)
    why = why or "asv printed no reason"
    if not points:
        raise DeepbenchError(_reason(job, [why]))
    return Measured(points, failed, f"{failed} of {points + failed} kernels failed: {why}")


def _run_asv(plan: Plan, folder: JobFolder, kind: MachineType, node: str) -> Ended:
    """Measure the families of a job by `asv run`, or of them the kernels that failed before."""
    job = folder.job
    failed = (
        kernel_failures.failed_kernels(folder.results / job.machine) if folder.failed_before else []
    )
    pattern = kernel_failures.pattern(failed) if failed else plan.pattern(job)
    command = ["-m", "asv", "run", "--machine", job.machine, "--bench", pattern]
    variables = {**kind.variables, YES_VARIABLE: "1", fingerprint.NODE_VARIABLE: node}
    if plan.placement:
        variables |= plan.placement.variables()
    return node_process.run([*command, job.release], folder.path, variables)


def _write_project(folder: Path, root: Path, kind: MachineType) -> None:
    """Make a job's folder a project folder, with the release table and suite of its project.

    Releases that are measured in an existing interpreter of the project are so here.
    """
    values = project.read_configuration(root / project.CONFIGURATION)
    for name, python in installed_release.interpreters(project.environments(root)).items():
        installed_release.remember(kind.environments, name, python)
    table = table_location.path_of(project.results(root))
    values |= {
        "repo": str(table.resolve()),
        "benchmark_dir": str((root / str(values.get("benchmark_dir", "benchmarks"))).resolve()),
        "results_dir": "results",
        "env_dir": str(kind.environments.resolve()),
    }
    atomic_write.write_text(folder / project.CONFIGURATION, json.dumps(values, indent=1) + "\n")


def full_disk(folder: Path) -> str:
    """Return a line that names a full disk of a job on this node, "" where it has none.

    Points that it cost are skipped or failed in asv's words, and asv goes on with the others.
    """
    for path in (Path(os.environ.get("TMPDIR") or tempfile.gettempdir()), folder):
        if path.is_dir() and shutil.disk_usage(path).free < LEAST_FREE_BYTES:
            return f"{path}: {os.strerror(errno.ENOSPC)}: make room there"
    return ""


def _reason(job: Job, lines: Sequence[str]) -> str:
    """Return why nothing was measured, from the lines that asv printed."""
    found = [line for line in lines if NOT_INSTALLED.search(line)]
    line = (found or list(lines[-1:]) or ["asv printed nothing"])[0].lstrip(BULLET)
    return line if job.release in line else f"{job.release}: {line}"


def main(arguments: Sequence[str]) -> int:
    """Run the job that the arguments name; return the exit status, with a line for an error."""
    try:
        path, id, digest = arguments
        print(run(Path(path), id, digest), flush=True)
    except ValueError:
        print("deepbench fleet: error: name PLAN, JOB and DIGEST", file=sys.stderr)
        return 2
    except DeepbenchError as reason:
        print(f"deepbench fleet: error: {node_name()}: {reason}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        line = f"{where}{error.strerror or error}{remedy(error)}"
        print(f"deepbench fleet: error: {node_name()}: {line}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    process_lifetime.end_when_unread(sys.stdout.fileno())
    sys.exit(main(sys.argv[1:]))
