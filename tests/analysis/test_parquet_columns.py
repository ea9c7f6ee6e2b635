"""Points become tables and points again without a loss."""

import math
from dataclasses import replace
from datetime import date

from example_points import GEMMS, PLAIN
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.analysis import parquet_columns
from deepbench_ops.analysis.points import Origin, Point
from deepbench_ops.releases.release_table import Release

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SECONDS = st.floats(1e-12, 1e6)
LISTED = Release("numpy", "2.4.6", date(2026, 5, 1), ("scipy==1.17.0",), on_request=True)
RELEASES = st.sampled_from([LISTED, Release("commit", "0a94b3db", date(2020, 1, 2))])
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=3).map(tuple)
ORIGINS = st.builds(
    Origin,
    TEXT,
    TEXT,
    st.integers(1, 99),
    SECONDS,
    SECONDS,
    SECONDS,
    st.tuples(SECONDS, SECONDS),
    st.lists(TEXT, max_size=2).map(tuple),
)
POINTS = st.fixed_dictionaries(
    {
        "release": RELEASES,
        "problem_id": st.sampled_from(GEMMS),
        "ranks": st.none() | st.integers(1, 4096),
        "seconds": SECONDS,
        "low": st.none() | SECONDS,
        "high": st.none() | SECONDS,
        "samples": st.integers(1, 10**9),
        "rounds": st.lists(SECONDS, max_size=3).map(tuple),
        "notes": PAIRS,
        "settings": st.none() | PAIRS,
        "unsteady": TEXT,
        "sample_seconds": st.lists(SECONDS, max_size=3).map(tuple),
        "state": TEXT,
        "ensemble": st.none() | ORIGINS,
        "threads": TEXT,
    }
).map(lambda said: Point(**{**PLAIN, **said}))


@given(st.lists(POINTS, max_size=6))
@settings(deadline=None, max_examples=200)
def test_tables_and_points_are_inverse(found):
    """All fields come back, in the order in which they were."""
    rows, samples = parquet_columns.times(found), parquet_columns.samples(found)
    assert found == parquet_columns.points(rows, {LISTED.hash: LISTED}, samples)


@given(POINTS)
@settings(deadline=None)
def test_an_interval_is_in_the_table_only_where_it_may_be_shown(point):
    """Rows without one have the reason."""
    row = parquet_columns.times([point]).to_pylist()[0]
    assert (point.interval or (None, None)) == (row["low"], row["high"])
    assert (point.interval is None) == bool(row["without_interval"])


def test_a_release_is_that_of_the_table_where_it_is_listed():
    """Companions of a listed release are not stored with each of its points."""
    rows = parquet_columns.times([Point(**{**PLAIN, "release": LISTED})])
    newer = replace(LISTED, pins=("scipy==1.18.0",))
    assert newer.pins == parquet_columns.points(rows, {newer.hash: newer})[0].release.pins


def test_each_kernel_is_counted_once():
    """FLOPs and bytes are the problem's own, in the precision of the kernel."""
    found = [Point(**PLAIN), Point(**{**PLAIN, "machine": "other"})]
    counted = parquet_columns.counts(found).to_pylist()
    assert [(found[0].flops, found[0].bytes)] == [
        (each["flops"], each["bytes"]) for each in counted
    ]
    assert math.isfinite(counted[0]["items"])
