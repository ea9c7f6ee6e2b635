"""Seconds of a step's operations under torch's profiler: of the calls that a real step makes."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from deepbench_ops.backends import families
from deepbench_ops.problems.model import Model

torch = pytest.importorskip("torch")

from deepbench_ops.backends.torch_backend import operator_trace  # noqa: E402
from deepbench_ops.backends.torch_backend.backend import TorchBackend  # noqa: E402
from deepbench_ops.backends.torch_backend.operator_trace import Operation  # noqa: E402
from deepbench_ops.measure import operator_shares, step_breakdown  # noqa: E402

NAMES = ["mobilenet_v2", "bert_128", "lstm", "xlnet", "dlrm", "wide_deep", "llama_1b_4layers_128"]
PASSES = [(name, operation) for name in NAMES for operation in Model.operations]
WATCHED = {"dlrm": {"clone", "index_put"}}
"""Calls that torch makes only in training steps that are watched: copies of sparse gradients, and
the gradient of an index, which it makes by a function of another name otherwise."""


def recorded(name, operation):
    """Return a small twin's kernel, after its first step, and the operations of its step."""
    kernel = TorchBackend().build(families.small(Model(name, 4)), "float32", operation)
    kernel.run()
    kernel.reset()
    found = operator_trace.operations(kernel.run)
    kernel.reset()
    return kernel, found


def names_of(name, operation):
    return {each.name for each in recorded(name, operation)[1]}


@pytest.mark.parametrize(("name", "operation"), PASSES)
def test_each_recorded_call_is_one_of_a_real_step(name, operation):
    """The profile of a step that is not watched shows all of them, but for views."""
    kernel, found = recorded(name, operation)
    times = operator_shares.seconds(kernel.run, found, "cpu")
    missing = {
        each.name for each, taken in zip(found, times, strict=True) if each.bytes and None in taken
    }
    assert (WATCHED.get(name, set()) if operation == "training_step" else set()) == missing


@pytest.mark.parametrize("operation", Model.operations)
def test_batch_normalisation_has_a_share_of_the_step(operation):
    """It is one call of each layer."""
    kernel, found = recorded("mobilenet_v2", operation)
    times = operator_shares.seconds(kernel.run, found, "cpu")
    shares = [
        taken for each, taken in zip(found, times, strict=True) if each.name == "native_batch_norm"
    ]
    assert 16 == sum(map(len, shares))
    assert all(seconds > 0 for taken in shares for seconds in taken)
    assert not any(each.name.startswith("_native_batch_norm_legit") for each in found)


def test_functions_with_a_kernel_of_their_own_are_one_operation():
    """The gradient of SiLU, though torch could also compute it by eight others."""
    found = names_of("llama_1b_4layers_128", "training_step")
    assert "silu_backward" in found
    assert not {"sigmoid", "fill_", "sub_"} & found


def test_dropout_in_inference_is_no_operation():
    """A step hands its input on."""
    assert "clone" not in names_of("bert_128", "forward")


def operation(name, shape, *places):
    return Operation(name, name, "", "", "", 0, 1, list(places), shapes=(shape, shape))


def event(name, shape, start, microseconds):
    return SimpleNamespace(
        name=f"aten::{name}",
        input_shapes=[list(shape), list(shape), []],
        time_range=SimpleNamespace(start=start),
        cpu_time_total=microseconds,
        cpu_parent=None,
    )


def profiled(monkeypatch, found, events):
    """Return the seconds of operations, as microseconds, from a profile of these events."""
    profile = SimpleNamespace(events=lambda: events)
    monkeypatch.setattr(operator_shares, "profile", lambda **_: nullcontext(profile))
    times = operator_shares.seconds(lambda: None, found, "cpu")
    return [[None if each is None else round(1e6 * each) for each in taken] for taken in times]


LARGE, SMALL = (256, 256, 3, 3), (64,)


def test_calls_in_place_have_the_seconds_of_their_shapes(monkeypatch):
    """A real step adds in place where a watched step adds into a new tensor."""
    found = [operation("add", LARGE, 0), operation("add", SMALL, 1), operation("add_", SMALL, 2)]
    events = [
        event("add_", LARGE, 5, 900),
        event("add_", SMALL, 6, 2),
        event("add_", SMALL, 7, 3),
    ]
    assert [[900], [2], [3]] == profiled(monkeypatch, found, events)


def test_calls_of_a_name_in_equal_numbers_have_their_order(monkeypatch):
    """Whatever shapes the profiler reports."""
    found = [operation("mm", SMALL, 0, 2), operation("mm", LARGE, 1)]
    events = [event("mm", (), start, start) for start in (3, 1, 2)]
    assert [[1, 3], [2]] == profiled(monkeypatch, found, events)


def test_calls_that_the_profile_shows_in_other_numbers_have_no_seconds(monkeypatch):
    """No mean of all calls of their name; others of that name have theirs."""
    found = [operation("clone", LARGE, 0), operation("clone", SMALL, 1)]
    assert [[None], [4]] == profiled(monkeypatch, found, [event("clone", SMALL, 1, 4)])


def test_a_layer_without_the_seconds_of_a_call_has_none():
    """Views take no time; so their seconds need not be known."""
    view = Operation("view", "view", "", "", "", 0, 0, [0], layers=[None])
    copy = Operation("copy", "copy", "", "", "", 0, 4, [1, 2], layers=[None, None])
    parts = step_breakdown.family_shares([view, copy], [[[None], [1.0, None]]] * 3)
    assert {"view": 0, "copy": None} == {part.name: part.inside for part in parts}
    assert [None] == [part.inside_each for part in parts if part.name == "copy"]
