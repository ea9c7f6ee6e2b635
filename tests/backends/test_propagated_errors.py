"""Values with the largest error that a correct kernel may have."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.backends.families.propagated_errors import Bounded
from deepbench_ops.random_operands import floats


@given(
    sizes=st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(1, 7)),
    cuts=st.sets(st.integers(1, 39), max_size=4),
    erring=st.booleans(),
)
def test_a_product_in_pieces_is_the_whole_product(sizes, cuts, erring):
    """Its value, and the error that it allows, whatever the pieces are."""
    rows, terms, columns = sizes
    left = floats((rows, terms), "float32", 1.0, 0, 0).astype(np.float64)
    weights = floats((terms, columns), "float32", 1.0, 0, 1).astype(np.float64)
    error = np.abs(left) * 1e-3 if erring else np.zeros_like(left)
    bounded = Bounded(left, error, "float32")
    whole = bounded.product(weights, np.zeros(1))
    ends = [0, *sorted(cut for cut in cuts if cut < terms), terms]
    pieces = (weights[start:end] for start, end in pairwise(ends))
    found = bounded.product_of_pieces(pieces, np.zeros(1))
    np.testing.assert_allclose(found.value, whole.value, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.error, whole.error, rtol=1e-12)
    np.testing.assert_allclose(whole.value, left @ weights, rtol=1e-12, atol=1e-14)
