"""Subcommands of `deepbench`, a module each: arguments and printed output."""
