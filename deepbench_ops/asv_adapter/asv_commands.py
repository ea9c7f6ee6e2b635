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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from asv import environment, util
from asv.commands import Command
from asv.commands.setup import Setup
from asv.config import Config
from asv.console import log
from asv.plugin_manager import PluginManager
from asv.plugins.github import GithubPages
from asv.repo import get_repo
from asv.util import ProcessError, UserError, iter_subclasses

from deepbench_ops import process_lifetime
from deepbench_ops.asv_adapter import configuration_check
from deepbench_ops.asv_adapter.patch_installation import Function, Patch
from deepbench_ops.asv_adapter.release_repository import ReleaseRepo
from deepbench_ops.errors import DeepbenchError, Unsupported, file_of, remedy

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


def in_one_line(run: Function) -> Function:
    """Wrap a command: its arguments are checked first, and a failure is one line."""

    def wrapped(cls: type[Command], conf: Config, args: Any, **more: Any) -> Any:
        with _errors_as_lines(cls.__name__.lower()):
            configuration_check.check(vars(conf))
            _complete_branches(conf)
            _check_patterns(getattr(args, "bench", None) or ())  # one text in `asv find`
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


def named_plugin(import_plugin: Function) -> Function:
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


def _check_patterns(given: str | Iterable[str]) -> None:
    where, patterns = ("benchmark", [given]) if isinstance(given, str) else ("--bench", given)
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
                f"{where} {pattern!r} is no regular expression ({error}): write a backslash before "
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


def asking_before_push(run: Function) -> Function:
    """Wrap `asv gh-pages`: it pushes to origin only where the user asked for that."""

    def wrapped(cls: type[Command], conf: Config, args: Any) -> Any:
        if not args.no_push and os.environ.get(PUSH) != "1":
            raise UserError(
                "asv gh-pages would push the branch gh-pages to origin, for all to see: give "
                f"--no-push, or set {PUSH}=1 to push"
            )
        return run(cls, conf, args)

    return wrapped


def setup_without_result(run: Function) -> Function:
    """Wrap `asv setup`, which returns its environments: asv would print them as objects."""

    def wrapped(cls: type[Command], conf: Config, args: Any) -> None:
        run(cls, conf, args)

    return wrapped


def pool_without_interrupts(pool: Function) -> Function:
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
        GithubPages,
        "run_from_conf_args",
        asking_before_push,
        "`asv gh-pages` pushes to origin without a question",
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
