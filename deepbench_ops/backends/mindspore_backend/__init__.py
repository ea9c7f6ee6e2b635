"""MindSpore on the CPU: one module per family of kernels, in eager mode, its default."""

POSITION = 70
"""Place among the frameworks in tables and menus."""
