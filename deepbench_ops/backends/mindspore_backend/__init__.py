"""MindSpore on the CPU: one module per family of kernels, run eagerly as is its default."""

POSITION = 70
"""Place among the frameworks in tables and menus."""
