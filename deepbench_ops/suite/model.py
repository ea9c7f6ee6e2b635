"""Whole models of the published tables: training steps, and inference on one thread or several.

What the operations of either take, each alone, are passes of their own.
"""

from deepbench_ops import problems
from deepbench_ops.measure.kernel_run import prepare
from deepbench_ops.problems.precision import PRECISIONS


class _Model:
    param_names = ("problem", "precision")
    rounds = 2
    timeout = 1800
    version = "1"  # raised by hand when what is measured changes


def _params(published_set):
    return ([p.id for p in problems.load("model", published_set)], list(PRECISIONS))


class Training(_Model):
    """Forward, loss, backward and optimiser, as the network's source trains it."""

    version = "2"  # 1 timed the first step of torch's long ones
    params = _params("training")

    def kernel_training_step(self, problem, precision):
        return prepare("model", problem, precision, "training_step")

    def kernel_training_step_operations(self, problem, precision):
        return prepare("model", problem, precision, "training_step_operations")


class InferenceServer(_Model):
    """One batch on each of so many threads at once; the seconds are those of a batch."""

    params = _params("inference_server")

    def kernel_forward(self, problem, precision):
        return prepare("model", problem, precision, "forward")

    def kernel_forward_operations(self, problem, precision):
        return prepare("model", problem, precision, "forward_operations")
