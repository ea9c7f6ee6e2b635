"""The number of calls in a slice."""

from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.measure.calls_per_slice import MOST_CALLS, calls_per_slice


@given(st.floats(1e-6, 1e3), st.floats(1e-12, 1e4))
def test_a_slice_has_the_nearest_whole_number_of_calls(slice_seconds, call_seconds):
    """But at least one call, and never more than the most."""
    found = calls_per_slice(slice_seconds, call_seconds)
    assert 1 <= found <= MOST_CALLS
    if 1 < found < MOST_CALLS:
        assert abs(found * call_seconds - slice_seconds) <= 0.5001 * call_seconds
