"""Primitives for files: imports nothing of the project but its errors, and may be used anywhere."""
