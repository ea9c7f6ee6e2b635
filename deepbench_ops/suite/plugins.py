"""Kernel families of other distributions: a class per set, and a method per operation.

Names are those that a file of their own would give them: axpy.Training.kernel_forward.
"""

from deepbench_ops.measure.kernel_run import prepare
from deepbench_ops.problems import SETS, load
from deepbench_ops.problems.families import OWN_PACKAGE, found
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.selections import CLASSES


def _method(family, listed, operation):
    def kernel(self, problem, precision):
        return prepare(family, problem, precision, operation)

    kernel.benchmark_name = f"{family}.{CLASSES[listed]}.kernel_{operation}"
    return kernel


def _suite(family, kind, listed):
    methods = {
        f"kernel_{operation}": _method(family, listed, operation)
        for operation in (*kind.operations, *kind.uncompared)
    }
    settings = {
        "__doc__": kind.__doc__,
        "param_names": ("problem", "precision"),
        "params": ([problem.id for problem in load(family, listed)], list(PRECISIONS)),
        "rounds": 2,
        "timeout": 1800,
        "version": kind.benchmark_version,
    }
    return type(f"{family}_{CLASSES[listed]}", (), settings | methods)


for _name, _family in found()[0].items():
    if _family.package != OWN_PACKAGE:
        for _set in SETS:
            if load(_name, _set):
                globals()[f"{_name}_{_set}"] = _suite(_name, _family.kind, _set)
