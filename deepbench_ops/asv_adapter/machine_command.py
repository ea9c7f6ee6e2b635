"""`asv machine`, and the check that a machine still has the description of its results."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from asv import machine as asv_machine
from asv.commands import Command
from asv.commands.machine import Machine
from asv.config import Config
from asv.console import log
from asv.util import UserError

from deepbench_ops.asv_adapter import machine_entry
from deepbench_ops.asv_adapter.patch_installation import Function, Patch
from deepbench_ops.machine import machine_facts


def safe_machine_command(run: Function) -> Function:
    """Wrap `asv machine`: it describes a machine as `deepbench machine` does, and splits no line.

    asv's own values of os and ram change with every kernel. Stored values stay, unless the command
    gives others, and an entry that differs from its results is refused.
    """

    def wrapped(cls: type[Command], conf: Config, args: Any) -> Any:
        asvs_own = asv_machine.Machine.get_defaults()
        given = {key: getattr(args, key) for key in asvs_own}
        given = {key: value for key, value in given.items() if value != asvs_own[key]}
        name = machine_entry.check_name(given.get("machine") or machine_entry.default_name())
        known = machine_entry.entries().get(name)
        new = {**(known or machine_facts.identity(name)), **given}
        if not given and not args.yes:
            new |= _asked(new)
        if split := machine_entry.differences(Path(conf.results_dir), new):
            raise UserError(
                f"machine {new['machine']!r} has results under {_listed(split)}, and later ones "
                "would start new lines: nothing was written; name a changed machine with --machine"
            )
        if new == known:
            log.info(f"machine {name!r} is described already, and stays as it is")
            return
        log.info(f"written: {machine_entry.save(new)}")

    return wrapped


_suggestions: dict[str, str] = {}
"""Values that asv's questions about a machine suggest, instead of asv's own."""


def _asked(values: dict[str, str]) -> dict[str, str]:
    """Return the user's answers to asv's questions, with `values` as suggestions."""
    _suggestions.update(values)
    try:
        answers: dict[str, str] = asv_machine.Machine.generate_machine_file()
    finally:
        _suggestions.clear()
    return answers


def _suggesting(get_defaults: Function) -> Function:
    return lambda: dict(_suggestions) or get_defaults()


def _listed(split: dict[str, tuple[str, str]]) -> str:
    return ", ".join(f"{key} {old!r} instead of {new!r}" for key, (old, new) in split.items())


def demand_same_machine(
    conf: Config, name: str | None, say: Callable[[str], object] = log.info
) -> str:
    """Return the name of the machine to file under, this one unless named.

    Where asv knows no machine, this one is described, after a call of `say`: asv would ask six
    questions, and suggest answers that change with every kernel. Raises UserError for a name
    without an entry, and for an entry that differs from that of the machine's results: asv would
    file results under the new values, which start new lines.
    """
    known = machine_entry.entries()
    if name and name not in known:
        raise UserError(
            f"machine {name!r} is not described yet: deepbench machine --name {name} describes and"
            " measures it"
        )
    wanted = name or machine_entry.default_name()
    if wanted not in known:
        if known:
            raise UserError(machine_entry.several())
        path = machine_entry.save(machine_facts.identity(wanted))
        say(f"described as machine {wanted} in {path}: deepbench machine measures its peaks")
    now = machine_entry.entries()[wanted]
    if split := machine_entry.differences(Path(conf.results_dir), now):
        raise UserError(
            f"machine {now['machine']!r} has results under {_listed(split)}, and this run's would "
            "start new lines: deepbench machine --yes --no-measure describes it again, a changed "
            "machine with --name and a new name"
        )
    return wanted


PATCHES = (
    Patch(
        asv_machine.Machine,
        "get_defaults",
        _suggesting,
        "`asv machine` suggests the description that the system gives now, not the stored one",
    ),
    Patch(
        Machine,
        "run_from_conf_args",
        safe_machine_command,
        "`asv machine` describes a machine otherwise after each update of its system, which would "
        "split every line",
    ),
)
