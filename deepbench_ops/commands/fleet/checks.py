"""`deepbench fleet checks`: the file of ReFrame tests, for a site's own ReFrame."""

import click


@click.command()
def checks() -> None:
    """Print the path of the ReFrame tests that run a plan.

    \b
        reframe -C site.py -c "$(deepbench fleet checks)" -r

    DEEPBENCH_FLEET_PLAN names the plan, such as fleet/plan.json.

    The path is for a ReFrame of your own, with its own options and configuration.
    """
    from deepbench_ops.fleet.fleet_run import CHECKS

    click.echo(CHECKS)
