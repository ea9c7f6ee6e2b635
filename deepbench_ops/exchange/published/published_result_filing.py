"""Publications as asv results: one file for each machine, day and layout, merged with those there.

A published time has no interval: asv then weighs it like its neighbours. Kernels that a machine was
not timed on are marked as skipped, asv's NaN. The library stack and the workbooks' names stand
where asv keeps the requirements of a measured environment.
"""

import math
import statistics
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

from deepbench_ops.analysis import published_times_in_wrong_rows
from deepbench_ops.asv_adapter import private_result_fields, result_files
from deepbench_ops.asv_adapter.private_result_fields import Results
from deepbench_ops.asv_adapter.published_results import (
    ENVIRONMENT,
    WORKBOOK,
    PublishedValues,
    Stack,
    load,
    merged_stack,
)
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.workbooks.workbook_values import Publication
from deepbench_ops.machine import machine_profile
from deepbench_ops.releases.release_table import Release, publication_of
from deepbench_ops.storage import atomic_write
from deepbench_ops.storage.atomic_write import Ready

ListDays = Callable[[list[Release]], int]
"""Puts releases into the table; returns how many it lacked."""


def file(
    results: Path, publications: Iterable[Publication], list_days: ListDays
) -> tuple[int, int]:
    """File publications; return how many result files changed, and how many days were new.

    All files are prepared first, and replaced together once the release table lists the days: a day
    without results does no harm, results without their day would not be on the x-axis. Nothing is
    written where any of it fails. Raises DeepbenchError where two workbooks of a day give different
    times for the same kernel, and as `refuse_misplaced` does.
    """
    publications = list(publications)
    refuse_misplaced(publications)
    days: dict[Path, list[Publication]] = {}
    for publication in publications:
        days.setdefault(path_of(results, publication), []).append(publication)
    new = {}
    for path, of_day in days.items():
        known = load(path) if path.exists() else ({}, {})
        merged, stack = dict(known[0]), known[1]
        for publication in of_day:
            _merge(merged, publication)
            stack = merged_stack(stack, {WORKBOOK: publication.source, **publication.specs})
        if (merged, stack) != known:
            new[path] = (merged, stack, of_day[0])
    with atomic_write.together() as ready:
        for path, (merged, stack, one) in new.items():
            _write(path, merged, stack, one, ready)
        for machine in {publication.machine.name for publication in publications}:
            _describe(results, [p for p in publications if p.machine.name == machine], ready)
        listed = list_days([publication_of(day) for day in sorted({p.day for p in publications})])
    return len(new), listed


def refuse_misplaced(publications: Iterable[Publication]) -> None:
    """Raise DeepbenchError for times in wrong rows that the table does not list.

    Such a workbook is not published yet, and can be corrected.
    """
    for one in publications:
        known = published_times_in_wrong_rows.of([one.source])
        for key, place in one.out_of_step.items():
            if key not in known:
                raise DeepbenchError(
                    f"{one.source}: {place} and those below it stand in other rows than their"
                    " own: as many times are in rows without sizes as kernels at the table's end"
                    " have none"
                )


def _merge(values: PublishedValues, publication: Publication) -> None:
    for key, seconds in publication.values.items():
        if values.setdefault(key, seconds) != seconds:
            name, params = key
            raise DeepbenchError(
                f"{publication.source}: {name}({', '.join(params)}) took {seconds[0]:g} s, but"
                f" {publication.machine.name} has {values[key][0]:g} s for {publication.day}"
                " already: give it a --date of its own"
            )


def path_of(results: Path, one: Publication) -> Path:
    """Path of the file of a publication."""
    release = publication_of(one.day)
    return results / one.machine.name / f"{release.hash[:8]}-{_environment(one)}.json"


def _environment(one: Publication) -> str:
    return f"{ENVIRONMENT}-{one.layout}" if one.layout else ENVIRONMENT


def _write(
    path: Path, values: PublishedValues, stack: Stack, one: Publication, ready: Ready
) -> None:
    machine, release = one.machine, publication_of(one.day)
    entry = entry_of(path.with_name("machine.json")) or machine.entry()
    variables = {"DEEPBENCH_DEVICE": machine.device, "DEEPBENCH_CACHE": "warm"}
    if one.layout:
        variables["DEEPBENCH_LAYOUT"] = one.layout
    about = (release.hash, release.milliseconds, "", _environment(one), variables)
    filed = private_result_fields.new(entry, stack, *about)
    for name in sorted({name for name, _ in values}):
        _add(filed, name, {key: v for (found, key), v in values.items() if found == name})
    result_files.write(ready(path), filed)


def _add(filed: Results, name: str, seconds: dict[tuple[str, ...], list[float]]) -> None:
    axes = [list(dict.fromkeys(column)) for column in zip(*seconds, strict=True)]
    combinations = [seconds.get(key) for key in product(*axes)]
    several = [found if found and len(found) > 1 else None for found in combinations]
    values = [statistics.median_low(found) if found else math.nan for found in combinations]
    private_result_fields.put(filed, name, axes, values, several)


def entry_of(described: Path) -> dict[str, str] | None:
    """Return the entry in a machine.json, None where there is no such file.

    Raises DeepbenchError for one that is damaged.
    """
    if not described.is_file():
        return None
    return result_files.entry(described)


def _describe(results: Path, publications: list[Publication], ready: Ready) -> None:
    """Write asv's entry of a machine that has none, and the profile, with the specs that were
    published last.

    A profile with figures that were measured on the machine stays as it is.
    """
    described = results / publications[0].machine.name / "machine.json"
    if not described.exists():
        result_files.write_machine(ready(described), publications[0].machine.entry())
    last = max(publications, key=lambda publication: publication.day)
    known = machine_profile.read(results, last.machine.name)
    day = last.day.isoformat()
    if known is None or (known.date <= day and not known.has_measurements()):
        machine_profile.write(results, last.machine.profile(last.specs, day), ready)
