"""Top-k in numpy: np.argpartition, then a sort of the k largest numbers."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import topk
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.numpy_backend.precision import refuse_lacking
from deepbench_ops.problems.topk import TopK


def build(backend: Any, problem: TopK, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare top-k, which needs no rounding, in the types that numpy has."""
    refuse_lacking(precision)
    drawn = topk.inputs(problem, precision, seed)
    x, k = drawn["x"], problem.k

    def largest() -> tuple[np.ndarray, np.ndarray]:
        columns = np.argpartition(x, -k, axis=1)[:, -k:]
        values = np.take_along_axis(x, columns, axis=1)
        order = np.argsort(values, axis=1)[:, ::-1]
        return np.take_along_axis(values, order, axis=1), np.take_along_axis(columns, order, axis=1)

    newest = LatestOutput(largest)
    prepared = Prepared(
        run=newest.run,
        reset=newest.reset,
        output=lambda: topk.checked_values(x, *newest.output),
        notes={"route": "np.argpartition, np.argsort of the k found, np.take_along_axis"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
