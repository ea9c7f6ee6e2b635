"""Times of finished jobs, merged into the results of the project.

They are merged as submissions are (`exchange.submissions.submission`), so that jobs may end in any
order and be merged twice. All of them are: unsteady ones are judged when results are read, as those
of `asv run` are. Where every node ran a job its times are for comparing nodes, and nothing is
merged.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission
from deepbench_ops.fleet.job_folder import JobFolder
from deepbench_ops.releases import table_location
from deepbench_ops.storage import locks, model_runs


def collect(results: Path, folders: Iterable[JobFolder], say: Callable[[str], None]) -> int:
    """Merge the jobs that are measured and not merged yet; return their number. Of a job whose
    kernels failed in part the others are.

    results: of the project. say: gets a line for each job, also for one that is refused. Raises
    OSError where results cannot be written, and DeepbenchError where another command holds them.
    """
    merged = 0
    for folder in folders:
        outcome = folder.outcome()
        if outcome is None or not folder.awaits_merge:
            continue
        try:
            times = _merge(results, folder)
        except DeepbenchError as wrong:
            folder.end_merge(outcome, refused=str(wrong))
            say(f"{folder.name}: its times are not taken into {results}: {wrong}")
            continue
        folder.end_merge(outcome, times)
        merged += 1
        say(f"{folder.name}: measured times stored in {results}: {times}")
    return merged


def _merge(results: Path, folder: JobFolder) -> int:
    """Merge the times and the runs of trainings of a job; return their number."""
    with locks.results(results, doing=f"deepbench fleet, merging {folder.name},"):
        known = {release.hash: release for release in table_location.load(results)}
        packed = submission.pack(folder.results, folder.job.machine, known, also_unsteady=True)
        checked = submission.checked(results, packed, known, ())
        submission.store(results, checked, partial(table_location.append, results))
        runs = model_runs.load(folder.results / folder.job.machine)
        if runs:
            model_runs.add(results / folder.job.machine, runs)
    return len(runs) + sum(len(each["points"]) for each in packed["results"])
