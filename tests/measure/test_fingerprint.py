"""The conditions of a measurement are complete, stable, and named by their content."""

from hypothesis import given
from hypothesis import strategies as st

from deepbench_ops.measure import fingerprint, threads
from deepbench_ops.storage import facts_digest

FACTS = st.dictionaries(st.text(max_size=5), st.text(max_size=5))


def test_what_one_would_ask_is_there():
    """Processor, flags, memory, kernel, libraries, threads and revision are all recorded."""
    facts = fingerprint.stable({"numpy": "2.4.6"}, threads=2)
    wanted = {"cpu", "cpu_flags", "governor", "memory_bytes", "kernel", "threads", "revision"}
    assert wanted | {"numpy", "python", "asv_runner"} <= facts.keys()
    assert facts["threads"] == "2"
    assert int(facts["memory_bytes"]) > 0


def test_two_looks_agree():
    """Nothing that changes from minute to minute is among the stable facts."""
    assert fingerprint.stable({}, 1) == fingerprint.stable({}, 1)


def test_pinning_does_not_change_the_conditions():
    """The cores a process may use are those it was started on, pinned or not."""
    before = fingerprint.stable({}, 1)
    threads.pin(1)
    try:
        assert fingerprint.stable({}, 1) == before
    finally:
        threads.unpin()


@given(FACTS, FACTS)
def test_equal_digest_means_equal_facts(one, other):
    """Two fingerprints share a digest exactly when they share their facts."""
    assert (facts_digest.digest(one) == facts_digest.digest(other)) == (one == other)
