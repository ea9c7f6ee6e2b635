"""asv's result files, each read once for all who ask for them while pages are made."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from asv.results import Results
from asv.util import UserError


@contextmanager
def once(results: Path) -> Iterator[None]:
    """Read what is in `results`; within the block nobody reads these files again.

    Whoever changes a result that he got works on a copy. Broken files are read each time, for
    those who tell of them.
    """
    load = Results.load.__func__  # type: ignore[attr-defined]
    known: dict[Path, Results] = {}
    for path in results.glob("*/*.json"):
        if path.name != "machine.json":
            with suppress(UserError):
                known[path.resolve()] = load(Results, str(path))

    def remembered(cls: type[Results], path: str, machine_name: str | None = None) -> Any:
        found = known.get(Path(path).resolve())
        if found is None or machine_name not in (None, found.params.get("machine")):
            return load(cls, path, machine_name)
        return found

    Results.load = classmethod(remembered)  # type: ignore[method-assign]
    try:
        yield
    finally:
        Results.load = classmethod(load)  # type: ignore[method-assign]
