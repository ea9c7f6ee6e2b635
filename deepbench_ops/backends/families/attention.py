"""Attention: operands by head, masks, and the references of o and of the gradients.

The mathematics, with the errors allowed, is in `attention_reference.py`.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from deepbench_ops.backends.families.attention_reference import (
    HeadSums,
    KeyGradientReference,
    OutputReference,
    QueryGradientReference,
)
from deepbench_ops.backends.kernel import Reference
from deepbench_ops.problems.attention import Attention, is_backward
from deepbench_ops.random_operands import floats

SMALL_TWIN_LIMITS = {"b": 2, "d": 64, "dv": 48}
"""Largest values of sizes of a small twin that do not depend on each other."""

TWIN_KEY_HEADS, TWIN_GROUP, TWIN_QUERIES, TWIN_KEYS = 2, 3, 37, 53
"""Largest numbers of heads of keys, of query heads for each of these, of queries and of keys of a
small twin."""

PROBE_TOKENS, PROBE_HEADS = 256, 8
"""Largest numbers of tokens and of query heads of the twin for an estimate."""

Q, K, V, GRADIENT = range(4)
"""Streams of random bits."""

HALF_WIDTH = 3**0.5
"""q, k and v are uniform in [-HALF_WIDTH, HALF_WIDTH): scores q·k / sqrt(d) have unit variance."""

QUERY_GRADIENT, KEY_GRADIENT, VALUE_GRADIENT = "", "gradient of the keys", "gradient of the values"
"""Names of the outputs of a backward pass."""


@dataclass(frozen=True)
class AttentionInputs:
    """Operands, each drawn at its first use, with the axes (batch, head, token, number).

    In a precision that numpy lacks they are float32 arrays with values of that precision.
    """

    problem: Any
    precision: str
    seed: int

    @cached_property
    def q(self) -> np.ndarray:
        """Queries, b x hq x sq x d."""
        return self._drawn(self.problem.hq, self.problem.sq, self.problem.d, HALF_WIDTH, Q)

    @cached_property
    def k(self) -> np.ndarray:
        """Keys, b x hkv x skv x d."""
        return self._drawn(self.problem.hkv, self.problem.skv, self.problem.d, HALF_WIDTH, K)

    @cached_property
    def v(self) -> np.ndarray:
        """Values, b x hkv x skv x dv; in latent attention the first dv numbers of the keys."""
        if self.problem.latent:
            return self.k[..., : self.problem.dv]
        return self._drawn(self.problem.hkv, self.problem.skv, self.problem.dv, HALF_WIDTH, V)

    @cached_property
    def gradient(self) -> np.ndarray:
        """The gradient of o: b x hq x sq x dv."""
        return self._drawn(self.problem.hq, self.problem.sq, self.problem.dv, 1.0, GRADIENT)

    def of(self, operation: str) -> dict[str, np.ndarray]:
        """Return the operands of an operation by name."""
        names = ["q", "k"] if self.problem.latent else ["q", "k", "v"]
        names += ["gradient"] if is_backward(operation) else []
        return {name: getattr(self, name) for name in names}

    @property
    def notes(self) -> dict[str, str]:
        """Notes for the record: distribution of the operands, and the keys that a query sees."""
        seen = "all keys"
        if self.problem.causal:
            seen = "all keys by the last query, one fewer by each before it"
        return {
            "inputs": f"q, k, v uniform in +-sqrt(3), gradient of o in +-1; raw bits of SFC64,"
            f" seed {self.seed}",
            "mask": seen,
            "padding": "none",
        }

    def _drawn(self, heads: int, tokens: int, size: int, half_width: float, stream: int) -> Any:
        shape = (self.problem.b, heads, tokens, size)
        return floats(shape, self.precision, half_width, self.seed, stream)


def small(problem: Attention) -> Attention:
    """Return the small twin for the check.

    A twin of a problem with one query, or with as many queries as keys, has this property too.
    """
    kv = min(problem.hkv, TWIN_KEY_HEADS)
    group = min(problem.hq // problem.hkv, TWIN_GROUP)
    keys = min(problem.skv, TWIN_KEYS)
    queries = keys if problem.sq == problem.skv else min(problem.sq, TWIN_QUERIES)
    sizes = {name: min(getattr(problem, name), most) for name, most in SMALL_TWIN_LIMITS.items()}
    if problem.dv == problem.d:
        sizes["dv"] = sizes["d"]
    return replace(problem, hq=kv * group, hkv=kv, sq=queries, skv=keys, **sizes)


def probe(problem: Attention, times: int = 1) -> Attention:
    """Return the twin for an estimate: few heads and tokens, with the real size of a head."""
    kv = min(problem.hkv, max(1, PROBE_HEADS * problem.hkv // problem.hq))
    tokens = PROBE_TOKENS * times
    queries, keys = min(problem.sq, tokens), min(problem.skv, tokens)
    group = problem.hq // problem.hkv
    return replace(problem, b=1, hq=kv * group, hkv=kv, sq=queries, skv=keys)


def inputs(problem: Attention, precision: str, seed: int = 0) -> AttentionInputs:
    """Return the operands of `problem` in `precision`."""
    return AttentionInputs(problem, precision, seed)


def mask(queries: int, keys: int) -> np.ndarray:
    """Return a causal mask: queries x keys booleans, True where the query sees the key."""
    return np.tri(queries, keys, keys - queries, dtype=bool)


def reference(
    problem: Attention, drawn: AttentionInputs, precision: str, operation: str
) -> dict[str, Reference]:
    """Return the reference of the output o, or those of the three gradients."""
    if not is_backward(operation):
        return {"": OutputReference(drawn, precision)}
    sums = HeadSums(drawn, precision)
    return {
        QUERY_GRADIENT: QueryGradientReference(drawn, precision),
        KEY_GRADIENT: KeyGradientReference(drawn, precision, of_values=False, sums=sums),
        VALUE_GRADIENT: KeyGradientReference(drawn, precision, of_values=True, sums=sums),
    }


def reference_name(operation: str, precision: str) -> str:
    """Return one name for the operations of all implementations."""
    return "backward" if is_backward(operation) else "forward"


def memory_needed(problem: Attention, operation: str, execution: str) -> float:
    """Return the bytes of operands and outputs, and of all scores where they may be stored.

    A backward pass stores float32 scores, and so does the implementation math, which is a product,
    a softmax and a product.
    """
    scores = 4.0 * problem.b * problem.hq * problem.sq * problem.skv
    stored = is_backward(operation) or operation.startswith("math")
    return 2 * problem.bytes_of("float32", operation) + (3 * scores if stored else 0)
