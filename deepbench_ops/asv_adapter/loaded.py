"""asv's result files, each read and checked once for all that ask while pages are made."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from asv import results as asv_results
from asv.results import Results

from deepbench_ops.asv_adapter import stored
from deepbench_ops.errors import DeepbenchError

State = tuple[int, int, int]


@contextmanager
def once(results: Path) -> Iterator[None]:
    """Read the files in `results`; within the block they are not read again, unless they change
    meanwhile.

    Results are shared: a change is made to a copy. They lack the values that cannot be right. asv
    finds the files of results alone that can be read, so that it does not warn of the others: the
    publishing names them (`intact`).
    """
    load = Results.load.__func__  # type: ignore[attr-defined]
    known: dict[Path, tuple[State, Results]] = {}

    sound: list[tuple[str, str, str]] = []
    for folder in sorted(path for path in results.glob("*") if path.is_dir()):
        for path in stored.paths(folder):
            with suppress(DeepbenchError, OSError):
                known[path.resolve()] = state(path), stored.read(path)
                sound.append((str(folder), path.name, folder.name))

    def remembered(cls: type[Results], path: str, machine_name: str | None = None) -> Any:
        before, found = known.get(Path(path).resolve(), (None, None))
        if found is not None and machine_name in (None, found.params.get("machine")):
            with suppress(OSError):
                if before == state(Path(path)):
                    return found
        return load(cls, path, machine_name)

    paths = asv_results.iter_results_paths
    Results.load = classmethod(remembered)  # type: ignore[method-assign]
    asv_results.iter_results_paths = lambda _: iter(sound)
    try:
        yield
    finally:
        Results.load = classmethod(load)  # type: ignore[method-assign]
        asv_results.iter_results_paths = paths


def state(path: Path) -> State:
    """Return inode, bytes and nanoseconds of the last change of a file: they differ when it is
    written again. Raises OSError where there is none."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
