"""The training of a job, in the environment of its release, and its runs in the job's results."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deepbench_ops import process_messages, project
from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet import node_process
from deepbench_ops.fleet.job_folder import JobFolder
from deepbench_ops.fleet.machine_type import MachineType
from deepbench_ops.fleet.node_process import Ended
from deepbench_ops.measure import fingerprint
from deepbench_ops.releases import release_table, table_location, worker_launch
from deepbench_ops.run_conditions import DEVICE
from deepbench_ops.storage import model_runs

PROGRAM = "deepbench_ops.distributed.training.training_over_nodes"


def measure(
    folder: JobFolder, placement: RankPlacement, kind: MachineType, root: Path, node: str
) -> Ended:
    """Measure a job's training on each device of its project's matrix, and file the runs.

    The folder is the job's project already. root: of the project whose release table has the job's
    release. Returns the end of the last program. Raises DeepbenchError where the release cannot be
    installed.
    """
    job = folder.job
    assert job.training is not None
    known = table_location.measurable(project.results(root))
    release = release_table.find(job.release, known)
    launch = worker_launch.launch(release, kind.environments, say=print)
    variables = {**launch.environ, **placement.variables(), fingerprint.NODE_VARIABLE: node}
    runs: list[dict[str, Any]] = []
    for device in devices(folder.path):
        request = job.training.request(device).text()
        done = node_process.run(
            ["-m", PROGRAM, request], folder.path, {**kind.variables, **variables}, launch.python
        )
        if done.status:
            return done
        found = process_messages.last_printed("\n".join(map(str.strip, done.lines)))
        if found is None:
            raise DeepbenchError(f"{job.release}: {PROGRAM} printed no runs")
        day = datetime.now(UTC).date().isoformat()
        runs += [{**each, "release": job.release, "day": day} for each in found["runs"]]
    model_runs.add(folder.results / job.machine, runs)
    return done


def devices(folder: Path) -> tuple[str, ...]:
    """Return the devices in the matrix of a project's asv.conf.json, cpu where it names none."""
    values = project.read_configuration(folder / project.CONFIGURATION)
    matrix: dict[str, Any] = dict(values.get("matrix") or {})
    named = dict(matrix.get("env_nobuild") or {}).get(DEVICE.variable)
    found = [named] if isinstance(named, str) else named
    return tuple(each or DEVICE.usual for each in found or (DEVICE.usual,))
