"""asv's own list of machines, ~/.asv-machine.json: reading and writing one entry, and which of
several entries is this machine's."""

import json
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asv import util
from asv.machine import Machine, MachineCollection
from asv.util import UserError, load_json

from deepbench_ops.asv_adapter import atomic_asv_json, result_files
from deepbench_ops.asv_adapter.patch_installation import Patch, applied, instead
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.storage import atomic_write, bounded_read, locks, reserved_names

LONGEST_NAME = 100
"""Largest number of letters in a machine's name: file systems allow a folder's 255 bytes."""


CHOICES = ".deepbench-machine.json"
"""File in the home folder: the name of the entry that `deepbench machine` chose, by the name of the
host. It has only those hosts whose machine asv would look up under another name. A key in asv's own
file would become part of each result."""


FILE_VARIABLE = "DEEPBENCH_MACHINE_FILE"
"""Names a file in place of ~/.asv-machine.json: nodes of several types may share a home folder."""


def _elsewhere(usual: Callable[[], str]) -> Callable[[], str]:
    """Wrap asv's path of its list of machines, which may be a link to a file elsewhere: people
    keep their settings in another folder so."""
    return lambda: str(Path(os.environ.get(FILE_VARIABLE) or usual()).resolve())


def list_path() -> Path:
    """Return the path of the list of machines."""
    return Path(_elsewhere(MachineCollection.get_machine_file_path)())


def default_name() -> str:
    """Return the name under which asv looks up this machine: the one that `deepbench machine`
    chose, the only entry's, or the host's."""
    known = entries()
    chosen = _choices().get(host(), "")
    return chosen if chosen in known else _asvs_name(known)


def demand_entry() -> str:
    """Return this machine's name. Raises DeepbenchError where asv has no entry of it."""
    name = default_name()
    if name not in entries():
        raise DeepbenchError("this machine has no name yet: run 'deepbench machine' first")
    return name


def _asvs_name(known: dict[str, dict[str, str]]) -> str:
    """Return the name that asv would look up without a choice."""
    return next(iter(known)) if len(known) == 1 else host()


def host() -> str:
    """Return the name of the host, which asv takes for that of the machine."""
    return platform.node()


def several() -> str:
    """Return a line that says which of several entries is used and why; "" for at most one."""
    known = entries()
    if len(known) < 2:
        return ""
    name = default_name()
    listed = f"~/.asv-machine.json has {len(known)} machines ({', '.join(sorted(known))})"
    if name not in known:
        return (
            f"{listed} and none with the host's name, {name!r}, so none is used: deepbench machine "
            "--name NAME --yes --no-measure chooses one"
        )
    why = "the host's name" if name == host() else "chosen by deepbench machine"
    return f"{listed}; used: {name}, {why}"


def check_name(name: str) -> str:
    """Return the name. Raises DeepbenchError where it cannot name a folder of results."""
    reserved_names.refuse(name)
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
    return in_file(list_path())


