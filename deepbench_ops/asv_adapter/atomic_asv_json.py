"""asv's writing of JSON: whole files or none."""

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


PATCHES = (
    Patch(
        util,
        "write_json",
        _atomic,
        "asv writes its files in place: a kill would leave half of one",
    ),
)
