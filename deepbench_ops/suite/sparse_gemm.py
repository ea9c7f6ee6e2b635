"""Products of a sparse matrix with a dense one, the dense product, and the conversion to CSR."""

from deepbench_ops import problems
from deepbench_ops.measure.kernel_measurement import prepare
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.sparse_gemm import SparseGemm


class _SparseGemm:
    param_names = ("problem", "precision")
    rounds = 2
    timeout = 1800
    version = SparseGemm.benchmark_version

    def kernel_forward(self, problem, precision):
        return prepare("sparse_gemm", problem, precision)

    def kernel_dense_forward(self, problem, precision):
        return prepare("sparse_gemm", problem, precision, "dense_forward")

    def kernel_conversion(self, problem, precision):
        return prepare("sparse_gemm", problem, precision, "conversion")

    def kernel_first_call(self, problem, precision):
        return prepare("sparse_gemm", problem, precision, "first_call")


def _params(published_set):
    return ([p.id for p in problems.load("sparse_gemm", published_set)], list(PRECISIONS))


class InferenceServer(_SparseGemm):
    """Pruned recurrent layers of speech recognition in a data centre, batches up to 6000."""

    params = _params("inference_server")


class InferenceDevice(_SparseGemm):
    """The same layers on a phone or board: one sample, and a batch of 1500."""

    params = _params("inference_device")
