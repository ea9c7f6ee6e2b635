"""Percentiles of batches: nearest rank, and none of too few."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.analysis.percentiles import (
    fewest_batches,
    nearest_rank,
    percentiles,
    with_reasons,
)
from deepbench_ops.storage import model_runs

RESULTS = Path(__file__).resolve().parents[2] / "results"


@given(st.integers(1, 99), st.integers(1, 2000), st.integers(0, 2**32 - 1))
def test_a_percentile_is_the_value_at_which_the_share_is_reached(percent, count, seed):
    """numpy's inverted_cdf, asked in a share that is no less than the percent in binary."""
    ordered = sorted(np.random.default_rng(seed).random(count))
    reached = min(value for value in ordered if 100 * ordered.index(value) + 100 >= percent * count)
    assert reached == nearest_rank(ordered, percent)
    if percent * count % 100:  # where it is a whole rank, numpy rounds the share either way
        assert np.quantile(ordered, percent / 100, method="inverted_cdf") == reached


def test_of_a_hundred_batches_the_ninetieth_is_the_ninetieth():
    taken = [float(each) for each in range(100, 0, -1)]
    assert {"p90_seconds": 90.0, "p99_seconds": 99.0} == percentiles(taken)


@pytest.mark.parametrize(("count", "given_"), [(9, ()), (10, (90,)), (99, (90,)), (100, (90, 99))])
def test_a_percentile_that_would_be_the_longest_batch_is_left_out(count, given_):
    found = percentiles(range(count))
    assert [percent in given_ for percent in (90, 99)] == [
        found[name] is not None for name in ("p90_seconds", "p99_seconds")
    ]
    assert max(range(count)) not in found.values()


def test_ten_batches_have_a_ninetieth_percentile_and_a_hundred_a_ninety_ninth():
    assert (10, 100) == (fewest_batches(90), fewest_batches(99))


def test_recorded_runs_of_few_batches_are_shown_without_the_longest():
    """Those that are kept, from before the rule: readable, with the reason in its place."""
    runs = model_runs.load(RESULTS / "xeon-amx-2core")
    by_batches = {run["batches"]: with_reasons(run) for run in runs if run["kind"] == "latency"}
    few, many = by_batches[40], by_batches[515]
    assert few["p99_seconds"] is None and few["p90_seconds"] > few["median_seconds"]
    assert {"p99_seconds": "of 40 batches"} == few["why_not"]
    assert {} == many["why_not"] and many["p99_seconds"] > many["p90_seconds"]
    json.dumps(few, allow_nan=False)
