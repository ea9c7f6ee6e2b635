"""`deepbench config`: what asv does not say about its configuration."""

from pathlib import Path

import click

from deepbench_ops.releases.config import load


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default=Path("asv.conf.json"))
def config(file: Path) -> None:
    """Check asv's configuration, FILE or asv.conf.json.

    asv ignores keys it does not know, and answers a file it cannot parse with a traceback.
    This names file, line or key, and the mend.
    """
    load(file)
    click.echo(f"{file}: nothing wrong")
