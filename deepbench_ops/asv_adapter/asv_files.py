"""The files that asv writes, whole or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from asv import util
from asv.machine import Machine
from asv.results import Results

from deepbench_ops.storage import atomic

WriteJson = Callable[..., None]
SaveResult = Callable[[Results, str], None]


def install() -> None:
    """Let all of asv write its JSON files by way of an unfinished one, once per process.

    That next to the target, since `results/<machine>` may be a file system of its own.
    """
    if not getattr(util.write_json, "is_atomic", False):
        util.write_json = _atomic(util.write_json)


def _atomic(write_json: WriteJson) -> WriteJson:
    def wrapped(path: Any, data: Any, api_version: Any = None, compact: bool = False) -> None:
        with atomic.replacing(Path(path)) as unfinished:
            write_json(str(unfinished), data, api_version, compact)

    wrapped.is_atomic = True  # type: ignore[attr-defined]
    return wrapped


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
