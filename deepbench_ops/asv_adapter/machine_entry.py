"""asv's own list of machines, ~/.asv-machine.json: reading and writing one entry."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asv.machine import Machine, MachineCollection
from asv.util import UserError, load_json

from deepbench_ops.asv_adapter import atomic_json, result_files
from deepbench_ops.asv_adapter.patch import Patch, applied
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import limited, locks

LONGEST_NAME = 100
"""How many letters a machine's name may have: file systems allow a folder's 255 bytes."""


def default_name() -> str:
    """Return the name under which asv looks up this machine: the only entry's, or the host's."""
    host: str = Machine.get_unique_machine_name()
    known = entries()
    return next(iter(known)) if len(known) == 1 else host


def check_name(name: str) -> str:
    """Return the name. Raises DeepbenchError where it cannot name a folder of results."""
    if not name or name.startswith(".") or set(name) & set('/\\:*?"<>|') or name != name.strip():
        raise DeepbenchError(f"machine name {name!r}: give one that can name a folder")
    if len(name) > LONGEST_NAME:
        raise DeepbenchError(
            f"machine name {name[:20]!r}...: {len(name)} letters, at most {LONGEST_NAME} can name a"
            " folder"
        )
    return name


def entries() -> dict[str, dict[str, str]]:
    """Return every entry by name, {} without a file. Raises DeepbenchError for a broken file."""
    path = MachineCollection.get_machine_file_path()
    try:
        limited.demand_smaller(Path(path), limited.SMALL)
        found: dict[str, dict[str, str]] = load_json(path, MachineCollection.api_version)
        for name, entry in found.items():
            if not all(isinstance(text, str | int) for text in entry.values()):
                raise ValueError(f"{name} is described by what is no text")
    except FileNotFoundError:
        return {}
    except (UserError, ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise DeepbenchError(
            f"cannot read {path} ({' '.join(str(problem).split())}); mend it or move it away"
        ) from None
    return found


def changes(old: dict[str, str], new: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return the keys that an entry had with another value: (old, new) by key."""
    return {key: (old[key], new[key]) for key in new if key in old and old[key] != new[key]}


def of_results(results: Path, name: str) -> dict[str, str]:
    """Return the entry that a machine's results were filed under; {} where none can be read."""
    try:
        values = json.loads((results / name / "machine.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(values, dict):
        return {}
    return {key: str(value) for key, value in values.items() if key != "version"}


def differences(results: Path, values: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return the differences of an entry from its machine's results: (theirs, its) by key.

    "" stands for a missing value. {} where there are no results. Each key distinguishes lines, and
    so does a missing one.
    """
    theirs = of_results(results, values["machine"])
    if not theirs:
        return {}
    pairs = {key: (theirs.get(key, ""), str(values.get(key, ""))) for key in {**theirs, **values}}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1] and key != "version"}


def saving_changes(save: Callable[..., None]) -> Callable[..., None]:
    """Wrap asv's writing of an entry: only changes are written, by one writer at a time."""

    def wrapped(cls: type, name: str, values: dict[str, Any], _path: str | None = None) -> None:
        path = Path(_path or MachineCollection.get_machine_file_path())
        try:
            with locks.writing(path.parent, doing=f"asv, writing {path.name},"):
                if not path.exists() or load_json(str(path)).get(name) != values:
                    save(cls, name, values, _path=_path)
        except DeepbenchError as error:
            raise UserError(str(error)) from None

    return wrapped


def save(identity: dict[str, str]) -> str:
    """Store an entry under its own name, keeping foreign keys, and return the file's path."""
    name = identity["machine"]
    path: str = MachineCollection.get_machine_file_path()
    with (
        applied(atomic_json.PATCHES),
        locks.writing(Path(path).parent, doing="deepbench machine"),
    ):
        MachineCollection.save(name, {**entries().get(name, {}), **identity})
    return path


def take_over(results: Path, name: str) -> None:
    """File a machine's results under its stored entry from now on, where there are results."""
    path = results / name / "machine.json"
    if path.exists():
        with locks.results(results, doing="deepbench machine"):
            result_files.write_machine(path, entries()[name])


PATCHES = (
    Patch(
        MachineCollection,
        "save",
        saving_changes,
        "asv rewrites its list of machines in every run, without a lock",
    ),
)
