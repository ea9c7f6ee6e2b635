"""The files that asv writes, whole or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from asv import util
from asv.machine import Machine
from asv.results import Results

from deepbench_ops.asv_adapter.patch import Patch
from deepbench_ops.storage import atomic

WriteJson = Callable[..., None]
SaveResult = Callable[[Results, str], None]


def _atomic(write_json: WriteJson) -> WriteJson:
    """Write by way of an unfinished file next to the target, since `results/<machine>` may be a
    file system of its own."""

    def wrapped(path: Any, data: Any, api_version: Any = None, compact: bool = False) -> None:
        with atomic.replacing(Path(path)) as unfinished:
            write_json(str(unfinished), data, api_version, compact)

    return wrapped


PATCHES = (
    Patch(
        util,
        "write_json",
        _atomic,
        "asv writes its files in place: a kill would leave half of one",
    ),
)


def write_machine(path: Path, entry: dict[str, str]) -> None:
    """Write the machine.json of a results folder to `path`."""
    util.write_json(str(path), entry, Machine.api_version)


def write_result(path: Path, stored: Results, save: SaveResult | None = None) -> None:
    """Write a result file of asv to `path`, which need not be where asv would write it.

    save: asv's own method, where it is wrapped.
    """
    name, stored._filename = stored._filename, path.name
    try:
        (save or Results.save)(stored, str(path.parent))
    finally:
        stored._filename = name
