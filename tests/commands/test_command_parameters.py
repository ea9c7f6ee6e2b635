"""Options and arguments of all commands reach the functions that implement them."""

import inspect

import pytest

pytest.importorskip("click", reason="the command needs the `track` extra")
import click
from make_command_line import contexts

COMMANDS = {
    context.command_path: context.command
    for context in contexts()
    if context.command.callback and not isinstance(context.command, click.Group)
}


@pytest.mark.parametrize("path", COMMANDS)
def test_a_function_takes_the_parameters_that_its_command_declares(path):
    """A name that differs would only show when a user runs the command."""
    command = COMMANDS[path]
    given = {each.name: None for each in command.params if each.expose_value}
    assert inspect.signature(command.callback).bind(**given)
