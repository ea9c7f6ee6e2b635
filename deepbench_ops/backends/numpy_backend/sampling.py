"""Top-p sampling in numpy: np.argsort, np.cumsum, and a random number for each row."""

from typing import Any

import numpy as np

from deepbench_ops.backends.families import sampling
from deepbench_ops.backends.kernel import Kernel
from deepbench_ops.backends.kernel_assembly import Prepared, assemble
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.backends.numpy_backend import plain
from deepbench_ops.problems.sampling import Sampling


def build(backend: Any, problem: Sampling, precision: str, operation: str, seed: int) -> Kernel:
    """Prepare the sampling, with random numbers of a generator seeded with `seed`."""
    plain.refuse_unsuitable(precision)
    drawn = sampling.inputs(problem, precision, seed)
    probabilities, generator = drawn["probabilities"], np.random.default_rng(seed)
    share = np.float32(problem.p)

    def sample() -> np.ndarray:
        columns = np.argsort(-probabilities, axis=-1)
        ordered = np.take_along_axis(probabilities, columns, axis=-1)
        sums = np.cumsum(ordered, axis=-1)
        held = np.where(sums - ordered < share, sums, 0).max(axis=-1, keepdims=True)
        places = np.argmax(sums > generator.random((problem.batch, 1)) * held, axis=-1)
        return np.take_along_axis(columns, places[:, None], axis=-1)

    newest = LatestOutput(sample)
    prepared = Prepared(
        run=newest.run,
        reset=newest.reset,
        output=lambda: sampling.likelier(probabilities, newest.output),
        notes={"route": "np.argsort, np.cumsum, Generator.random, np.argmax"},
    )
    return assemble(backend, problem, precision, operation, drawn, prepared)
