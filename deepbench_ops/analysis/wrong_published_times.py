"""Published times that are wrong, as opposed to times that were measured again.

A new measurement changes most times of a benchmark, or comes with other libraries. Where these
stay and few times of a benchmark and precision change, or many within days, those were wrong. So is
a row with a time that is beyond the machine's roof, and a time that was pasted into another row
than its own. A line through wrong times would show a change of speed that did not happen.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from deepbench_ops.analysis import published_times_in_wrong_rows
from deepbench_ops.asv_adapter import published_results, result_files
from deepbench_ops.asv_adapter.published_results import (
    ALTERNATIVES,
    WORKBOOK,
    PublishedValues,
    Stack,
    day_of,
    values_and_stack,
)
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.machine.impossible_times import BEYOND, asked, fast_factor
from deepbench_ops.problems.benchmark_names import why_not
from deepbench_ops.storage.file_state import FileState, state
from deepbench_ops.storage.result_key import ResultKey, unquoted

FEW = 0.5
"""Share of a benchmark's times below which those that changed are corrections."""

SOON = timedelta(days=5)
"""Days within which a second publication with the same libraries mends the first."""

PARTS = (
    *("workbook", "machine", "release", "set", "conditions", "day of publication", "motherboard"),
    *("cpu", "gpu", "linux kernel", "bios", "os", "hca", "opa", "ifs", "mellanox"),
)
"""How specs begin that are no library and no driver of the kernels, such as the board or the
processor of a card's host, in which training and inference of one day may differ."""


@dataclass(frozen=True)
class Dated:
    """Values and stack of a machine's publications of one day."""

    day: date
    values: PublishedValues
    stack: Stack


def corrected(publications: Sequence[Dated]) -> list[set[ResultKey]]:
    """Return, for each publication of a machine in order, the keys that a later one corrected."""
    found: list[set[ResultKey]] = [set() for _ in publications]
    places: dict[ResultKey, list[int]] = {}
    for now, one in enumerate(publications):
        before = {key: publications[places[key][-1]] for key in one.values if key in places}
        changed = {key for key, old in before.items() if old.values[key] != one.values[key]}
        asked, differing = Counter(map(_group, before)), Counter(map(_group, changed))
        for key in one.values:
            if key in changed:
                few = differing[_group(key)] < FEW * asked[_group(key)]
                soon = one.day - before[key].day <= SOON
                if (few or soon) and _same_libraries(before[key].stack, one.stack):
                    for earlier in places[key]:
                        found[earlier].add(key)
                places[key] = []
            places.setdefault(key, []).append(now)
    return found


def impossible(values: PublishedValues, peaks: Mapping[str, float]) -> set[ResultKey]:
    """Return the times of rows that have one beyond the peak; `peaks` are by precision. A
    benchmark that is no kernel has none."""
    rows = {_row(key) for key, seconds in values.items() if min(seconds) < _least(key, peaks)}
    return {key for key in values if _row(key) in rows} if rows else set()


def _least(key: ResultKey, peaks: Mapping[str, float]) -> float:
    """Return the seconds below which a time is beyond the peak, 0 where there is none."""
    precision, flops = _most(key)
    peak = peaks.get(precision)
    return flops / peak if peak else 0.0


@cache
def _most(key: ResultKey) -> tuple[str, float]:
    """Return the precision of a kernel's peak, and its FLOPs for each that it may seem to do."""
    if why_not(*unquoted(*key)):
        return "", 0.0
    precision, flops = asked(key)
    return precision, flops / (BEYOND * fast_factor(key))


def of_machine(folder: Path) -> dict[str, set[ResultKey]]:
    """Return the wrong times by the name of the result file that holds them."""
    paths = published_results.paths(folder)
    described = machine_profile.path_of(folder.parent, folder.name)
    known = [described] if described.exists() else []
    return _of_files(folder, tuple((path, state(path)) for path in [*paths, *known]))


@cache
def _of_files(folder: Path, files: tuple[tuple[Path, FileState], ...]) -> dict[str, set[ResultKey]]:
    """Return the wrong times by file name; the states of the files make the cache notice new
    content."""
    filed = {}
    for path, _ in files:
        with suppress(DeepbenchError):  # a damaged file is named where its values are read
            if path.suffix == ".json":
                filed[path] = result_files.read(path)
    paths = sorted(filed, key=lambda path: day_of(filed[path]))
    dated = [Dated(day_of(filed[path]), *values_and_stack(filed[path])) for path in paths]
    peaks = _peaks(folder) if paths else {}
    strays = [_out_of_step(one) for one in dated]
    # A time in another kernel's row is compared with no other day's.
    sound = [_without(one, keys) for one, keys in zip(dated, strays, strict=True)]
    return {
        path.name: mended | stray | impossible(one.values, peaks)
        for path, one, mended, stray in zip(paths, sound, corrected(sound), strays, strict=True)
    }


def _out_of_step(one: Dated) -> set[ResultKey]:
    workbooks = one.stack.get(WORKBOOK, "").split(ALTERNATIVES)
    return published_times_in_wrong_rows.of(workbooks) & one.values.keys()


def _without(one: Dated, keys: set[ResultKey]) -> Dated:
    return replace(one, values={key: v for key, v in one.values.items() if key not in keys})


def _peaks(folder: Path) -> dict[str, float]:
    """Return a machine's peaks by precision, of several devices the faster one's; {} where its
    profile cannot be read; other parts report that."""
    found: dict[str, float] = {}
    with suppress(DeepbenchError):
        known = machine_profile.read(folder.parent, folder.name)
        for figures in known.peaks.values() if known is not None else ():
            for name, figure in figures.items():
                if figure.value is not None:
                    found[name] = max(figure.value, found.get(name, 0.0))
    return found


def _row(key: ResultKey) -> tuple[str, tuple[str, ...]]:
    """Return the row of a sheet that a time is in: all passes of a kernel share it."""
    name, params = key
    return name.rpartition(".")[0], params


def _group(key: ResultKey) -> tuple[str, str]:
    """Return benchmark and precision, the kernels that were measured together."""
    name, params = key
    return name, params[1]


def _same_libraries(one: Stack, other: Stack) -> bool:
    """Whether kernels may have run with the same libraries: each that both name has a common
    version.

    It is not known which of a day's workbooks had which version.
    """
    before, after = _libraries(one), _libraries(other)
    return all(before[name] & after[name] for name in before.keys() & after.keys())


def _libraries(stack: Stack) -> dict[str, set[str]]:
    return {
        name.lower(): set(text.split(ALTERNATIVES))
        for name, text in stack.items()
        if not name.lower().startswith(PARTS)
    }
