"""Damaged files below results/, and values in them that cannot be right.

asv leaves such files out with a warning and exit status 0, or ends in a traceback.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from deepbench_ops.asv_adapter import benchmark_list_check, result_files
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.machine import machine_profile
from deepbench_ops.storage import (
    ensemble_round_files,
    entry_conflict_files,
    measurement_files,
    model_runs,
)


def find(results: Path, known: Mapping[str, Sequence[str]] = MappingProxyType({})) -> list[str]:
    """Return a line for each damaged file below ``results``, with its remedy.

    known: earlier results of `of_folder`, by name of a folder.
    """
    listed = results / benchmark_list_check.FILE
    found = [partial(benchmark_list_check.demand_whole, listed)] if listed.exists() else []
    lines = _reasons(found)
    for folder in sorted(path for path in results.glob("*") if path.is_dir()):
        lines += known[folder.name] if folder.name in known else of_folder(folder)
    return lines


def of_folder(folder: Path) -> list[str]:
    """Return a line for each damaged file in the folder of a machine."""
    return _reasons(_readings(folder))


def _readings(folder: Path) -> Iterator[Callable[[], object]]:
    """Yield a reader of each file, which returns a line where it leaves out values."""
    described = folder / "machine.json"
    if described.exists():
        yield partial(result_files.entry, described)
    yield from (partial(_refused, path) for path in result_files.paths(folder))
    for path in measurement_files.paths(folder):
        yield partial(measurement_files.demand_whole, path)
    for path in sorted(folder.glob(f"*{measurement_files.PLAIN}")):
        yield partial(_read_instead, path)
    for path in ensemble_round_files.paths(folder):
        yield partial(ensemble_round_files.demand_whole, path)
    yield partial(machine_profile.read, folder.parent, folder.name)
    yield partial(model_runs.load, folder)
    yield partial(entry_conflict_files.load, folder)


def _refused(path: Path) -> str:
    refused: str = result_files.read(path).refused
    return refused


def _read_instead(path: Path) -> str:
    """Return a line about an uncompressed file of measurements that has a compressed one."""
    other = measurement_files.file_of(measurement_files.result_of(path))
    return "" if other == path else f"{path} is not read, since there is {other.name}: remove it"


def _reasons(readings: Iterable[Callable[[], object]]) -> list[str]:
    return [line for reading in readings if (line := _reason(reading))]


def _reason(reading: Callable[[], object]) -> str:
    """Return the line about a file; "" where all of it is read."""
    try:
        found = reading()
    except DeepbenchError as wrong:
        return str(wrong)
    except OSError as wrong:
        return f"{wrong.filename}: {wrong.strerror}"
    return found if isinstance(found, str) else ""
