"""Releases are named by versions, names and spans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.releases import release_ranges, release_table, table_location

NUMPY = [
    each
    for each in release_table.measurable(table_location.of_project())
    if each.framework == "numpy"
]
INDICES = st.sets(st.integers(0, len(NUMPY) - 1), min_size=1)


def version(index):
    """Return the version of a release by its index."""
    return NUMPY[index].name.removeprefix("numpy-")


def test_versions_names_and_spans_are_together_in_the_order_of_releases():
    """Each release is there once, whatever the order in the text."""
    chosen = release_ranges.select("2.4.1, numpy-1.26.4,2.2.5..2.3.0", NUMPY)
    names = ["1.26.4", "2.2.5", "2.2.6", "2.3.0", "2.4.1"]
    assert [f"numpy-{name}" for name in names] == [release.name for release in chosen]


@given(INDICES)
def test_a_list_of_versions_is_these_releases(indices):
    """In any order of the text."""
    text = ",".join(map(version, indices))
    assert [NUMPY[index] for index in sorted(indices)] == release_ranges.select(text, NUMPY)


@pytest.mark.parametrize("text", ["", "1.26.4,", "..2.2.6", "1.26.4..2.2.5..2.2.6"])
def test_a_text_without_a_version_is_refused(text):
    """The line says how to write it."""
    with pytest.raises(DeepbenchError, match=r"names no releases: write 1\.26\.4\.\.2\.4\.6"):
        release_ranges.select(text, NUMPY)


def test_a_span_runs_from_the_older_release_to_the_newer():
    """The other way round, and of a release to itself, it is refused."""
    for text in ("2.2.6..1.26.4", "2.2.6..2.2.6"):
        with pytest.raises(DeepbenchError, match="name an older release and then a newer one"):
            release_ranges.select(text, NUMPY)
