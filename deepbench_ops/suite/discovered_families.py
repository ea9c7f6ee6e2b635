"""Kernel families without a file here: a class per set, and a method per operation.

Names are those that a file of their own would give them: axpy.Training.kernel_forward. Families
that run between processes have the number of ranks as a third parameter, and start and end their
ranks around each benchmark.
"""

from importlib.util import find_spec

from deepbench_ops.distributed import prepared_ranks
from deepbench_ops.measure.kernel_measurement import prepare
from deepbench_ops.problems.family_list import OWN_PACKAGE, found
from deepbench_ops.problems.problem import computed
from deepbench_ops.problems.problem_lists import measured
from deepbench_ops.problems.selections import CLASSES

SUITE = "deepbench_ops.suite"


class _BetweenProcesses:
    """Start and end of the ranks of one benchmark."""

    param_names = ("problem", "precision", "ranks")
    family = ""
    prepared = None

    def setup(self, problem, precision, ranks):
        self.prepared = prepared_ranks.prepare(self.family, problem, precision, ranks)

    def teardown(self, problem, precision, ranks):
        if self.prepared is not None:
            self.prepared.close()


class _InOneProcess:
    """A benchmark that prepares itself."""

    param_names = ("problem", "precision")


def _method(family, listed, operation, problems, kind):
    def in_one(self, problem, precision):
        return prepare(family, problem, precision, operation)

    def between(self, problem, precision, ranks):
        return self.prepared

    kernel = between if kind.ranks else in_one
    ranks = [list(kind.ranks)] if kind.ranks else []
    kernel.benchmark_name = f"{family}.{CLASSES[listed]}.kernel_{operation}"
    kernel.params = ([problem.id for problem in problems], list(kind.precisions), *ranks)
    return kernel


def _methods(family, kind, listed):
    """Yield a method for each operation that some problem of the set is timed in."""
    for operation in (*kind.operations, *kind.uncompared):
        timed = [
            problem
            for problem in measured(family, listed)
            if not problem.timed or computed(operation) in problem.timed
        ]
        if timed:
            method = _method(family, listed, operation, timed, kind)
            yield f"kernel_{operation}", method


def _suite(family, kind, listed):
    settings = {
        "__doc__": kind.__doc__,
        "family": family,
        "rounds": 2,
        "timeout": 1800,
        "version": kind.benchmark_version,
    }
    settings |= dict(_methods(family, kind, listed))
    base = _BetweenProcesses if kind.ranks else _InOneProcess
    return type(f"{family}_{CLASSES[listed]}", (base,), settings)


def _has_file(family):
    return family.package == OWN_PACKAGE and find_spec(f"{SUITE}.{family.name}") is not None


for _name, _family in found()[0].items():
    if not _has_file(_family):
        for _set in _family.kind.listed_in:
            if measured(_name, _set):
                globals()[f"{_name}_{_set}"] = _suite(_name, _family.kind, _set)
