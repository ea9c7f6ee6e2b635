"""asv's writing of JSON: whole files or none, encoded at once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asv import util

from deepbench_ops.asv_adapter.patch_installation import Patch
from deepbench_ops.storage import atomic_write

WriteJson = Callable[..., None]


def _atomic(write_json: WriteJson) -> WriteJson:
    """Write by way of an unfinished file next to the target, since `results/<machine>` may be a
    file system of its own."""

    def wrapped(path: Any, data: Any, api_version: Any = None, compact: bool = False) -> None:
        with atomic_write.replacing(Path(path)) as unfinished:
            write_json(str(unfinished), data, api_version, compact)

    return wrapped


def _at_once(write_json: WriteJson) -> WriteJson:
    """Write compact JSON from one text, which the standard library encodes in C, and without
    spaces: a result is mostly a list of nothing, and a seventh of it would be spaces."""

    def wrapped(path: Any, data: Any, api_version: Any = None, compact: bool = False) -> None:
        if not compact:
            write_json(path, data, api_version, compact)
            return
        versioned = data if api_version is None else {**data, "version": api_version}
        atomic_write.write_text(Path(path), json.dumps(versioned, separators=(",", ":")))

    return wrapped


PATCHES = (
    Patch(
        util,
        "write_json",
        _at_once,
        "asv encodes the JSON of a result piece by piece, in Python",
        needed=False,
    ),
    Patch(
        util,
        "write_json",
        _atomic,
        "asv writes its files in place: a kill would leave half of one",
    ),
)
