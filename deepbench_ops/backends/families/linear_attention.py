"""Linear attention: operands, and the true outputs and states."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from deepbench_ops.backends.families.operands import (
    COMPUTE_PRECISION,
    EntryReference,
    Makers,
    Operands,
    drawn,
)
from deepbench_ops.backends.families.propagated_errors import Bounded, exact, joined
from deepbench_ops.backends.kernel import Index, Reference
from deepbench_ops.backends.tolerance import UNIT_ROUNDOFF
from deepbench_ops.problems.linear_attention import LinearAttention
from deepbench_ops.random_operands import floats, round_to

SMALL = {"batch": 2, "length": 70, "heads": 2, "value_heads": 4, "size": 12, "value_size": 5}
PROBE = {"batch": 1, "length": 16, "heads": 4, "value_heads": 8, "size": 64, "value_size": 64}

STATE = "state"
"""Name of the operand with the states before, and of the output with those after all tokens."""

CHUNK = 64
"""Tokens whose decays a kernel may add up, to take the exponential of the difference of two sums:
algorithms by chunks of tokens do, and lose some of the difference's digits."""

MEAN_DECAY = -0.25
"""Decays are uniform from twice this to 0, as logarithms: a token leaves 61 to 100 % of a state."""


def small(problem: LinearAttention) -> LinearAttention:
    """Return the small twin, whose heads share keys as those of the problem do."""
    group = min(problem.value_heads // problem.heads, SMALL["value_heads"] // SMALL["heads"])
    return _reduced(problem, SMALL, group)


def probe(problem: LinearAttention, times: int = 1) -> LinearAttention:
    """Return the twin for an estimate."""
    group = min(problem.value_heads // problem.heads, PROBE["value_heads"] // PROBE["heads"])
    return _reduced(problem, {name: times * size for name, size in PROBE.items()}, group)


def _reduced(problem: LinearAttention, most: Mapping[str, int], group: int) -> LinearAttention:
    sizes = {name: min(getattr(problem, name), size) for name, size in most.items()}
    return LinearAttention(problem.rule, **{**sizes, "value_heads": sizes["heads"] * group})


def outputs(problem: LinearAttention, operation: str) -> tuple[str, ...]:
    """Return the names of the outputs: those of the tokens, and the states."""
    return ("", STATE)


def scale(problem: LinearAttention) -> float:
    """Return the factor of an output."""
    return float(problem.size**-0.5) if problem.corrects else 1.0


def inputs(problem: LinearAttention, precision: str, seed: int = 0) -> Operands:
    """Draw queries, keys, values, decays, rates of the delta rule, and the states before.

    Axes are (sequence, token, head, number); of states (sequence, head, number of the key, number
    of the value). Queries and values are uniform in [-1, 1). Keys are so with a norm of about 1, as
    normalised ones. Decays are logarithms, in [-0.5, 0], and rates in [0, 1], both of the
    precision, as the other operands of a token. States are float32.
    """
    p = problem
    tokens = (p.batch, p.length)
    keys, each = (*tokens, p.heads, p.size), (*tokens, p.value_heads)

    def shifted(factor: float, stream: int) -> np.ndarray:
        values = floats(each, "float32", abs(factor), seed, stream) + np.float32(factor)
        return round_to(values, precision)

    makers: Makers = {
        "queries": partial(floats, keys, precision, 1.0, seed, 0),
        "keys": partial(floats, keys, precision, (3 / p.size) ** 0.5, seed, 1),
        "values": partial(floats, (*each, p.value_size), precision, 1.0, seed, 2),
        "decays": partial(shifted, MEAN_DECAY, 3),
    }
    if p.corrects:
        makers["rates"] = partial(shifted, 0.5, 4)
    makers[STATE] = partial(floats, state_shape(p), "float32", 1.0, seed, 5)
    text = "queries, values, states in +-1, keys of norm 1, decays in -0.5..0, rates in 0..1"
    return Operands(makers, drawn(text, seed))


def state_shape(problem: LinearAttention) -> tuple[int, ...]:
    """Return the shape of the states: sequences, heads of values, size, value_size."""
    return (problem.batch, problem.value_heads, problem.size, problem.value_size)


def reference(
    problem: LinearAttention, drawn: Operands, precision: str, operation: str
) -> Mapping[str, Reference]:
    """Return the references of outputs and states.

    An entry of a state, or of an output that is read from it, needs one column of the state from
    the first token on; each column is computed once. Kernels compute in float32 and round the
    outputs.
    """

    def at_tokens(index: Index) -> Bounded:
        sequence, token, head, number = index
        columns, place = _unique(sequence, head, number)
        found, _ = _columns(problem, drawn, columns, int(token.max()) + 1)
        return found[place, token]

    def at_states(index: Index) -> Bounded:
        sequence, head, row, number = index
        columns, place = _unique(sequence, head, number)
        _, state = _columns(problem, drawn, columns, problem.length)
        return state[place, row]

    p = problem
    return {
        "": EntryReference((p.batch, p.length, p.value_heads, p.value_size), at_tokens, precision),
        STATE: EntryReference(state_shape(p), at_states, COMPUTE_PRECISION),
    }


def _unique(*columns: np.ndarray) -> tuple[Index, np.ndarray]:
    """Return the columns without repetitions, and the place of each among these."""
    found, place = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return tuple(found), place.reshape(-1)


def _columns(
    problem: LinearAttention, drawn: Operands, where: Index, length: int
) -> tuple[Bounded, Bounded]:
    """Return the outputs of the first `length` tokens from some columns of states, columns x
    length, and these columns after them, columns x size.

    where: sequence, head of values, and number of each column.
    """
    sequence, head, number = where
    added_up = _error_of_sums(drawn["decays"][sequence, :length, head])
    key_head = head // (problem.value_heads // problem.heads)
    factor = exact(np.array(scale(problem)), COMPUTE_PRECISION)
    state = exact(drawn[STATE][sequence, head, :, number], COMPUTE_PRECISION)
    found = []
    for token in range(length):

        def of(name: str, *place: np.ndarray, at: int = token) -> Bounded:
            values = drawn[name][(sequence, at, *place)]
            return exact(values.reshape(len(sequence), -1), COMPUTE_PRECISION)

        key, value = of("keys", key_head), of("values", head, number)
        state = state * of("decays", head).off_by(added_up[:, token, None]).exp()
        if problem.corrects:
            value = (value - (state * key).sum()) * of("rates", head)
        state = state + key * value
        found.append((state * of("queries", key_head)).sum() * factor)
    return joined(found, axis=1), state


def _error_of_sums(decays: np.ndarray) -> np.ndarray:
    """Return the error that a decay has as the difference of two sums, columns x tokens.

    decays: logarithms, columns x tokens. The sums are those of the decays of a chunk, up to a token
    and up to the one before; here of the CHUNK tokens up to it. If they are added up in a tree,
    each sum is rounded log2(64) = 6 times, by u = 2^-24 of its value at most and with random signs,
    which makes the difference of two uncertain by sqrt(12) u of a sum; allowed are 4 u. Added up
    one by one, two such sums differ by a single rounding. A single token has no sum: 0.
    """
    if decays.shape[1] == 1:
        return np.zeros(decays.shape)
    sums = np.abs(decays.astype(np.float64)).cumsum(axis=1)
    earlier = np.zeros_like(sums)
    earlier[:, CHUNK:] = sums[:, :-CHUNK]
    return 4 * UNIT_ROUNDOFF[COMPUTE_PRECISION] * (sums - earlier)
