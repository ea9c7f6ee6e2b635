"""Whole models of the published tables, and modern ones: training, and inference on some threads.

Their operations, each measured alone, are passes of their own.
"""

from deepbench_ops.measure.kernel_measurement import prepare
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.problem_lists import measured


class _Model:
    param_names = ("problem", "precision")
    rounds = 2
    timeout = 1800
    version = Model.benchmark_version


def _params(listed, operation=None):
    """Problems that a set measures, of one operation those that are timed in it; precisions."""
    found = measured("model", listed)
    timed = [p.id for p in found if operation is None or operation in p.timed_operations]
    return (timed, list(PRECISIONS))


def _timed(listed, operation):
    """Give a method the problems of a set that are timed in an operation."""

    def decorated(method):
        method.params = _params(listed, operation)
        return method

    return decorated


def _apart(method):
    """Give a method that times operations alone their version."""
    method.version = Model.operations_version
    return method


class Training(_Model):
    """Forward, loss, backward and optimiser, as the network's source trains it."""

    version = Model.training_version
    params = _params("training")

    def kernel_training_step(self, problem, precision):
        return prepare("model", problem, precision, "training_step")

    @_apart
    def kernel_training_step_operations(self, problem, precision):
        return prepare("model", problem, precision, "training_step_operations")


class InferenceServer(_Model):
    """One batch on each of so many threads at once; the seconds are those of a batch."""

    params = _params("inference_server")

    def kernel_forward(self, problem, precision):
        return prepare("model", problem, precision, "forward")

    @_apart
    def kernel_forward_operations(self, problem, precision):
        return prepare("model", problem, precision, "forward_operations")


class Modern(_Model):
    """Modern networks at sizes that two processor cores can run."""

    @_timed("modern", "forward")
    def kernel_forward(self, problem, precision):
        return prepare("model", problem, precision, "forward")

    @_apart
    @_timed("modern", "forward")
    def kernel_forward_operations(self, problem, precision):
        return prepare("model", problem, precision, "forward_operations")

    @_timed("modern", "training_step")
    def kernel_training_step(self, problem, precision):
        return prepare("model", problem, precision, "training_step")

    @_apart
    @_timed("modern", "training_step")
    def kernel_training_step_operations(self, problem, precision):
        return prepare("model", problem, precision, "training_step_operations")


class ModernFull(_Model):
    """Modern networks in larger batches."""

    @_timed("modern_full", "forward")
    def kernel_forward(self, problem, precision):
        return prepare("model", problem, precision, "forward")

    @_apart
    @_timed("modern_full", "forward")
    def kernel_forward_operations(self, problem, precision):
        return prepare("model", problem, precision, "forward_operations")

    @_timed("modern_full", "training_step")
    def kernel_training_step(self, problem, precision):
        return prepare("model", problem, precision, "training_step")

    @_apart
    @_timed("modern_full", "training_step")
    def kernel_training_step_operations(self, problem, precision):
        return prepare("model", problem, precision, "training_step_operations")
