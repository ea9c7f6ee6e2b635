"""asv's tables of releases: `asv show` and `asv compare`, with remarks below."""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from asv.commands import Command
from asv.commands.compare import Compare
from asv.commands.show import Show
from asv.config import Config
from asv.console import log
from asv.repo import get_repo
from asv.util import UserError

from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.asv_adapter.patch_installation import Function, Patch
from deepbench_ops.asv_adapter.release_repository import ReleaseRepo


def on_this_machine(run: Function) -> Function:
    """Wrap `asv compare`: it takes this machine, or the only one that has both releases. A line
    below the table counts the times that cannot be compared."""

    def wrapped(
        cls: type[Command], conf: Config, hash_1: str, hash_2: str, machine: Any = None, **more: Any
    ) -> Any:
        if machine is None and conf.dvcs == ReleaseRepo.dvcs:
            machine = _with_both(conf, [hash_1, hash_2])
            log.info(f"On {machine}")
            log.flush()
        outcome = run(cls, conf, hash_1, hash_2, machine=machine, **more)
        if machine is not None:
            _remark(conf, [machine], [hash_1, hash_2])
        return outcome

    return wrapped


def with_remarks(run: Function) -> Function:
    """Wrap `asv show` of a release: a line below the table counts the unsteady times."""

    def wrapped(
        cls: type[Command],
        conf: Config,
        commit: str | None = None,
        machine: str | None = None,
        durations: bool = False,
        **more: Any,
    ) -> Any:
        outcome = run(cls, conf, commit=commit, machine=machine, durations=durations, **more)
        if commit is not None and not durations and conf.dvcs == ReleaseRepo.dvcs:
            _remark(conf, [machine] if machine else _with_all(conf, [commit]), [commit])
        return outcome

    return wrapped


Remarks = Callable[[Path, str, Sequence[str]], list[str]]
"""Returns remarks on the times of a machine, given the results folder, the machine's name and the
hashes of the one or two releases that a table of asv shows."""

_remarks: list[Remarks] = []


def use(remarks: Remarks) -> None:
    """Let `remarks` find the lines printed below asv's tables of releases."""
    _remarks[:] = [remarks]


def _remark(conf: Config, machines: Iterable[str], names: Iterable[str]) -> None:
    """Print the remarks on a table of releases, given by their names."""
    if conf.dvcs != ReleaseRepo.dvcs:
        return
    sys.stdout.flush()
    hashes = [get_repo(conf).get_hash_from_name(name) for name in names]
    for remarks in _remarks:
        for machine in machines:
            for line in remarks(Path(conf.results_dir), machine, hashes):
                log.warning(line)
    log.flush()


def _with_all(conf: Config, names: Iterable[str]) -> list[str]:
    """Return the machines that have results of all these releases."""
    hashes = [get_repo(conf).get_hash_from_name(name) for name in names]
    folders = [path.parent for path in Path(conf.results_dir).glob("*/machine.json")]
    return sorted(
        folder.name
        for folder in folders
        if all(any(folder.glob(f"{each[:8]}-*.json")) for each in hashes)
    )


def _with_both(conf: Config, names: list[str]) -> str:
    found = _with_all(conf, names)
    here = machine_entry.default_name()
    if here in found:
        return here
    if len(found) == 1:
        return found[0]
    if not found:
        raise UserError("no machine has results of both releases: measure them with asv run")
    raise UserError(
        f"this machine, {here!r}, has no results of both releases: name one that has, "
        f"--machine {' or '.join(found)}"
    )


PATCHES = (
    Patch(
        Compare,
        "run",
        on_this_machine,
        "`asv compare` wants a machine named even where one alone has both releases, and compares "
        "times of different settings, and unsteady ones, without a word",
    ),
    Patch(
        Show,
        "run",
        with_remarks,
        "`asv show` shows unsteady times like all others",
    ),
)
