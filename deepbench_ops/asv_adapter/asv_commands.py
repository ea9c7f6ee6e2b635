"""Corrections of asv's commands other than `asv run`, each a function of its own.

asv reads its configuration before it loads the plugins that this names, and catches errors of its
own kind alone. So a configuration that cannot be read, is no JSON, or has a `version` or `plugins`
of another kind ends in asv's traceback before a line of ours runs; `deepbench config` says what is
wrong. asv has no entry points. The remaining ways are to replace its console script, to write a
module into its folder `plugins/`, or to have every Python process of the environment import us (a
.pth file): each changes files of another distribution, for all its users. Every later
error ends in one line.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from asv import environment, util
from asv import machine as asv_machine
from asv.commands import Command
from asv.commands.compare import Compare
from asv.commands.machine import Machine
from asv.commands.setup import Setup
from asv.commands.show import Show
from asv.config import Config
from asv.console import log
from asv.plugin_manager import PluginManager
from asv.plugins.github import GithubPages
from asv.repo import get_repo
from asv.util import ProcessError, UserError, iter_subclasses

from deepbench_ops import process_lifetime
from deepbench_ops.asv_adapter import configuration_check, machine_entry
from deepbench_ops.asv_adapter.patch_installation import Patch
from deepbench_ops.asv_adapter.release_repository import ReleaseRepo
from deepbench_ops.errors import DeepbenchError, Unsupported, file_of, remedy
from deepbench_ops.machine import machine_facts

INTERRUPTED, CLOSED_PIPE = 130, 141
"""Exit statuses, as shells report a process that SIGINT or SIGPIPE has ended."""

PUSH = "DEEPBENCH_PUSH"

KEPT = {
    "run": "finished points are kept: the same command goes on from here for 24 hours",
    "publish": "html/ is incomplete: asv publish writes it again",
}
"""Message for an interrupted command, by its name: the work that is kept."""

UNASKED = {"rm": "give -y", "machine": "give --yes"}
"""Options by which commands of asv do not ask, by the command's name."""

Method = Callable[..., Any]


def in_one_line(run: Method) -> Method:
    """Wrap a command: its arguments are checked first, and a failure is one line."""

    def wrapped(cls: type[Command], conf: Config, args: Any, **more: Any) -> Any:
        with _errors_as_lines(cls.__name__.lower()):
            configuration_check.check(vars(conf))
            _complete_branches(conf)
            _check_patterns(getattr(args, "bench", None) or ())
            _check_environments(conf, getattr(args, "env_spec", None) or ())
            outcome = run(cls, conf, args, **more)
            sys.stdout.flush()
            return outcome

    return wrapped


