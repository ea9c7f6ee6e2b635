"""Files in a machine's folder of results, where a command may save results in the meantime."""

import os
from contextlib import suppress
from pathlib import Path

from deepbench_ops.storage import atomic_write


def sizes(folder: Path) -> dict[Path, int]:
    """Return the bytes of each file in a folder and in its folders, in the order of their paths.

    Unfinished files are left out, and those that are removed in the meantime.
    """
    names = ((place, name) for place, _, files in os.walk(folder) for name in files)
    paths = (Path(*each) for each in names if not each[1].endswith(atomic_write.SUFFIX))
    found = {}
    for path in sorted(filter(Path.is_file, paths)):
        with suppress(FileNotFoundError):
            found[path] = path.stat().st_size
    return found
