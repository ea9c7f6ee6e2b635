"""Options that several subcommands share."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click


def several(option: str, name: str, names: Sequence[str]) -> Callable[..., Any]:
    """Return an option that picks some of `names`, and may be repeated."""
    return click.option(
        option,
        name,
        metavar=option[2].upper(),
        multiple=True,
        help=f"Only this {option[2:]}; may be repeated: {', '.join(names)}.",
    )


results_folder = click.option(
    "--results",
    metavar="DIRECTORY",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="The results folder.",
)

printed_as = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="How it is printed.",
)
