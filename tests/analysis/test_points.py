"""Points: the interval of a time, and the note on launches."""

from types import SimpleNamespace

import pytest
from example_points import point

from deepbench_ops.analysis.points import TOO_FAR, TOO_FEW
from deepbench_ops.measure import device_notes
from deepbench_ops.measure.kernel_sampling import Measurement


@pytest.mark.parametrize(
    ("samples", "low", "high", "why"),
    [
        (4, 0.5, 2.0, ""),
        (9, 0.9, 1.1, ""),
        (1, None, None, TOO_FEW),
        (3, 0.99, 1.01, TOO_FEW),
        (9, -43.4, 61.3, TOO_FAR),
        (9, 0.4, 1.1, TOO_FAR),
        (9, 0.9, 2.1, TOO_FAR),
    ],
)
def test_an_interval_rests_on_four_samples_and_reaches_twice_as_far_at_most(
    samples, low, high, why
):
    """One that does not is none, and why is said in a few words."""
    found = point(seconds=1.0, samples=samples, low=low, high=high)
    assert (None if why else (low, high)) == found.interval
    assert why == found.without_interval


@pytest.mark.parametrize(("share", "bound"), [(0.99, True), (0.2, False)])
def test_a_point_knows_whether_it_is_launch_bound(monkeypatch, share, bound):
    """From the note that its record has."""
    monkeypatch.setattr(device_notes, "launch_share", lambda *_: share)
    written = device_notes.of(SimpleNamespace(clock=None), Measurement(9, "none"), "cuda")
    assert bound == point(notes=tuple(written.items())).launch_bound
    assert not point().launch_bound
