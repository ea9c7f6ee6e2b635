"""Storing keys and values: a table over frameworks and precisions, and tokens in wrong places."""

import numpy as np
import pytest
from framework_table import ONNX, loaded_with, refusals_of_others
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, eager, loaded, skip_without

from deepbench_ops import backends
from deepbench_ops.backends import output_check
from deepbench_ops.backends.families import cache_store as family
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.cache_store import CacheStore

LACKING = {
    ("numpy", "bfloat16"): "numpy has no bfloat16",
    **{
        (name, precision): f"copies the whole cache|{name}'s "
        for name in ONNX
        for precision in CacheStore.precisions
    },
}
"""Reasons of frameworks, by precision. ONNX would copy a cache that it cannot write in place; they
have bfloat16 on some processors at most."""
PROBLEM = CacheStore(batch=3, heads=2, head_size=4, held=11, added=5, block=4)


@pytest.mark.parametrize("precision", CacheStore.precisions)
@pytest.mark.parametrize(("name", "device"), PLACES)
def test_tokens_are_stored_where_they_belong_or_refused(name, device, precision):
    """Keys and values come out exactly, and nothing else changes."""
    backend = loaded_with(name, device, CacheStore.family)
    if (name, precision) in LACKING:
        with pytest.raises(Unsupported, match=LACKING[name, precision]):
            output_check.check(backend, PROBLEM, precision)
        return
    with refusals_of_others(name):
        found = output_check.check(backend, PROBLEM, precision)
    assert (True, 0) == (found.ok, found.error)


@pytest.mark.parametrize("name", backends.NAMES)
@settings(max_examples=20, deadline=None)
@given(
    batch=st.integers(1, 4), held=st.integers(0, 9), added=st.integers(1, 9),
    block=st.integers(1, 6), seed=st.integers(0, 99),
)  # fmt: skip
def test_any_cache_is_written_right(name, batch, held, added, block, seed):
    """Any number of tokens is stored, in blocks of one token and across blocks."""
    backend = eager(name)
    skip_without(backend, CacheStore.family)
    kernel = backend.build(CacheStore(batch, 2, 3, held, added, block), "float32", seed=seed)
    kernel.reset()
    kernel.run()
    for output in kernel.outputs.values():
        assert np.array_equal(output.reference.everywhere()[0], output.result())
    assert output_check.spot_check(kernel).ok


@given(
    batch=st.integers(1, 9), held=st.integers(0, 40), added=st.integers(1, 40),
    block=st.integers(1, 9), seed=st.integers(0, 99),
)  # fmt: skip
@settings(deadline=None)
def test_every_token_has_a_place_of_its_own(batch, held, added, block, seed):
    """No two tokens share a place; tokens of one block lie side by side; a spare block is free."""
    problem = CacheStore(batch, 1, 1, held, added, block)
    drawn = family.inputs(problem, "float32", seed)
    places = drawn.places
    assert batch * added == np.unique(places).size
    assert (0 <= places).all() and (places < drawn.blocks * block).all()
    at = np.tile(held + np.arange(added), batch)
    assert np.array_equal(at % block, places % block)
    assert not np.isin(drawn.untouched, places).any()
    assert drawn.untouched.size > 0


MISTAKES = {
    "places off by one": lambda cache, drawn, tokens: put(cache, drawn.places - 1, tokens),
    "tokens in the wrong order": lambda cache, drawn, tokens: put(
        cache, drawn.places, tokens[::-1]
    ),
    "blocks in the order of sequences": lambda cache, drawn, tokens: put(
        cache, np.sort(drawn.places), tokens
    ),
    "the place behind each token as well": lambda cache, drawn, tokens: put(
        put(cache, (drawn.places + 1) % len(cache), tokens), drawn.places, tokens
    ),
    "the last token is missing": lambda cache, drawn, tokens: put(
        cache, drawn.places[:-1], tokens[:-1]
    ),
    "nothing is done": lambda cache, drawn, tokens: cache,
}


def put(cache, places, tokens):
    """Return the cache with tokens at these places."""
    cache[places] = tokens
    return cache


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("part", ["keys", "values"])
def test_wrong_places_are_found_out(part, mistake):
    """Each mistake in one of the caches fails, while the right writes pass."""
    drawn = family.inputs(PROBLEM, "float32")
    judges = family.reference(PROBLEM, drawn, "float32", "forward")

    def passes(**writes):
        caches = []
        for name, tokens in (("keys", drawn.keys), ("values", drawn.values)):
            cache = np.concatenate([drawn.block_held] * drawn.blocks)
            right = MISTAKES["nothing is done"](put(cache.copy(), drawn.places, tokens), drawn, 0)
            caches.append(writes[name](cache, drawn, tokens) if name in writes else right)
        untouched = np.concatenate([cache[drawn.untouched] for cache in caches])
        found = [caches[0][drawn.places], caches[1][drawn.places], untouched]
        return all(
            np.array_equal(judge.everywhere()[0], value)
            for judge, value in zip(judges.values(), found, strict=True)
        )

    assert passes()
    assert not passes(**{part: mistake})


def test_torch_writes_in_place():
    """No call makes a new cache: its memory is the same before and after."""
    torch = pytest.importorskip("torch")
    kernel = loaded("torch").build(PROBLEM, "float32")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        kernel.run()
    names = {event.key for event in profile.key_averages()}
    assert "aten::index_copy_" in names
    assert not names & {"aten::clone", "aten::empty_like", "aten::cat"}


def test_traffic_is_that_of_the_new_tokens():
    """Bytes are keys and values of the new tokens, twice, and their places: not the cache."""
    problem = CacheStore(16, 8, 128, 10240, 1, 512)
    assert (0, 16) == (problem.flops, problem.items)
    assert 4 * 16 * 8 * 128 * 2 + 8 * 16 == problem.bytes("bfloat16")
    assert family.memory_needed(problem, "forward", "eager") > 2 * 4 * 16 * 10240 * 8 * 128


def test_an_empty_cache_is_possible_and_an_empty_block_is_not():
    """No older tokens are a prompt; a block holds at least one token."""
    assert 0 == size_checks.size("held", "0", CacheStore)
    with pytest.raises(DeepbenchError, match="block is '0': write a whole number from 1"):
        size_checks.size("block", "0", CacheStore)
