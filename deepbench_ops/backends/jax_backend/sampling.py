"""Top-p sampling in jax: jnp.sort, jnp.cumsum, a mask and jax.random.categorical."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from deepbench_ops.backends.families import sampling
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.backends.functional import Function
from deepbench_ops.backends.jax_backend.device import JaxDevice
from deepbench_ops.problems.sampling import Sampling


def function(
    backend: JaxDevice, problem: Sampling, drawn: Operands, precision: str, operation: str
) -> Function:
    """Return the sampling; its random key, and so its sample, is the same in every call."""

    def sample(probabilities: Any, key: Any) -> Any:
        columns = jnp.argsort(-probabilities, axis=-1)
        ordered = jnp.take_along_axis(probabilities, columns, axis=-1)
        before = jnp.cumsum(ordered, axis=-1) - ordered
        kept = jnp.where(before >= problem.p, -jnp.inf, jnp.log(ordered))
        place = jax.random.categorical(key, kept, axis=-1)
        return jnp.take_along_axis(columns, place[:, None], axis=-1)

    operands = (backend.array(drawn["probabilities"], precision), jax.random.PRNGKey(0))
    return Function(
        compile=backend.compiled(sample, operands),
        read=lambda output: sampling.likelier(drawn["probabilities"], np.asarray(output)),
        notes={"route": "jax.jit of jnp.argsort, jnp.cumsum, jax.random.categorical"},
    )
