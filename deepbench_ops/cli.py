"""The `deepbench` command: its subcommands, and the one place where errors become a line."""

import atexit
import os
import signal
import sys
from importlib import import_module
from typing import NoReturn

from deepbench_ops import __version__, damage_reports

try:
    import click
except ModuleNotFoundError:
    if sys.argv[1:] == ["--version"]:
        print(f"deepbench, version {__version__}")
        sys.exit()
    # On no index by this name: pip keeps the installed packages, and adds those of the extra.
    sys.exit(
        "deepbench: error: the command needs click, which is missing here: "
        "pip install 'asv_bench_deepbench[track]'"
    )

from deepbench_ops.errors import (
    DeepbenchError,
    Interrupted,
    NoAnswer,
    Unsupported,
    file_of,
    remedy,
)

WRONG_INPUT, NO_ANSWER = 2, 3
INTERRUPTED, PIPE_CLOSED = 130, 141
"""128 and the number of SIGINT or SIGPIPE, as shells have it."""

SECTIONS = {
    "Before measuring": {
        "init": "make a project folder, where all of this happens",
        "machine": "describe this machine and read its peaks, once",
        "problems": "list all kernels with their FLOPs and bytes",
        "select": "print the pattern of a selection, for asv run --bench",
        "check": "compare every kernel with float64, timing none",
        "backends": "which framework has which kernel, and why not",
        "config": "check asv.conf.json",
    },
    "Measure here and now": {
        "time": "one problem of any size: seconds, interval, share of peak",
        "collective": "gather, exchange or sum vectors between processes",
        "allreduce": "the collective that sums vectors over several processes",
        "ops": "the operations of a whole model, and the share of each",
        "latency": "a whole model in inference: median, percentiles, throughput",
        "scaling": "the training of a whole model on more and more ranks",
        "noise": "how small a change this machine can show",
        "history": "all releases of a framework, measured in turns",
        "fleet": "releases on many machines, by ReFrame and a scheduler",
    },
    "Ask the results": {
        "verdict": "kernels that became slower or faster, release by release",
        "bisect": "the first release on which a kernel is slow, measured in shared rounds",
        "frameworks": "the frameworks of a machine on the same kernels",
        "compare": "machines or releases side by side",
        "fastest": "the fastest machine for each kernel, today or on any day",
        "overhead": "the time of whole models beyond their operations, by release",
        "table": "published tables of whole models next to your figures",
        "unsteady": "points of a release to measure again",
        "query": "query all results with SQL",
    },
    "Releases and stored results": {
        "release": "list, add, update and clean up releases",
        "import": "read published results, logs and submissions",
        "conflicts": "points for which different numbers were sent, and the choice of one",
        "export": "write results as a workbook or a table",
        "store": "results as Parquet files, for SQL and other tools",
        "recalibrate": "stored times by renewed readings of the yardsticks",
        "submit": "pack the results of a machine for others to import",
    },
}
COMMANDS = tuple(name for section in SECTIONS.values() for name in section)


class Commands(click.Group):
    """Imports the module of a command when that is asked for: asv and scipy take most of a second,
    and few commands need them."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a reader that closes the pipe early, such as head, ends it."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(PIPE_CLOSED) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the help."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_max=12)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a command and its arguments. Raises DeepbenchError for no such command, with the
        nearest names."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            unknown = import_module("deepbench_ops.problems.suggestions").unknown
            raise unknown("command", args[0], sorted(COMMANDS))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of `deepbench_ops.commands` that has the name; None for no such."""
        if cmd_name not in COMMANDS:
            return None
        function = "import_" if cmd_name == "import" else cmd_name
        found: click.Command = getattr(
            import_module(f"deepbench_ops.commands.{function}"), function
        )
        for line in _faulty_plugins():
            click.echo(f"deepbench: warning: {line}", err=True)
        return found


def _faulty_plugins() -> list[str]:
    """Return a line for each distribution whose families, frameworks or releases cannot be used.

    Only where the command needs them: finding them takes a while.
    """
    modules = ("deepbench_ops.problems.family_list", "deepbench_ops.backends.framework_list")
    loaded = [sys.modules[name] for name in modules if name in sys.modules]
    faults = [line for module in loaded for line in module.found()[1]]
    frameworks = sys.modules.get(modules[1])
    if frameworks is not None and not all(each.own for each in frameworks.found()[0].values()):
        faults += import_module("deepbench_ops.releases.release_table").of_plugins()[1]
    return faults


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="deepbench")
def cli() -> None:
    """How fast are deep-learning operations on this machine, and what made them slower?

    deepbench knows the kernels that DeepBench published (matrix products, convolutions, recurrent
    layers, sparse products, all-reduce) and whole models. asv measures them, release after release
    of a framework; deepbench prepares the measuring and reads the results:

    \b
      deepbench machine --yes          describe this machine, once
      asv run --bench "$(deepbench select headline --precision float32)"
                                       measure numpy and torch
      deepbench frameworks             which is fastest here, kernel by kernel
      asv publish                      make the web pages in html/
      deepbench time gemm --m 1760 --n 128 --k 1760
                                       time one problem now, in seconds

    Exit status: 0 answered, 1 bad news (a slower release, a wrong kernel), 2 wrong input, 3 no
    answer in the results, or no certain one. docs/reference/conventions.md has more.
    """


def main() -> None:
    """Run the command, and end with its exit status; an error is one line on stderr.

    0: answered. 1: answered with bad news (a wrong kernel, a slower release), or without input
    that is damaged.
    2: wrong input, or a command that could not do its work. 3: no answer in the results, or no
    certain one. 130: interrupted; not where Ctrl-C comes after the work, while Python ends.
    """
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    damage_reports.forget()
    try:
        status = cli.main(prog_name="deepbench", standalone_mode=False)
    except SystemExit as end:
        if isinstance(end.code, str):
            fail(end.code)
        status = end.code
    except click.exceptions.NoArgsIsHelpError as wrong:
        wrong.show()
        sys.exit(WRONG_INPUT)
    except click.UsageError as wrong:
        command = wrong.ctx.command_path if wrong.ctx else "deepbench"
        fail(f"{wrong.format_message().rstrip('.')} ({command} --help lists its options)")
    except click.ClickException as wrong:
        fail(wrong.format_message())
    except (click.Abort, KeyboardInterrupt) as stop:
        cause = stop.__cause__ or stop  # click makes an Abort of every KeyboardInterrupt
        kept = f": {cause}" if isinstance(cause, Interrupted) else ""
        click.echo(f"deepbench: interrupted{kept}", err=True)
        sys.exit(INTERRUPTED)
    except NoAnswer as missing_answer:
        fail(str(missing_answer), NO_ANSWER)
    except (DeepbenchError, Unsupported) as wrong:
        fail(str(wrong))
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] == __package__:
            raise
        fail(
            f"{missing.name} is missing here, as after an update of this project alone: pip install"
            " 'asv_bench_deepbench[track,tables]' installs it"
        )
    except OSError as wrong:
        fail(f"{wrong.strerror or wrong}: {file_of(wrong) or 'the output'}{remedy(wrong)}")
    except Exception as fault:
        line = import_module("deepbench_ops.backends.plugin_error_line").line_about(fault)
        if line is None:
            raise
        fail(line)
    bad_news = damage_reports.STATUS if damage_reports.lines else 0
    sys.exit(status if isinstance(status, int) and status else bad_news)


def fail(line: str, status: int = WRONG_INPUT) -> NoReturn:
    """Print the line to stderr and exit with the status."""
    click.echo(f"deepbench: error: {line}", err=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
