"""torch on the CPU or an NVIDIA GPU: one module per family of kernels."""

POSITION = 20
"""Place among the frameworks in tables and menus."""

DEVICES = {"cuda": ""}
"""The device that it brings, which has no yardstick."""
