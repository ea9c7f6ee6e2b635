"""The folder in which asv looks for benchmarks: deepbench's suite, and files of your own.

The suite itself is in the installed package, so a newer package brings a newer suite.
"""

from deepbench_ops import suite

__path__ = [*__path__, *suite.__path__]
