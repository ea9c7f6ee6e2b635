"""Times of jobs in the results of the project: alike in any order, and however often."""

import itertools
import json
from datetime import date
from pathlib import Path
from statistics import median

import fleet_project
import full_disk
import pytest

from deepbench_ops.asv_adapter import machine_entry, result_files
from deepbench_ops.distributed.launchers.rank_placement import RankPlacement
from deepbench_ops.distributed.training import scaling_run
from deepbench_ops.exchange.submissions import submission
from deepbench_ops.fleet import fleet_plan, job_folder, job_result_merging
from deepbench_ops.fleet.job_folder import JobFolder, Outcome
from deepbench_ops.fleet.planned_training import PlannedTraining
from deepbench_ops.pages import machine_lines
from deepbench_ops.releases.release_table import Release
from deepbench_ops.storage import facts_digest, model_runs

RELEASE = Release("numpy", fleet_project.RELEASE.partition("-")[2], date(2024, 3, 1))
SIZES = (16, 32, 64)
FACTS = {"python": "3.11.7", "node": "n1"}


def point(size: int, levels: tuple[float, ...] = (1.0,)) -> dict:
    """A time of a product, by processes with these times as multiples of the usual one."""
    key = [f"'m1760_n{size}_k1760_NN'", "'float32'"]
    name = "gemm.Training.kernel_forward"
    samples = [level * size / 1e4 for level in levels for _ in range(3)]
    return {"benchmark": name, "params": key, "seconds": median(samples), "samples": samples}


def measured(size: int, level: float = 1.0) -> dict:
    """The record of one of those processes."""
    return {
        "benchmark": point(size)["benchmark"],
        "params": [text.strip("'") for text in point(size)["params"]],
        "release": RELEASE.name,
        "started_at": size + level,
        "number": 1,
        "seconds": point(size, (level,))["samples"],
        "yardstick": [],
        "fingerprint": facts_digest.digest(FACTS),
    }


def fill(
    folder: JobFolder,
    sizes: tuple[int, ...],
    levels: tuple[float, ...] = (1.0,),
    of_history: bool = False,
) -> None:
    """Put times and records into the results of a job, as measuring does."""
    fleet_project.describe(folder.results, folder.job.machine)
    machine = folder.results / folder.job.machine
    content = {
        "format": submission.FORMAT,
        "version": submission.VERSION,
        "machine": machine_entry.of_results(folder.results, folder.job.machine),
        "profile": json.loads((machine / "machine.profile").read_text()),
        "results": [
            {
                "framework": RELEASE.framework,
                "release": RELEASE.version,
                "date": RELEASE.date.isoformat(),
                "environment": "release-py3-DEEPBENCH_CACHEwarm-DEEPBENCH_DEVICEcpu",
                "variables": {"DEEPBENCH_DEVICE": "cpu", "DEEPBENCH_CACHE": "warm"},
                "libraries": {},
                "points": [point(size, levels) for size in sizes],
                "conditions": {facts_digest.digest(FACTS): FACTS},
                "measurements": [
                    {
                        **measured(size, level),
                        **({"ensemble": origin(level * size / 1e4)} if of_history else {}),
                    }
                    for size in sizes
                    for level in levels
                ],
            }
        ],
    }
    sent = {**content, "digest": submission.digest(content)}
    known = {RELEASE.hash: RELEASE}
    ((_, checked),) = submission.checked_all(folder.results, {folder.path: sent}, known)
    submission.store(folder.results, checked, len)
    folder.end(Outcome(True, "n1", 1.0))


def origin(seconds: float) -> dict:
    """Where a time of a history comes from."""
    return {
        **{"file": "numpy", "anchor": RELEASE.name, "seconds": seconds, "rounds": 6},
        **{"ratio": 1.0, "low": 1.0, "high": 1.0, "interval": [seconds, seconds]},
    }


@pytest.fixture
def project(tmp_path):
    """A project with three measured jobs, and the function that makes more such projects."""

    def made(name: str) -> tuple[Path, list[JobFolder]]:
        root = tmp_path / name
        root.mkdir()
        path = fleet_project.make(root)
        plan = fleet_project.plan(*(fleet_project.job(n) for n in (1, 2, 3)))
        folders = list(job_folder.folders(plan, path))
        for folder, size in zip(folders, SIZES, strict=True):
            fill(folder, tuple(sorted({size, SIZES[0]})))
        return root / "results", folders

    return made