def in_file(path: Path) -> dict[str, dict[str, str]]:
    """Return every entry of a list of machines by name; see `entries`.

    Raises DeepbenchError for a broken file.
    """
    try:
        bounded_read.demand_smaller(path, bounded_read.SMALL)
        found: dict[str, dict[str, str]] = load_json(str(path), MachineCollection.api_version)
        for name, entry in found.items():
            if not all(isinstance(text, str | int) for text in entry.values()):
                raise ValueError(f"{name} has a description that is not all text")
            if not isinstance(entry.get("machine"), str):
                raise ValueError(f"{name} is described without its name")
    except FileNotFoundError:
        return {}
    except (UserError, ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise DeepbenchError(
            f"cannot read {path} ({' '.join(str(problem).split())}); mend it or move it away"
        ) from None
    return found


def write_file(path: Path, entry: dict[str, str]) -> None:
    """Write a list of one machine, whole or not at all."""
    with applied(atomic_asv_json.PATCHES):
        util.write_json(str(path), {entry["machine"]: entry}, MachineCollection.api_version)


def changes(old: dict[str, str], new: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return the keys that an entry had with another value: (old, new) by key."""
    return {key: (old[key], new[key]) for key in new if key in old and old[key] != new[key]}


def of_results(results: Path, name: str) -> dict[str, str]:
    """Return the entry that a machine's results were filed under; {} where none can be read."""
    path = results / name / "machine.json"
    try:
        values = json.loads(bounded_read.read_text(path, bounded_read.SMALL))
    except (OSError, ValueError, RecursionError, DeepbenchError):
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
        path = Path(_path) if _path else list_path()
        try:
            with locks.writing(path.parent, doing=f"asv, writing {path.name},"):
                if not path.exists() or load_json(str(path)).get(name) != values:
                    save(cls, name, values, _path=_path)
        except DeepbenchError as error:
            raise UserError(str(error)) from None

    return wrapped


def save(identity: dict[str, str]) -> str:
    """Store an entry under its own name, keeping foreign keys, and return the file's path."""
    with _writing() as path:
        _store(identity)
    return str(path)


def choose(identity: dict[str, str]) -> list[str]:
    """Store an entry as `save` does and use it for this host from now on.

    An entry with the host's name that differs in its name alone is replaced. Return a line for each
    file that was changed.
    """
    name = identity["machine"]
    with _writing() as path:
        _store(identity)
        done = [f"written: {path}"]
        known = entries()
        if name != host() and _without_name(known.get(host())) == _without_name(known[name]):
            del known[host()]
            util.write_json(str(path), known, MachineCollection.api_version)
            done.append(f"replaced: the entry {host()!r}, which differed in its name alone")
        chosen = _choices()
        if name == _asvs_name(known):
            chosen.pop(host(), None)
        else:
            chosen[host()] = name
            done.append(f"written: {_choices_path()}, since {path.name} has other machines too")
        if chosen != _choices():
            atomic_write.write_text(_choices_path(), json.dumps(chosen, indent=1) + "\n")
    return done


def _store(identity: dict[str, str]) -> None:
    name = identity["machine"]
    MachineCollection.save(name, {**entries().get(name, {}), **identity})


@contextmanager
def _writing() -> Iterator[Path]:
    """Yield asv's file for one writer at a time."""
    path = list_path()
    with (
        applied((*atomic_asv_json.PATCHES, PLACE)),
        locks.writing(path.parent, doing="deepbench machine"),
    ):
        yield path


def _without_name(entry: dict[str, str] | None) -> dict[str, str] | None:
    return entry and {key: str(value) for key, value in entry.items() if key != "machine"}


def _choices_path() -> Path:
    return list_path().with_name(CHOICES)


def _choices() -> dict[str, str]:
    """Return the chosen entry's name by host. Raises DeepbenchError for a broken file."""
    path = _choices_path()
    try:
        found = json.loads(bounded_read.read_text(path, bounded_read.SMALL))
        if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
            raise ValueError("not one machine's name for each host")
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as problem:
        raise DeepbenchError(f"cannot read {path} ({problem}); move it away") from None
    return found


def take_over(results: Path, name: str) -> None:
    """File a machine's results under its stored entry from now on, where there are results."""
    path = results / name / "machine.json"
    if path.exists():
        with locks.results(results, doing="deepbench machine"):
            result_files.write_machine(path, entries()[name])


PLACE = Patch(
    MachineCollection,
    "get_machine_file_path",
    _elsewhere,
    "asv keeps one list of machines in the home folder, which nodes of several types share",
)

PATCHES = (
    PLACE,
    Patch(
        Machine,
        "get_unique_machine_name",
        instead(lambda cls: default_name()),
        "asv takes the entry with the host's name for this machine, whichever was chosen",
    ),
    Patch(
        MachineCollection,
        "save",
        saving_changes,
        "asv rewrites its list of machines in every run, without a lock",
    ),
)
