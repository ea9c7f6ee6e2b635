"""Times of finished jobs, merged into the results of the project.

They are merged as submissions are (`exchange.submissions.submission`), so that jobs may end in any
order and be merged twice. All of them are: unsteady ones are judged when results are read, as those
of `asv run` are. Where the results have another time of a kernel, a steady one takes its place, as
those of `asv run` do. Next to an unsteady one the other stays, and next to any that of a history,
whose rounds all releases share. Where every node ran a job its times are for comparing nodes, and
nothing is merged.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import (
    conflict_resolution,
    shown_version,
    submission,
    submission_merging,
    submission_model_runs,
)
from deepbench_ops.fleet.job_folder import JobFolder
from deepbench_ops.releases import table_location
from deepbench_ops.releases.release_table import Release
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
            times, kept = _merge(results, folder)
        except DeepbenchError as wrong:
            folder.end_merge(outcome, refused=str(wrong))
            say(f"{folder.name}: its times are not taken into {results}: {wrong}")
            continue
        folder.end_merge(outcome, times)
        merged += 1
        say(f"{folder.name}: measured times stored in {results}: {times}")
        if kept:
            say(
                f"{folder.name}: {kept} of them do not replace earlier times of these kernels,"
                " since they are unsteady or the earlier ones are those of a history"
            )
    return merged


def _merge(results: Path, folder: JobFolder) -> tuple[int, int]:
    """Merge the times and the runs of trainings of a job.

    Returns their number, and how many times replace no earlier one.
    """
    with locks.results(results, doing=f"deepbench fleet, merging {folder.name},"):
        known = {release.hash: release for release in table_location.load(results)}
        packed = submission.pack(folder.results, folder.job.machine, known, also_unsteady=True)
        runs = packed.pop(submission_model_runs.FIELD)  # of two of a question the newest is kept
        checked = submission.checked(results, packed, known, ())
        submission.store(results, checked, partial(table_location.append, results))
        if runs:
            model_runs.add(results / folder.job.machine, runs)
        times = len(runs) + sum(len(each["points"]) for each in packed["results"])
        return times, _replace_earlier(results, folder, packed, known)


def _replace_earlier(
    results: Path, folder: JobFolder, packed: dict[str, Any], known: Mapping[str, Release]
) -> int:
    """Show the merged times in the place of earlier ones, unless they are unsteady or the earlier
    one is that of a history; return how many earlier ones stay."""
    machine = folder.job.machine
    own = _ids(packed)
    both = [
        conflict
        for conflict in conflict_resolution.of_machine(results / machine, known.values())
        if own & {one.id for one in conflict.versions}
    ]
    if not both:
        return 0
    steady = _ids(submission.pack(folder.results, machine, known))
    chosen: set[str] = set()
    kept = 0
    for conflict in both:
        earlier = [one for one in conflict.versions if one.id not in own]
        of_history = [one for one in earlier if shown_version.is_of_history(one)]
        new = steady & {one.id for one in conflict.versions}
        if new and not of_history:
            chosen |= new
        elif len(stay := of_history or earlier) == 1:  # of several the user chooses
            chosen.add(stay[0].id)
            kept += 1
    conflict_resolution.resolve(both, chosen)
    return kept


def _ids(packed: dict[str, Any]) -> set[str]:
    return {id for result in packed["results"] for id in submission_merging.short_ids(result)}