def content(results: Path) -> dict[str, bytes]:
    """The files of a folder of results."""
    return {
        str(path.relative_to(results)): path.read_bytes()
        for path in sorted(results.rglob("*"))
        if path.is_file() and not path.name.startswith(".deepbench")
    }


def test_jobs_are_merged_alike_in_any_order(project):
    """Each time is there once, with its record."""
    found = []
    for number, order in enumerate(itertools.permutations(range(3))):
        results, folders = project(str(number))
        for place in order:
            assert 1 == job_result_merging.collect(results, [folders[place]], print)
        found.append(content(results))
    assert all(found[0] == each for each in found)
    (path,) = [
        name
        for name in found[0]
        if name.endswith("release-py3-DEEPBENCH_CACHEwarm-DEEPBENCH_DEVICEcpu.json")
    ]
    assert SIZES == tuple(
        int(text.split("_n")[1].split("_")[0]) for text in _problems(json.loads(found[0][path]))
    )


def _problems(stored: dict) -> list[str]:
    (row,) = stored["results"].values()
    return sorted(row[stored["result_columns"].index("params")][0])


def test_a_job_is_merged_once_and_twice_alike(project):
    """Also where the note that it is merged was lost."""
    results, folders = project("one")
    assert 3 == job_result_merging.collect(results, folders, print)
    before = content(results)
    assert 0 == job_result_merging.collect(results, folders, print)
    for folder in folders:
        (folder.path / job_folder.COLLECTED).unlink()
    assert 3 == job_result_merging.collect(results, folders, print)
    assert before == content(results)


UNSTEADY, STEADY, LATER = (1.0, 2.0), (1.1, 1.101), (1.2, 1.201)
"""Times of two processes, as multiples of the usual one."""


def merged(tmp_path: Path, *plans: tuple[float, ...]) -> tuple[list[float], list[str]]:
    """The samples that the results show of a kernel, as multiples of its usual time, after plans
    that measured it at these levels, and the lines about them."""
    said: list[str] = []
    for number, levels in enumerate(plans):
        plan = fleet_project.plan()
        (folder,) = job_folder.folders(plan, tmp_path / f"fleet-{number}" / "plan.json")
        fill(folder, SIZES[:1], levels)
        job_result_merging.collect(tmp_path / "results", [folder], said.append)
    (path,) = result_files.paths(tmp_path / "results" / fleet_project.MACHINE)
    (row,) = json.loads(path.read_text())["results"].values()
    columns = json.loads(path.read_text())["result_columns"]
    ((samples,),) = (dict(zip(columns, row, strict=False))["samples"],)
    return sorted({round(each * 1e4 / SIZES[0], 6) for each in samples}), said


@pytest.mark.parametrize(
    ("plans", "shown"),
    [
        ((STEADY, LATER), LATER),
        ((LATER, STEADY), STEADY),
        ((UNSTEADY, STEADY), STEADY),
        ((STEADY, UNSTEADY), STEADY),
        ((STEADY, LATER, STEADY), LATER),
    ],
)
def test_a_steady_time_takes_the_place_of_earlier_ones(tmp_path, plans, shown):
    """As it does with asv run; one that was replaced does not come back when it is merged again."""
    fleet_project.make(tmp_path)
    samples, said = merged(tmp_path, *plans)
    assert sorted({*shown}) == samples
    kept = [line for line in said if "do not replace earlier times of" in line]
    assert (plans[-1] == UNSTEADY) == len(kept)


def test_a_time_of_a_history_stays(tmp_path):
    """Its rounds are shared with other releases; the fleet's time was measured on its own."""
    fleet_project.make(tmp_path)
    (folder,) = job_folder.folders(fleet_project.plan(), tmp_path / "history" / "plan.json")
    fill(folder, SIZES[:1], LATER[:1], of_history=True)
    job_result_merging.collect(tmp_path / "results", [folder], print)
    samples, (_, kept) = merged(tmp_path, STEADY)
    assert [*LATER[:1]] == samples
    assert "1 of them do not replace earlier times of these kernels, since they are" in kept


