"""`deepbench select`: a selection as the regular expression that asv wants."""

import click

from deepbench_ops.problems import FAMILIES, PRECISIONS, bench_regex
from deepbench_ops.problems.selections import select as members
from deepbench_ops.problems.selections import selection_name


@click.command()
@click.argument("name", metavar="NAME")
@click.option("--family", metavar="F", help=f"Only this family: {', '.join(FAMILIES)}.")
@click.option(
    "--precision",
    "precisions",
    metavar="P",
    multiple=True,
    help=f"Only this precision; may be repeated: {', '.join(PRECISIONS)}.",
)
@click.option(
    "--fused/--no-fused",
    default=None,
    help="Whether to pick frameworks' own recurrent layers too; in the headline they are not.",
)
@click.option(
    "--first-call/--no-first-call",
    default=False,
    show_default=True,
    help="Whether to pick the first call of frameworks that compile: compiling, and running once.",
)
@click.option(
    "--apart/--no-apart",
    default=False,
    show_default=True,
    help="Whether to pick what the operations of a whole model take, each alone.",
)
def select(
    name: str,
    family: str | None,
    precisions: tuple[str, ...],
    fused: bool | None,
    first_call: bool,
    apart: bool,
) -> None:
    """Print the regular expression that picks a selection's benchmarks.

    NAME is headline (the problems that DeepBench's README shows), training, inference-server,
    inference-device, or models-training or models-inference (every network, each in one batch).
    Give it to asv in quotes:

    \b
        asv run --bench "$(deepbench select headline --precision float32)"
    """
    if fused is None:
        fused = selection_name(name) != "headline"
    click.echo(bench_regex(members(name, family), precisions, fused, first_call, apart))
