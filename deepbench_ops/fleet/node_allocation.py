"""The nodes that a scheduler gave a job, where it says so: ranks may run on no others."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.fleet import scheduler_answer


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
        return scheduler_answer.of("scontrol", "show", "hostnames", named).split()
    if file := environ.get("PBS_NODEFILE"):
        try:
            return Path(file).read_text("utf-8").split()
        except (OSError, UnicodeDecodeError):
            return ()
    return ()


def _short(host: str) -> str:
    return host.partition(".")[0]
