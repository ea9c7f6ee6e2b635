"""The asv suite, found through `benchmarks/`: one file per family, one class per published set.

Importing it settles the threads and imports the framework under test, once, in the server that
forks a process per problem.
"""

from deepbench_ops.measure import kernel_measurement

kernel_measurement.preload()
