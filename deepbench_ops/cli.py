"""The `deepbench` command: its subcommands, and the one place where errors become a line."""

import os
import sys
from importlib import import_module
from typing import NoReturn

try:
    import click
except ModuleNotFoundError:
    sys.exit(
        "deepbench: error: the command needs click, which is missing here: "
        "pip install 'asv_bench_deepbench[track]'"
    )

from deepbench_ops import __version__, left_out
from deepbench_ops.errors import DeepbenchError, Interrupted, Unsupported

NO_ANSWER = 2
INTERRUPTED, PIPE_CLOSED = 130, 141
"""128 and the number of SIGINT or SIGPIPE, as shells have it."""

COMMANDS = (
    "problems",
    "select",
    "check",
    "backends",
    "machine",
    "time",
    "config",
    "verdict",
    "bisect",
    "noise",
    "unsteady",
    "release",
    "allreduce",
    "import",
    "compare",
    "fastest",
    "frameworks",
    "export",
    "submit",
    "table",
    "ops",
    "overhead",
    "latency",
    "scaling",
)


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
    """Return a line for each distribution whose families or frameworks cannot be used.

    Only where the command needs either: finding them takes a while.
    """
    modules = ("deepbench_ops.problems.families", "deepbench_ops.backends.frameworks")
    return [
        line for name in modules if name in sys.modules for line in sys.modules[name].found()[1]
    ]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="deepbench")
def cli() -> None:
    """How fast are deep-learning operations on this machine, and what made them slower?

    deepbench knows the kernels that DeepBench published (matrix products, convolutions,
    recurrent layers, sparse products, all-reduce) and describes the machine that measures
    them. Measuring itself is asv's part, a framework's releases being its x-axis:

    \b
      deepbench machine --yes           describe this machine, once
      asv run --bench "$(deepbench select headline --precision float32)"
                                        measure the newest listed releases
      asv publish                       make the web pages in html/
      deepbench problems                list every kernel with FLOPs and bytes
      deepbench time gemm --m 1760 --n 128 --k 1760
                                        time one problem now: seconds, interval, share of peak
      deepbench check                   compare every kernel with float64, timing none
      deepbench backends                which framework has which kernel, and why not
      deepbench verdict                 what became slower or faster, and whether it repeats
      deepbench bisect ID FROM..TO      the first release on which a kernel is slow
      deepbench noise                   how small a change this machine can show, and why
      deepbench unsteady RELEASE        points worth measuring again
      deepbench release add torch==...  a release, nightly or wheel as a point on its line
      deepbench allreduce --ranks 4     sum vectors over four processes, at once
      deepbench import FILE             published results, beside your own
      deepbench compare A@torch B       machines or releases, side by side
      deepbench fastest                 the fastest machine for each kernel
      deepbench frameworks              one machine's frameworks on the same kernels
      deepbench ops resnet50            a whole model's operations, and each one's share
      deepbench overhead                what models take beyond their operations, by release
      deepbench latency bert_128        a model in inference, several batches at once
      deepbench scaling wide_deep       a model's training on more and more ranks
      deepbench table stcp920           published tables of whole models, beside your figures
      deepbench export FILE             results as a workbook or a table
      deepbench submit FILE             results in one file, for others to import

    "deepbench COMMAND --help" explains each.
    """


def main() -> None:
    """Run the command, and end with its exit status; an error is one line on stderr.

    0: answered. 1: answered with bad news (a wrong kernel, a slower release), or without input
    that is damaged.
    2: no answer, for bad input or for want of anything that matches. 130: interrupted.
    """
    left_out.lines.clear()
    try:
        status = cli.main(prog_name="deepbench", standalone_mode=False)
    except SystemExit as end:
        status = end.code
    except click.exceptions.NoArgsIsHelpError as wrong:
        wrong.show()
        sys.exit(NO_ANSWER)
    except click.UsageError as wrong:
        command = wrong.ctx.command_path if wrong.ctx else "deepbench"
        fail(f"{wrong.format_message().rstrip('.')} ({command} --help lists what it takes)")
    except click.ClickException as wrong:
        fail(wrong.format_message())
    except (click.Abort, KeyboardInterrupt) as stop:
        cause = stop.__cause__ or stop  # click makes an Abort of every KeyboardInterrupt
        kept = f": {cause}" if isinstance(cause, Interrupted) else ""
        click.echo(f"deepbench: interrupted{kept}", err=True)
        sys.exit(INTERRUPTED)
    except (DeepbenchError, Unsupported) as wrong:
        fail(str(wrong))
    except OSError as wrong:
        fail(f"{wrong.strerror or wrong}: {wrong.filename or 'no file named'}")
    bad_news = left_out.STATUS if left_out.lines else 0
    sys.exit(status if isinstance(status, int) and status else bad_news)


def fail(line: str) -> NoReturn:
    """Print the line to stderr and exit with the status for no answer."""
    click.echo(f"deepbench: error: {line}", err=True)
    sys.exit(NO_ANSWER)


if __name__ == "__main__":
    main()
