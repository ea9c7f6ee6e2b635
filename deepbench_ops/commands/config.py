"""`deepbench config`: mistakes in asv's configuration that asv does not report."""

from pathlib import Path

import click

from deepbench_ops import project
from deepbench_ops.asv_adapter.configuration_check import load


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
def config(file: Path | None) -> None:
    """Check asv.conf.json, or FILE, and say how to fix it.

    \b
        deepbench config

    asv ignores keys that it does not know, and prints a traceback for a file that it cannot read.
    This command names the file, line or key, and the fix. It also reads the release table, and
    reports where asv's entry of this machine differs from that of the results, and which of several
    entries is used.
    """
    from deepbench_ops.asv_adapter import machine_entry
    from deepbench_ops.releases import release_table, table_location

    file = file or project.root() / project.CONFIGURATION
    values = load(file)
    if values.get("dvcs") == table_location.RELEASES:
        release_table.load(table_location.of_configuration(file, values))
    if machines := machine_entry.several():
        click.echo(machines)
    if different := _machine(file.parent / values.get("results_dir", "results")):
        click.echo(different, err=True)
    else:
        click.echo(f"{file}: nothing wrong")


def _machine(results: Path) -> str:
    """Return the differences of this machine's entry from its results, "" for none."""
    from deepbench_ops.asv_adapter import machine_entry

    name = machine_entry.default_name()
    now = machine_entry.entries().get(name)
    found = machine_entry.differences(results, now) if now else {}
    if not found:
        return ""
    listed = ", ".join(f"{key} {new!r} instead of {old!r}" for key, (old, new) in found.items())
    return (
        f"warning: ~/.asv-machine.json describes {name} otherwise than its results ({listed}), so "
        "later ones would start new lines: deepbench machine --yes --no-measure describes it again"
    )