@contextmanager
def _errors_as_lines(command: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        _end_interrupted(command)
    except UserError as error:
        if str(error) != "Interrupted.":  # asv turns Ctrl-C into this in some places
            raise
        _end_interrupted(command)
    except BrokenPipeError:
        # Python's own last flush must find something that takes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)
    except (DeepbenchError, Unsupported) as error:
        raise UserError(str(error)) from None
    except ProcessError as error:
        said = (error.stderr or error.stdout or "").strip().splitlines()
        raise UserError(": ".join([str(error).splitlines()[0], *said[-1:]])) from None
    except EOFError:
        mend = UNASKED.get(command, "run it in a terminal")
        raise UserError(f"asv {command} asks, and no one can answer here: {mend}") from None
    except OSError as error:
        if error.filename is None and _output_fails():
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            print(f"asv: cannot write the output: {error.strerror}{remedy(error)}", file=sys.stderr)
            sys.exit(1)
        one = _first_of(error)
        what = f"{name}: " if (name := file_of(one)) else ""
        raise UserError(f"{what}{one.strerror or one}{remedy(one)}") from None


def _first_of(error: OSError) -> OSError:
    """Return the first error of a copy of many files, which shutil.Error lists as texts."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        source, target, why = map(str, error.args[0][0])
        if number := re.search(r"\[Errno (\d+)\]", why):
            code = int(number[1])
            return OSError(code, os.strerror(code), source, None, target)
    return error


def _output_fails() -> bool:
    """Return whether the standard output takes no further line, as on a full disk."""
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def named_plugin(import_plugin: Method) -> Method:
    """Wrap the import of a plugin that the configuration names after ours: a failure is a line."""

    def wrapped(manager: PluginManager, name: Any) -> None:
        try:
            import_plugin(manager, name)
        except (UserError, DeepbenchError) as error:
            raise UserError(str(error)) from None
        except Exception as error:
            raise UserError(
                f"plugin {name!r} of the configuration cannot be loaded ({error}): mend or remove "
                "its entry"
            ) from None

    return wrapped


def _end_interrupted(command: str) -> NoReturn:
    log.error(f"Interrupted: {KEPT[command]}" if command in KEPT else "Interrupted")
    log.flush()
    sys.exit(INTERRUPTED)


def _complete_branches(conf: Config) -> None:
    """Take every framework of the release table for a branch, where the configuration names none.

    asv's own default is the one branch None.
    """
    if conf.dvcs == ReleaseRepo.dvcs and conf.branches == [None]:
        conf.branches = get_repo(conf).measured_branches()


def _check_patterns(patterns: Iterable[str]) -> None:
    for pattern in patterns:
        if not pattern:
            raise UserError(
                "--bench '' would measure everything: if it came from $(deepbench ...), that"
                " command failed; to measure everything leave --bench out"
            )
        try:
            re.compile(pattern)
        except re.error as error:
            raise UserError(
                f"--bench {pattern!r} is no regular expression ({error}): write a backslash before "
                "characters that stand for themselves"
            ) from None


def _check_environments(conf: Config, specifications: Iterable[str]) -> None:
    """Refuse environments that cannot hold a release."""
    if conf.dvcs != ReleaseRepo.dvcs:
        return
    others = {kind.tool_name for kind in iter_subclasses(environment.Environment)}
    others -= {conf.environment_type, environment.ExistingEnvironment.tool_name}
    for text in specifications:
        if text.partition(":")[0] in others:
            raise UserError(
                f"-E {text}: releases have environments of type {conf.environment_type!r}, made by "
                "asv run: leave -E out"
            )


def safe_machine_command(run: Method) -> Method:
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


def _suggesting(get_defaults: Method) -> Method:
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


def asking_before_push(run: Method) -> Method:
    """Wrap `asv gh-pages`: it pushes to origin only where the user asked for that."""

    def wrapped(cls: type[Command], conf: Config, args: Any) -> Any:
        if not args.no_push and os.environ.get(PUSH) != "1":
            raise UserError(
                "asv gh-pages would push the branch gh-pages to origin, for all to see: give "
                f"--no-push, or set {PUSH}=1 to push"
            )
        return run(cls, conf, args)

    return wrapped


def on_this_machine(run: Method) -> Method:
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


def with_remarks(run: Method) -> Method:
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
        if all(any(folder.glob(f"{each[: conf.hash_length]}-*.json")) for each in hashes)
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


def setup_without_result(run: Method) -> Method:
    """Wrap `asv setup`, which returns its environments: asv would print them as objects."""

    def wrapped(cls: type[Command], conf: Config, args: Any) -> None:
        run(cls, conf, args)

    return wrapped


def pool_without_interrupts(pool: Method) -> Method:
    """Wrap asv's pool of processes: they ignore Ctrl-C, on which asv ends the pool itself."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with process_lifetime.children_without_interrupts():
            return pool(*args, **kwargs)

    return wrapped


def _of_commands() -> Iterator[Patch]:
    """Yield the patch that every command gets, around all others."""
    for command in iter_subclasses(Command):
        if "run_from_conf_args" in vars(command):
            yield Patch(
                command,
                "run_from_conf_args",
                in_one_line,
                "errors that asv does not expect, Ctrl-C and closed pipes end in tracebacks",
            )


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
    Patch(
        GithubPages,
        "run_from_conf_args",
        asking_before_push,
        "`asv gh-pages` pushes to origin without a question",
    ),
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
    Patch(
        Setup,
        "run_from_conf_args",
        setup_without_result,
        "`asv setup` prints its environments as Python objects",
    ),
    *_of_commands(),
    Patch(
        PluginManager,
        "import_plugin",
        named_plugin,
        "a plugin of the configuration that cannot be loaded ends in a traceback",
    ),
    Patch(
        util,
        "get_multiprocessing_pool",
        pool_without_interrupts,
        "Ctrl-C prints a traceback from every process of asv's pool",
    ),
)
