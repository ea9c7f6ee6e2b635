"""Submissions that fit are accepted at once; all others are judged by jsonschema."""

import copy
import math

from example_submissions import GOOD, KERNELS, made, measured, sealed
from hypothesis import given, settings
from hypothesis import strategies as st

from deepbench_ops.errors import DeepbenchError
from deepbench_ops.exchange.submissions import submission_schema

TWO_KERNELS = made(
    [(kernel, 0.5, [0.5, 0.6]) for kernel in KERNELS],
    records=[measured(KERNELS[0], [0.5, 0.6])],
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=4),
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(st.text(max_size=4), inside),
    max_leaves=3,
)
NEAR = st.sampled_from(
    [0, -0.0, 1.0, 1e-12, 1e7, 10**30, math.nan, math.inf, -math.inf, "x\n", {}, []]
)


def places(content, path=()):
    """The paths of all values of a JSON document."""
    yield path
    if isinstance(content, dict | list):
        inside = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in inside:
            yield from places(value, (*path, key))


def replaced(content, path, value):
    """The document with another value at a path, an empty path being the whole of it."""
    if not path:
        return value
    found = copy.deepcopy(content)
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return found


def without(content, path):
    found = copy.deepcopy(content)
    at = found
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return found


def with_another(content, path, key, value):
    """The document with one more member or item in the object or list at a path."""
    found = copy.deepcopy(content)
    at = found
    for step in path:
        at = at[step]
    if isinstance(at, dict):
        at[key] = value
    elif isinstance(at, list):
        at.append(value)
    return found


@st.composite
def damaged(draw):
    """A submission with one or two places replaced, removed or extended."""
    content = draw(st.sampled_from([GOOD, TWO_KERNELS]))
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from(list(places(content))))
        value = draw(NEAR | JSON | st.sampled_from([GOOD["results"][0], GOOD["machine"]]))
        how = draw(st.sampled_from(["replace", "remove", "extend"]))
        if how == "replace":
            content = replaced(content, path, value)
        elif how == "remove" and path:
            content = without(content, path)
        else:
            content = with_another(content, path, draw(st.text(max_size=4)), value)
    return content


@settings(max_examples=300, deadline=None)
@given(content=damaged())
def test_what_jsonschema_refuses_is_refused_and_nothing_else(content):
    try:
        submission_schema.check(content)
        refused = False
    except DeepbenchError:
        refused = True
    assert refused != submission_schema._validator().is_valid(content)


def test_good_submissions_are_accepted_at_once():
    for content in (GOOD, sealed(TWO_KERNELS)):
        assert submission_schema._fits(content)
