"""The `deepbench` command: its subcommands, and the one place where errors become a line."""

import sys
from typing import NoReturn

try:
    import click
except ModuleNotFoundError:
    sys.exit(
        "deepbench: error: the command needs click, which is missing here: "
        "pip install 'asv_bench_deepbench[track]'"
    )

from deepbench_ops import __version__
from deepbench_ops.commands.allreduce import allreduce
from deepbench_ops.commands.backends import backends
from deepbench_ops.commands.bisect import bisect
from deepbench_ops.commands.check import check
from deepbench_ops.commands.compare import compare
from deepbench_ops.commands.config import config
from deepbench_ops.commands.export import export
from deepbench_ops.commands.fastest import fastest
from deepbench_ops.commands.frameworks import frameworks
from deepbench_ops.commands.import_ import import_
from deepbench_ops.commands.latency import latency
from deepbench_ops.commands.machine import machine
from deepbench_ops.commands.noise import noise
from deepbench_ops.commands.ops import ops
from deepbench_ops.commands.overhead import overhead
from deepbench_ops.commands.problems import problems
from deepbench_ops.commands.release import release
from deepbench_ops.commands.scaling import scaling
from deepbench_ops.commands.select import select
from deepbench_ops.commands.submit import submit
from deepbench_ops.commands.table import table
from deepbench_ops.commands.unsteady import unsteady
from deepbench_ops.commands.verdict import verdict
from deepbench_ops.errors import DeepbenchError, Unsupported

USAGE_ERROR = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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


for command in (
    problems,
    select,
    check,
    backends,
    machine,
    config,
    verdict,
    bisect,
    noise,
    unsteady,
    release,
    allreduce,
    import_,
    compare,
    fastest,
    frameworks,
    export,
    submit,
    table,
    ops,
    overhead,
    latency,
    scaling,
):
    cli.add_command(command)


def main() -> None:
    """Run the command; what the user got wrong ends in one line and exit status 2."""
    try:
        cli()
    except (DeepbenchError, Unsupported) as wrong:
        fail(str(wrong))
    except OSError as wrong:
        fail(f"{wrong.strerror or wrong}: {wrong.filename or 'no file named'}")


def fail(line: str) -> NoReturn:
    """Print the line to stderr and exit with the status for bad input."""
    click.echo(f"deepbench: error: {line}", err=True)
    sys.exit(USAGE_ERROR)


if __name__ == "__main__":
    main()
