"""Linear attention: frameworks, precisions, rules; wrong kernels; properties of the rules."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from framework_table import check_of_every_kernel, entries_agree, every_operation
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_checks import accepted

from deepbench_ops.backends.families import linear_attention as family
from deepbench_ops.backends.families.operands import Operands
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.linear_attention import LinearAttention
from deepbench_ops.problems.problem_ids import problem_of

PROBLEMS = [LinearAttention(rule, 2, 70, 2, 4, 12, 5) for rule in ("gated_delta", "gated")]
"""Prompts of a whole chunk of tokens and a part of one."""

STEPS = [replace(problem, length=1) for problem in PROBLEMS]
EVERY = every_operation(*PROBLEMS, *STEPS)

test_every_kernel_passes_its_check = check_of_every_kernel(
    EVERY, without=("openvino", "tensorflow")
)
test_reference_at_some_entries_is_the_whole_reference = entries_agree(EVERY)


def operands(problem):
    """The operands in float64."""
    drawn = family.inputs(problem, "float32")
    return {name: np.float64(values) for name, values in drawn.of("forward").items()}


def one_by_one(problem, given, decays=True, corrects=None, shared=np.repeat, scale=None):
    """Outputs and states in float64, head after head, with mistakes if asked for."""
    corrects = problem.corrects if corrects is None else corrects
    scale = family.scale(problem) if scale is None else scale
    group = problem.value_heads // problem.heads
    heads = shared(np.arange(problem.heads), group)
    state, outputs = given["state"].copy(), np.empty_like(given["values"])
    for b, h in np.ndindex(problem.batch, problem.value_heads):
        for t in range(given["values"].shape[1]):
            q, k = (given[name][b, t, heads[h]] for name in ("queries", "keys"))
            state[b, h] *= np.exp(given["decays"][b, t, h]) if decays else 1
            v = given["values"][b, t, h]
            if corrects:
                v = given["rates"][b, t, h] * (v - k @ state[b, h])
            state[b, h] += np.outer(k, v)
            outputs[b, t, h] = scale * (q @ state[b, h])
    return {"": outputs, family.STATE: state}


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda each: each.rule)
def test_wrong_rules_are_caught(problem):
    """Without decay, with heads shared in turn, with another scale or rule, a kernel is caught."""
    right = operands(problem)
    assert accepted(problem, "forward", one_by_one(problem, right), "float32")
    mistakes = [{"decays": False}, {"shared": np.tile}, {"scale": 0.5}]
    if problem.corrects:
        mistakes.append({"corrects": False})
    for mistake in mistakes:
        wrong = one_by_one(problem, right, **mistake)
        assert not accepted(problem, "forward", wrong, "float32"), mistake


def truth(given):
    """The true outputs and states of the delta rule, from the reference, with these operands."""
    length = given["values"].shape[1]
    problem = replace(PROBLEMS[0], length=length)
    drawn = Operands({name: partial(np.asarray, values) for name, values in given.items()}, {})
    found = family.reference(problem, drawn, "float32", "forward")
    return {name: reference.everywhere()[0] for name, reference in found.items()}


def test_a_prompt_in_two_parts_leaves_the_same_state():
    """The state after some tokens is all that later ones need."""
    every = operands(PROBLEMS[0])
    first, last = (
        {name: values if name == "state" else values[:, part] for name, values in every.items()}
        for part in (slice(3), slice(3, None))
    )
    whole = truth(every)
    end = truth({**last, "state": truth(first)[family.STATE]})
    np.testing.assert_allclose(end[family.STATE], whole[family.STATE])
    np.testing.assert_allclose(end[""], whole[""][:, 3:])


def test_the_delta_rule_stores_a_value_under_its_key():
    """With a rate of 1 and a key of norm 1, the state then holds the value for the key."""
    every = operands(PROBLEMS[0])
    every["keys"] /= np.linalg.norm(every["keys"], axis=-1, keepdims=True)
    every["rates"][:] = 1
    keys = np.repeat(every["keys"][:, -1], 2, axis=1)
    held = np.einsum("bhk,bhkv->bhv", keys, truth(every)[family.STATE])
    np.testing.assert_allclose(held, every["values"][:, -1])


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(["gated", "gated_delta"]),
    *(st.integers(1, 300) for _ in range(4)),
    st.integers(1, 4),
    st.integers(1, 300),
)
def test_work_and_traffic_follow_from_the_sizes(rule, batch, length, heads, size, group, values):
    """The id says all sizes; every token costs the same, and states are moved once."""
    problem = LinearAttention(rule, batch, length, heads, heads * group, size, values)
    assert problem == problem_of("linear_attention", problem.id)
    states = batch * heads * group * size * values
    assert (7 if rule == "gated_delta" else 5) * length * states == problem.flops
    assert 8 * states < problem.bytes("bfloat16") < problem.bytes("float32")


def test_its_roof_is_that_of_float32():
    """Kernels compute in float32 at every precision."""
    problem = LinearAttention("gated", 1, 1, 1, 1, 8, 8)
    assert {"float32"} == {problem.multiplied(name) for name in problem.precisions}


def test_an_unknown_rule_is_refused():
    """One line names those that there are."""
    wrong = LinearAttention("hebbian", 1, 1, 1, 1, 8, 8)
    assert "the rule 'hebbian' is none of gated, gated_delta" == wrong.impossible()


def test_heads_that_do_not_divide_are_refused():
    """One line names both numbers."""
    with pytest.raises(DeepbenchError, match="5 heads of values are no multiple of 2 heads"):
        problem_of(
            "linear_attention", "linear_attention_gated_batch1_length1_heads2_values5_size8x8"
        )
