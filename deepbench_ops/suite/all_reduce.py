"""Sums of a vector over processes: each rank ends with the sum of all ranks' vectors."""

from deepbench_ops import problems
from deepbench_ops.distributed import prepared_ranks
from deepbench_ops.problems.all_reduce import AllReduce


def _params(listed):
    return (
        [problem.id for problem in problems.load("all_reduce", listed)],
        list(AllReduce.precisions),
        list(AllReduce.ranks),
    )


class Training:
    """The vectors of gradients that data-parallel training sums, on one machine."""

    param_names = ("problem", "precision", "ranks")
    params = _params("training")
    rounds = 2
    timeout = 1800
    version = AllReduce.benchmark_version

    prepared = None

    def setup(self, problem, precision, ranks):
        self.prepared = prepared_ranks.prepare(AllReduce.family, problem, precision, ranks)

    def teardown(self, problem, precision, ranks):
        if self.prepared is not None:
            self.prepared.close()

    def kernel_sum(self, problem, precision, ranks):
        return self.prepared


class ModernFull(Training):
    """Tensors of a language model that is split over ranks."""

    params = _params("modern_full")
