"""Formats of benchmark programs' output, a module for the programs of one kind."""