def test_the_runs_of_a_training_are_merged_with_the_profile(tmp_path):
    """They are read like those of deepbench scaling, and merged twice alike."""
    path = fleet_project.make(tmp_path)
    placement = RankPlacement(2, 1, "srun", "hdr200")
    machine = fleet_plan.profile(fleet_project.MACHINE, placement)
    training = PlannedTraining("mmoe")
    job = fleet_project.job(machine=machine, families=(), training=training)
    (folder,) = job_folder.folders(fleet_project.plan(job, placement=placement), path)
    fleet_project.describe(folder.results, machine)
    runs = [
        {
            **scaling_run.of(training.request("cpu"), ranks, [0.3, 0.1, 0.2]),
            "release": "torch-2.13.0",
            "day": "2026-11-26",
            "conditions": placement.facts() if ranks > 1 else {},
        }
        for ranks in (1, 2)
    ]
    model_runs.add(folder.results / machine, runs)
    folder.end(Outcome(True, "n1", 1.0))
    said = []
    for _ in range(2):
        job_result_merging.collect(tmp_path / "results", [folder], said.append)
        (folder.path / job_folder.COLLECTED).unlink()
    own = tmp_path / "results" / machine
    assert 2 * [f"{job.id}: measured times stored in {tmp_path / 'results'}: 2"] == said
    assert runs == model_runs.load(own)
    assert (0.2, None) == (runs[0]["step_seconds"], runs[0]["low"])
    assert {"machine.json", "machine.profile"} < {each.name for each in own.iterdir()}
    _, machines, problems = machine_lines.read(tmp_path / "results", ())
    assert (runs, []) == (list({each.name: each.runs for each in machines}[machine]), problems)


def test_times_by_two_launchers_do_not_take_each_others_place(tmp_path):
    """The same kernel over the same nodes is in the results of two machines."""
    path = fleet_project.make(tmp_path)
    names = []
    for launcher in ("srun", "torchrun"):
        placement = RankPlacement(2, 1, launcher, "loopback")
        names.append(fleet_plan.profile(fleet_project.MACHINE, placement))
        plan = fleet_project.plan(fleet_project.job(machine=names[-1]), placement=placement)
        (folder,) = job_folder.folders(plan, path)
        fill(folder, SIZES[:1])
        assert 1 == job_result_merging.collect(tmp_path / "results", [folder], print)
    for name in names:
        (stored,) = result_files.paths(tmp_path / "results" / name)
        assert 1 == len(_problems(json.loads(stored.read_text())))


def test_a_job_that_is_not_measured_is_not_merged(project):
    """Nor one that failed."""
    results, folders = project("one")
    folders[0].end(Outcome(False, "n1", 1.0, "why"))
    (folders[1].path / job_folder.OUTCOME).unlink()
    assert 1 == job_result_merging.collect(results, folders, print)


def test_a_job_that_is_refused_costs_no_other(project):
    """Its line says why; it is tried again the next time."""
    results, folders = project("one")
    fleet_project.describe(folders[0].results, fleet_project.MACHINE, cpu="another")
    said: list[str] = []
    assert 1 <= job_result_merging.collect(results, folders, said.append) <= 2
    assert f"{folders[0].name}: its times are not taken into {results}: " in said[0]
    assert folders[0].refusal in said[0]
    assert [True, False, False] == [bool(folder.refusal) for folder in folders]
    fleet_project.describe(folders[0].results, fleet_project.MACHINE)
    assert 1 <= job_result_merging.collect(results, folders, said.append)
    assert not any(folder.awaits_merge for folder in folders)


def test_a_full_disk_is_an_error_and_nothing_is_lost(project):
    """After there is room the times are merged."""
    results, folders = project("one")
    with full_disk.mounted(results):
        full_disk.fill(results / "filler")
        with pytest.raises(OSError, match="No space left"):
            job_result_merging.collect(results, folders, print)
        assert all(folder.awaits_merge for folder in folders)
        (results / "filler").unlink()
        assert 3 == job_result_merging.collect(results, folders, print)
