"""MindSpore on the CPU: one module per family of kernels, in eager mode, its default."""

POSITION = 70
"""Place among the frameworks in tables and menus."""

RUNS_ON = ("cpu",)
"""The devices that it runs on."""

PRECISIONS = ("float32", "float16", "int8")
"""The precisions that it has kernels in, of any family."""
