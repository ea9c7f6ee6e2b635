"""The help of the command line: complete, in one form, and the same on its page."""

import inspect
import subprocess
import sys

import click
import make_command_line
import pytest

COMMANDS = {each.command_path: each.command for each in make_command_line.contexts()}
DOCUMENTED = [path for path in COMMANDS if " " in path and not path.startswith("deepbench time ")]
"""All but `deepbench` itself and the families of `deepbench time`, whose help is the sizes."""


def test_the_page_is_what_click_prints():
    """docs/reference/command_line.md is up to date: scripts/make_command_line.py writes it."""
    # In a process of its own: click keeps the help option of a command from its first use.
    command = [sys.executable, make_command_line.__file__, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize("path", DOCUMENTED)
def test_a_help_begins_with_one_line_and_an_example(path):
    """A summary of at most 79 characters, then lines that can be typed, which name the command."""
    summary, example, *_ = inspect.cleandoc(COMMANDS[path].help or "").split("\n\n")
    assert len(summary) <= 79
    assert "\n" not in summary
    assert summary.endswith(".")
    assert example.startswith("\b\n")
    assert path in example


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_has_a_help(path):
    """No option is left to its name."""
    options = [each for each in COMMANDS[path].params if isinstance(each, click.Option)]
    assert [] == [option.opts for option in options if not option.help]
