"""Kernel families without a file here: a class per set, and a method per operation.

Names are those that a file of their own would give them: axpy.Training.kernel_forward.
"""

from importlib.util import find_spec

from deepbench_ops.measure.kernel_run import prepare
from deepbench_ops.problems.families import OWN_PACKAGE, found
from deepbench_ops.problems.problem import computed
from deepbench_ops.problems.problem_lists import measured
from deepbench_ops.problems.selections import CLASSES

SUITE = "deepbench_ops.suite"


def _method(family, listed, operation, problems, precisions):
    def kernel(self, problem, precision):
        return prepare(family, problem, precision, operation)

    kernel.benchmark_name = f"{family}.{CLASSES[listed]}.kernel_{operation}"
    kernel.params = ([problem.id for problem in problems], list(precisions))
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
            method = _method(family, listed, operation, timed, kind.precisions)
            yield f"kernel_{operation}", method


def _suite(family, kind, listed):
    settings = {
        "__doc__": kind.__doc__,
        "param_names": ("problem", "precision"),
        "rounds": 2,
        "timeout": 1800,
        "version": kind.benchmark_version,
    }
    return type(f"{family}_{CLASSES[listed]}", (), settings | dict(_methods(family, kind, listed)))


def _has_file(family):
    return family.package == OWN_PACKAGE and find_spec(f"{SUITE}.{family.name}") is not None


for _name, _family in found()[0].items():
    if not _has_file(_family):
        for _set in _family.kind.listed_in:
            if measured(_name, _set):
                globals()[f"{_name}_{_set}"] = _suite(_name, _family.kind, _set)
