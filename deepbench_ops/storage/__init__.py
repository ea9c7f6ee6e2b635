"""Primitives for files, used by all other folders; they import leaves of the project alone."""
