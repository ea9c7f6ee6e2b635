"""Rotary embedding: frameworks, precisions, passes; wrong kernels; norms; bad sizes."""

import numpy as np
import pytest
from framework_table import check_of_every_kernel, entries_agree, every_operation
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_checks import accepted

from deepbench_ops.backends.families import rope as family
from deepbench_ops.errors import DeepbenchError
from deepbench_ops.problems.problem_ids import problem_of
from deepbench_ops.problems.rope import Rope

PROBLEM = Rope(2, 13, 4, 2, 22, start=5)

test_every_kernel_passes_its_check = check_of_every_kernel(every_operation(PROBLEM))
test_reference_at_some_entries_is_the_whole_reference = entries_agree(every_operation(PROBLEM))


def passes(drawn, turn=1, half=True, base=family.BASE, first=0):
    """Return queries and keys turned in float64, with mistakes if asked for."""
    columns = np.arange(PROBLEM.size // 2)
    positions = np.arange(PROBLEM.length) + PROBLEM.start + first
    angles = positions[:, None] * base ** (-2 * columns / PROBLEM.size)

    def turned(x):
        x = np.float64(x)
        a, b = np.split(x, 2, axis=-1) if half else (x[..., ::2], x[..., 1::2])
        cosine, sine = np.cos(angles), turn * np.sin(angles)
        return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], axis=-1)

    names = ("queries", "keys") if turn == 1 else drawn.gradient_names()
    return [turned(drawn[name]) for name in names]


@pytest.mark.parametrize(
    "mistake", [{}, {"half": False}, {"base": 5e5}, {"first": 1}, {"first": -5}]
)
def test_wrong_turns_are_caught(mistake):
    """Another pairing, another base, the next position or one without the start are caught."""
    drawn = family.inputs(PROBLEM, "float16")
    half_last_place = 2.0**-11  # of the tables, which are rounded
    queries, keys = passes(drawn, **mistake)
    right = passes(drawn)
    off = max(np.abs(a - b).max() for a, b in zip((queries, keys), right, strict=True))
    assert (not mistake) == (off < 4 * half_last_place)
    outputs = {"": queries, family.KEYS: keys}
    if mistake:
        assert not accepted(PROBLEM, "forward", outputs, "float16")


def test_gradients_turn_back():
    """Backward is the opposite turn of both gradients: turning again gives the incoming ones."""
    drawn = family.inputs(PROBLEM, "float32")
    queries, keys = passes(drawn, turn=-1)
    right = {"": queries, family.KEYS_GRADIENT: keys}
    assert accepted(PROBLEM, "backward", right, "bfloat16", drawn)
    for name in right:
        wrong = {**right, name: -right[name]}
        assert not accepted(PROBLEM, "backward", wrong, "bfloat16", drawn)


@settings(max_examples=15)
@given(length=st.integers(1, 9), pairs=st.integers(1, 12), start=st.integers(0, 10**4))
def test_norms_are_kept(length, pairs, start):
    """A turn leaves the length of every head's vector."""
    problem = Rope(1, length, 2, 1, 2 * pairs, start)
    drawn = family.inputs(problem, "float32")
    turned = family.reference(problem, drawn, "float32", "forward")[""].everywhere()[0]
    before = np.linalg.norm(np.float64(drawn["queries"]), axis=-1)
    np.testing.assert_allclose(before, np.linalg.norm(turned, axis=-1), rtol=1e-6)


@pytest.mark.parametrize(
    ("id", "reason"),
    [
        ("rope_batch1_length1_heads4_kv3_size8", "4 heads cannot be shared by 3 KV heads"),
        ("rope_batch1_length1_heads4_kv2_size7", "a head is rotated in pairs"),
        ("rope_batch0_length1_heads4_kv2_size8", "write a whole number from 1"),
    ],
)
def test_impossible_sizes_are_refused_in_one_line(id, reason):
    """Heads that do not divide, and odd heads, are named with what to write."""
    with pytest.raises(DeepbenchError, match=reason) as refusal:
        problem_of("rope", id)
    assert "\n" not in str(refusal.value)


def test_bytes_and_flops():
    """6 heads of 4 for 3 tokens, and tables of 3 x 4, read; the heads written; 3 for each entry."""
    problem = Rope(1, 3, 4, 2, 4)
    assert (2 * 72 + 12) * 2 == problem.bytes("bfloat16")
    assert 216 == problem.flops == problem.flops_of("backward")
