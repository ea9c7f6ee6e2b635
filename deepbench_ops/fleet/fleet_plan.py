"""The plan of a fleet: jobs that measure releases on machines of several types, as a JSON file.

A job measures some families of one release on one node, or over several (`Plan.placement`)
collective operations or a training. The file does not change while the plan is run; its progress is
seen from the folders of its jobs, which lie next to it (`job_folder`).
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from deepbench_ops.distributed.launchers import rank_placement
from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.fleet.planned_training import PlannedTraining
from deepbench_ops.problems.selections import Selected, bench_regex, select, selection_name
from deepbench_ops.problems.suggestions import unknown
from deepbench_ops.storage import atomic_write, bounded_read

FORMAT, VERSION = "deepbench-fleet-plan", 1
LONGEST = 1e8
"""Most seconds of a job, three years."""

MOST_POINTS = 10**9
AGAIN = "make it again with deepbench fleet plan"


@dataclass(frozen=True)
class Job:
    """Families of one release on one machine type.

    shard: its number among the jobs of that release and machine type, from 1.
    points: how many are to be measured. seconds: expected on a node, installation not included.
    training: over the nodes, in place of families.
    """

    machine: str
    release: str
    shard: int
    families: tuple[str, ...]
    points: int
    seconds: float
    training: PlannedTraining | None = None

    @property
    def id(self) -> str:
        """Name of the job, such as epyc-9005/numpy-2.4.6/1; a path below the folder of jobs."""
        return f"{self.machine}/{self.release}/{self.shard}"


@dataclass(frozen=True)
class Plan:
    """All jobs, and their common settings.

    system, config: name of the site in ReFrame's configuration, and path of that; "" for none.
    every_node: whether each job runs on every node of its machine type, to compare the nodes.
    placement: of the ranks, where jobs have several nodes. The machine of such a job is a profile,
    named after machine type and placement: `profile`.
    """

    selection: str
    precisions: tuple[str, ...]
    jobs: tuple[Job, ...]
    system: str = ""
    config: str = ""
    every_node: bool = False
    placement: RankPlacement | None = None

    @cached_property
    def digest(self) -> str:
        """Digest of all of it, by which a job script is known to belong to this plan."""
        return hashlib.sha256(_text(self).encode()).hexdigest()[:16]

    @property
    def nodes_of_a_job(self) -> int:
        """Number of nodes that a job has."""
        return self.placement.nodes if self.placement else 1

    @property
    def machines(self) -> tuple[str, ...]:
        """The machine types, in the order of the jobs."""
        return tuple(dict.fromkeys(job.machine for job in self.jobs))

    @property
    def machine_types(self) -> tuple[str, ...]:
        """The machine types of the nodes, in the order of the jobs."""
        return tuple(map(self.machine_type, self.machines))

    def machine_type(self, machine: str) -> str:
        """Return the machine type of the nodes of a job's machine."""
        if self.placement is None:
            return machine
        named = machine.removesuffix(f"-{self.placement.name}")
        return named.removesuffix(f"-{self.placement.former_name}") if named == machine else named

    def job(self, id: str) -> Job:
        """Return a job. Raises DeepbenchError for an unknown one."""
        found = {job.id: job for job in self.jobs}
        if id not in found:
            raise unknown("job of the plan", id, found)
        return found[id]

    def pattern(self, job: Job) -> str:
        """Return the regular expression that picks a job's benchmarks, for `asv run --bench`."""
        selected = [each for family in job.families for each in self.selected(family)]
        fused = selection_name(self.selection) != "headline"
        return bench_regex(selected, self.precisions, fused, first_call=False, apart=False)

    def selected(self, family: str) -> tuple[Selected, ...]:
        """Return the problems of a family, over as many ranks as the plan's nodes have."""
        found = select(self.selection, family)
        ranks = (self.placement.ranks,) if self.placement else None
        return tuple(each._replace(ranks=ranks) if ranks else each for each in found)


def profile(machine_type: str, placement: RankPlacement | None) -> str:
    """Return the name under which times are filed, such as epyc-9005-2x4-hdr200-torchrun."""
    return f"{machine_type}-{placement.name}" if placement else machine_type


def write(path: Path, plan: Plan) -> None:
    """Write a plan to its file."""
    atomic_write.write_text(path, _text(plan))


def read(path: Path) -> Plan:
    """Return the plan of a file. Raises DeepbenchError for a file that is none."""
    try:
        content = json.loads(bounded_read.read_text(path, bounded_read.RESULT))
    except FileNotFoundError:
        raise DeepbenchError(f"{path}: no such plan: {AGAIN}") from None
    except OSError as error:
        raise DeepbenchError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise DeepbenchError(f"{path} is no JSON ({error}): {AGAIN}") from None
    errors = sorted(_schema().iter_errors(content), key=str)
    if errors:
        where = "/".join(map(str, errors[0].absolute_path)) or "the file"
        raise DeepbenchError(f"{path}: {where}: {errors[0].message[:200]}: {AGAIN}")
    return _plan(path, content)


def _plan(path: Path, content: Mapping[str, Any]) -> Plan:
    try:
        jobs = tuple(map(_job, content["jobs"]))
    except DeepbenchError as reason:
        raise DeepbenchError(f"{path}: {reason}") from None
    odd = [job for job in jobs if not (0 <= job.seconds <= LONGEST and job.points <= MOST_POINTS)]
    if odd:
        wrong = f"{odd[0].points:.4g} points and {odd[0].seconds:.4g} s"
        raise DeepbenchError(f"{path}: the job {odd[0].id} has {wrong}: {AGAIN}")
    ids = [job.id for job in jobs]
    twice = next((id for id in ids if ids.count(id) > 1), None) if len({*ids}) < len(ids) else None
    if twice:
        raise DeepbenchError(f"{path}: the job {twice} is in it twice: {AGAIN}")
    shared = {name: content[name] for name in ("selection", "system", "config", "every_node")}
    try:
        placed = content.get("placement")
        placement = rank_placement.of(placed) if placed else None
        found = Plan(
            precisions=tuple(content["precisions"]), jobs=jobs, placement=placement, **shared
        )
        for job in jobs:
            found.pattern(job)
            if job.training and placement is None:
                raise DeepbenchError(f"the job {job.id} is a training without nodes: {AGAIN}")
    except DeepbenchError as wrong:
        raise DeepbenchError(f"{path}: {wrong}") from None
    return found


def _job(content: Mapping[str, Any]) -> Job:
    """Return a job; the schema has the same names. Raises DeepbenchError for its training."""
    training = content.get("training")
    made = PlannedTraining(**training) if training else None
    return Job(**{**content, "families": tuple(content["families"]), "training": made})


def _text(plan: Plan) -> str:
    """Return the file's text. A job without a training has no key for it: the digests of older
    plans stay as they are."""
    content = {"format": FORMAT, "version": VERSION, **asdict(plan)}
    content["jobs"] = [
        {key: value for key, value in job.items() if key != "training" or value}
        for job in content["jobs"]
    ]
    return json.dumps(content, indent=1) + "\n"


@cache
def _schema() -> Any:
    from jsonschema import Draft202012Validator

    text = files(__package__).joinpath("fleet_plan.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))
