"""`deepbench select`: a selection as a regular expression for asv."""

import click

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems import ALL_PRECISIONS, FAMILIES, bench_regex
from deepbench_ops.problems.selections import NOTHING, selection_name
from deepbench_ops.problems.selections import select as members


@click.command()
@click.argument("name", metavar="NAME")
@click.option(
    "--family",
    "families",
    metavar="F",
    multiple=True,
    help=f"Only this family; may be repeated: {', '.join(FAMILIES)}.",
)
@click.option(
    "--precision",
    "precisions",
    metavar="P",
    multiple=True,
    help=f"Only this precision; may be repeated: {', '.join(ALL_PRECISIONS)}.",
)
@click.option(
    "--fused/--no-fused",
    default=None,
    help="Pick frameworks' own recurrent layers too.  [default: not in the headline]",
)
@click.option(
    "--first-call/--no-first-call",
    default=False,
    show_default=True,
    help="Pick the first call of frameworks that compile, too: compiling, and running once.",
)
@click.option(
    "--apart/--no-apart",
    default=False,
    show_default=True,
    help="Pick the operations of whole models too, each measured alone.",
)
def select(
    name: str,
    families: tuple[str, ...],
    precisions: tuple[str, ...],
    fused: bool | None,
    first_call: bool,
    apart: bool,
) -> None:
    """Print the pattern that selects benchmarks, for asv run --bench.

    \b
        asv run --bench "$(deepbench select headline --precision float32)"

    NAME is headline (the problems that DeepBench's README shows), training, inference-server,
    inference-device, modern (modern operations, at sizes that a processor can run), modern-full
    (all their sizes), models-training, models-inference or models-modern (every network of the
    published tables, or modern ones, each in one batch).
    Where nothing is selected, the pattern matches no benchmark, and the exit status is 2.
    """
    if fused is None:
        fused = selection_name(name) != "headline"
    picked = [each for family in families or (None,) for each in members(name, family)]
    pattern = bench_regex(picked, precisions, fused, first_call, apart)
    click.echo(pattern)
    if pattern == NOTHING:
        asked = ", ".join([*families, *precisions])
        raise DeepbenchError(f"{name} has no benchmark of {asked or 'any family'}")
