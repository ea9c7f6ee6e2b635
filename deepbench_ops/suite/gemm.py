"""Dense matrix products: C = op(A) op(B) + C, column-major as published."""

from deepbench_ops import problems
from deepbench_ops.measure.kernel_measurement import prepare
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.precision import PRECISIONS


class _Gemm:
    param_names = ("problem", "precision")
    rounds = 2
    timeout = 1800
    version = Gemm.benchmark_version

    def kernel_forward(self, problem, precision):
        return prepare("gemm", problem, precision)

    def kernel_first_call(self, problem, precision):
        return prepare("gemm", problem, precision, "first_call")


def _params(published_set):
    return ([p.id for p in problems.load("gemm", published_set)], list(PRECISIONS))


class Training(_Gemm):
    """The products of forward and backward passes, batches from 16 to 9124."""

    params = _params("training")


class InferenceServer(_Gemm):
    """The products of inference in a data centre."""

    params = _params("inference_server")


class InferenceDevice(_Gemm):
    """The products of inference on a phone or board."""

    params = _params("inference_device")
