"""Plans that every node has run, with records of kernels in which chosen nodes are slow."""

import math
from collections.abc import Collection, Mapping
from pathlib import Path

import fleet_project
import numpy as np

from deepbench_ops.fleet import job_folder
from deepbench_ops.fleet.job_folder import Outcome
from deepbench_ops.problems import load
from deepbench_ops.storage import facts_digest, measurement_files

MACHINE, RELEASE = "here", "numpy-2.2.6"
FAMILIES = ("gemm", "conv")
KERNELS, ROUNDS = 6, 4
DAY = 86400.0


def write(
    root: Path,
    name: str,
    day: int,
    nodes: int = 5,
    slow: Mapping[tuple[str, str], float] | None = None,
) -> Path:
    """Write root/name/plan.json and the jobs of its nodes n0, n1, ...; return the plan's path.

    day: of the measurements, from 1 January 1970. slow: ratios by node and family.
    """
    path = root / name / "plan.json"
    job = fleet_project.job(machine=MACHINE, release=RELEASE, families=FAMILIES)
    made = fleet_project.write(path, fleet_project.plan(job, every_node=True))
    random = np.random.default_rng(day)
    for node in (f"n{place}" for place in range(nodes)):
        folder = job_folder.folder_of(made, path, job, node)
        facts = {"node": node}
        records = [
            {
                "benchmark": f"{family}.Training.kernel_forward",
                "params": [problem.id, "float32"],
                "release": RELEASE,
                "started_at": day * DAY + turn,
                "number": 1,
                "seconds": [
                    (place + 1)
                    * 1e-3
                    * math.exp(random.normal(0, 0.004))
                    * (slow or {}).get((node, family), 1.0)
                ],
                "yardstick": [],
                "fingerprint": facts_digest.digest(facts),
            }
            for family in FAMILIES
            for place, problem in enumerate(load(family)[:KERNELS])
            for turn in range(ROUNDS)
        ]
        file = folder.results / MACHINE / f"0-py{measurement_files.SUFFIX}"
        file.parent.mkdir(parents=True)
        measurement_files.write(file, {facts_digest.digest(facts): facts}, records)
        folder.end(Outcome(True, node, 1.0))
    return path


def keep(plan: Path, node: str, families: Collection[str]) -> None:
    """Leave only the records of these families to a node, as if it had failed at the others."""
    file = file_of(plan, node)
    facts, records = measurement_files.load(file)
    kept = [each for each in records if each["benchmark"].partition(".")[0] in families]
    measurement_files.write(file, facts, kept)


def file_of(plan: Path, node: str) -> Path:
    """Return the records of a node."""
    (file,) = plan.parent.glob(f"jobs/**/*@{node}/results/{MACHINE}/*{measurement_files.SUFFIX}")
    return file
