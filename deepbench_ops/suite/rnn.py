"""Recurrent layers of vanilla, LSTM and GRU cells.

forward and backward are the published passes: the recurrent part of one layer, the input products
made beforehand, ReLU in vanilla and in the GRU's output. fused_forward and fused_backward are a
vendor's whole layer, input products included: another operation with other FLOPs.
"""

from deepbench_ops import problems
from deepbench_ops.measure.kernel_measurement import prepare
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.rnn import Rnn


class _Forward:
    param_names = ("problem", "precision")
    rounds = 2
    timeout = 1800
    version = Rnn.benchmark_version

    def kernel_forward(self, problem, precision):
        return prepare("rnn", problem, precision, "forward")

    def kernel_fused_forward(self, problem, precision):
        return prepare("rnn", problem, precision, "fused_forward")

    def kernel_first_call(self, problem, precision):
        return prepare("rnn", problem, precision, "first_call")


def _params(published_set):
    return ([p.id for p in problems.load("rnn", published_set)], list(PRECISIONS))


class Training(_Forward):
    """Layers in training, batches from 8 to 128: both passes."""

    params = _params("training")

    def kernel_backward(self, problem, precision):
        return prepare("rnn", problem, precision, "backward")

    def kernel_fused_backward(self, problem, precision):
        return prepare("rnn", problem, precision, "fused_backward")


class InferenceServer(_Forward):
    """Layers in a data centre, batches of 1, 2 and 4."""

    params = _params("inference_server")


class InferenceDevice(_Forward):
    """Layers on a phone or board, one sequence at a time."""

    params = _params("inference_device")
