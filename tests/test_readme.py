"""The README: short, and with a runnable command for each thing to ask."""

from test_documented_commands import ROOT, commands

README = ROOT / "README.md"


def test_it_is_short():
    """A reader is through in some minutes: at most 120 lines."""
    assert len(README.read_text().splitlines()) <= 120


def test_commands_are_marked():
    """The five things to ask have a runnable command each, and more."""
    assert len(commands(README)) >= 9
