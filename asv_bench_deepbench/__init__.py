"""The asv benchmark type of this project, in the one place where asv_runner looks for types.

It holds no benchmarks: those are `deepbench_ops.suite`, which asv finds through `benchmarks/`.
"""
