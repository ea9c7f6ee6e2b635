"""numpy and scipy on the CPU: one module per family of kernels."""

POSITION = 10
"""Place among the frameworks in tables and menus."""
COMPANIONS = ("threadpoolctl",)
