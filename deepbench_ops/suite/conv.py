"""Convolutions: images of n x c x h x w with k filters of c x r x s, NCHW as published."""

from deepbench_ops import problems
from deepbench_ops.measure.kernel_measurement import prepare
from deepbench_ops.problems.conv import Conv
from deepbench_ops.problems.precision import PRECISIONS


class _Conv:
    param_names = ("problem", "precision")
    rounds = 2
    timeout = 1800
    version = Conv.benchmark_version

    def kernel_forward(self, problem, precision):
        return prepare("conv", problem, precision, "forward")

    def kernel_first_call(self, problem, precision):
        return prepare("conv", problem, precision, "first_call")


def _params(published_set):
    return ([p.id for p in problems.load("conv", published_set)], list(PRECISIONS))


class Training(_Conv):
    """The layers of speech, text, face, speaker and image networks, batches from 4 to 32."""

    params = _params("training")

    def kernel_backward_data(self, problem, precision):
        return prepare("conv", problem, precision, "backward_data")

    def kernel_backward_weights(self, problem, precision):
        return prepare("conv", problem, precision, "backward_weights")


class InferenceServer(_Conv):
    """The same layers for inference in a data centre, batches from 1 to 4."""

    params = _params("inference_server")


class InferenceDevice(_Conv):
    """Layers of a residual network on a phone or board, one image at a time."""

    params = _params("inference_device")
