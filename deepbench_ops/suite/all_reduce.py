"""Sums of a vector over processes: each rank ends with the sum of all ranks' vectors."""

from deepbench_ops import problems
from deepbench_ops.distributed import prepared_ranks
from deepbench_ops.problems.all_reduce import AllReduce


class Training:
    """The vectors of gradients that data-parallel training sums, on one machine."""

    param_names = ("problem", "precision", "ranks")
    params = (
        [problem.id for problem in problems.load("all_reduce", "training")],
        list(AllReduce.precisions),
        list(AllReduce.ranks),
    )
    rounds = 2
    timeout = 1800
    version = "1"  # raised by hand when the measured work changes

    prepared = None

    def setup(self, problem, precision, ranks):
        self.prepared = prepared_ranks.prepare(AllReduce.family, problem, precision, ranks)

    def teardown(self, problem, precision, ranks):
        if self.prepared is not None:
            self.prepared.close()

    def kernel_sum(self, problem, precision, ranks):
        return self.prepared
