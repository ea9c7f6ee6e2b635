"""The nodes that a scheduler gave a job, where it says so: ranks may run on no others."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement

ANSWER_SECONDS = 30.0


def why_not(placement: RankPlacement, environ: Mapping[str, str] = os.environ) -> str:
    """Return a line where the hosts of a placement are not the nodes of this job, that of the job
    script first; "" where they are.

    Slurm and PBS name the nodes of a job; of others nothing is known.
    """
    nodes = of_job(environ)
    if not nodes or not placement.hosts:
        return ""
    asked = list(map(_short, placement.hosts))
    given = list(dict.fromkeys(map(_short, nodes)))
    if asked[0] == given[0] and {*asked} == {*given}:
        return ""
    return (
        f"the job has the nodes {', '.join(given)}, and --hosts of the plan are"
        f" {', '.join(placement.hosts)}: ask the scheduler for these, in this order, or make a"
        " plan with --launcher srun"
    )


def of_job(environ: Mapping[str, str]) -> Sequence[str]:
    """Return the nodes of this job, that of the job script first; () where nothing says them."""
    if named := environ.get("SLURM_JOB_NODELIST"):
        return _printed("scontrol", "show", "hostnames", named)
    if file := environ.get("PBS_NODEFILE"):
        try:
            return Path(file).read_text("utf-8").split()
        except (OSError, UnicodeDecodeError):
            return ()
    return ()


def _printed(*command: str) -> list[str]:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.split()


def _short(host: str) -> str:
    return host.partition(".")[0]
