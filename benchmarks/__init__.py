"""The folder where asv looks for benchmarks: deepbench's suite, and files of your own.

The suite lies in the installed package, so a newer one measures with its own suite.
"""

from deepbench_ops import suite

__path__ = [*__path__, *suite.__path__]
