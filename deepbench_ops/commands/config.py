"""`deepbench config`: what asv does not say about its configuration."""

from pathlib import Path

import click

from deepbench_ops import project
from deepbench_ops.releases.config import load


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
def config(file: Path | None) -> None:
    """Check asv's configuration: FILE, or asv.conf.json of the project folder.

    asv ignores keys it does not know, and answers a file it cannot parse with a traceback.
    This names file, line or key, and how to mend it.
    """
    file = file or project.root() / project.CONFIGURATION
    load(file)
    click.echo(f"{file}: nothing wrong")
