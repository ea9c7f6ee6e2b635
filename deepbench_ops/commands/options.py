"""Options that several subcommands share."""

from pathlib import Path

import click

results_folder = click.option(
    "--results",
    metavar="DIRECTORY",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="The results folder.",
)
