"""The operations of a model's step, each alone: all that the checked step ran, and no others."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from deepbench_ops.backends import families, output_check
from deepbench_ops.backends.families.model import MARGIN, memory_needed
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.measure import kernel_measurement, record_handover
from deepbench_ops.problems.model import Model
from deepbench_ops.problems.problem import computed

torch = pytest.importorskip("torch")

from deepbench_ops.backends.torch_backend import operator_timing, operator_trace  # noqa: E402
from deepbench_ops.backends.torch_backend.backend import TorchBackend  # noqa: E402
from deepbench_ops.measure.step_breakdown import OperationShare, StepBreakdown  # noqa: E402

APART = [each for each in Model.uncompared if each.endswith("_operations")]
MMOE = Model(name="mmoe", batch=4)


def twin(name):
    return families.small(Model(name=name, batch=4))


def apart(problem=MMOE, operation="forward_operations"):
    return TorchBackend().build(problem, "float32", operation)


@pytest.mark.parametrize("operation", APART)
@pytest.mark.parametrize("name", ["mobilenet_v2", "lstm", "xlnet", "dlrm", "wide_deep"])
def test_all_operations_of_a_step_are_found_and_can_be_repeated(name, operation):
    """The step that they make up, and nothing else, agrees with float64."""
    assert output_check.check(TorchBackend(), twin(name), "float32", operation).ok
    assert "none" == apart(twin(name), operation).notes["not repeated alone"]


@pytest.mark.parametrize("operation", APART)
def test_an_operation_that_is_left_out_is_noticed(monkeypatch, operation):
    """Whichever it is, though the step's result is right."""
    everything = operator_trace.operations
    for place in (0, -1):

        def some(step, place=place):
            found = everything(step)
            del found[place]
            return found

        monkeypatch.setattr(operator_trace, "operations", some)
        with pytest.raises(DeepbenchError, match="which is not among its operations"):
            output_check.check(TorchBackend(), twin("mmoe"), "float32", operation)


def test_an_operation_that_the_step_does_not_call_is_noticed():
    """Or not as often as was found."""
    values = torch.ones(3)
    found = operator_trace.operations(lambda: values.exp().exp())
    with pytest.raises(DeepbenchError, match=r"leaves out .*exp"):
        operator_trace.run_with_only(values.exp, found)
    with pytest.raises(DeepbenchError, match=r"calls .*exp"):
        operator_trace.run_with_only(lambda: values.exp().exp().exp(), found)


def test_a_wrong_step_has_no_time_for_its_operations():
    """The whole step's output is judged after the clock has run, which itself leaves none."""
    kernel = apart()
    assert kernel.clock(1) > 0
    assert output_check.verify_output(kernel, run=False).ok
    expected, allowed = kernel.reference.truth
    kernel.reference.__dict__["truth"] = expected * 2, allowed
    with pytest.raises(DeepbenchError, match="its operations computes a wrong result"):
        output_check.verify_output(kernel, run=False)


def test_each_is_timed_as_often_as_the_steps_call_it():
    """After one call that does not count."""
    called = []

    def operation(name, calls):
        again = lambda: lambda: called.append(name)  # noqa: E731
        places = list(range(calls))
        return operator_trace.Operation(name, name, "", "", "", 0, 0, places, again=again)

    operator_timing.seconds([operation("a", 2), operation("b", 1)], 3, lambda: None)
    assert ["a"] * 7 + ["b"] * 4 == called


def test_their_seconds_are_those_of_a_step_however_many_are_timed(monkeypatch):
    clock = iter([0.0, 12.0, 12.0, 15.0])
    monkeypatch.setattr(operator_timing.time, "perf_counter", lambda: next(clock))
    one = operator_trace.Operation("a", "a", "", "", "", 0, 0, [0])
    assert 5.0 == operator_timing.seconds([one, one], 3, lambda: None)


def test_repeating_an_operation_leaves_the_steps_operands_as_they_were():
    values, kept = torch.ones(3), torch.full((3,), 2.0)
    (found,) = operator_trace.operations(lambda: values.mul_(kept))
    call = found.again()
    assert [4.0, 8.0] == [float(call()[0]) for _ in range(2)]
    assert [2.0, 2.0, 2.0] == values.tolist()


def test_what_cannot_be_repeated_alone_is_on_record(monkeypatch):
    """With its name and how often a step calls it."""
    monkeypatch.setattr(
        operator_trace.Operation, "repeats", property(lambda one: one.name != "_softmax")
    )
    notes = apart().notes
    assert "16, called 27 times" == notes["operations"]
    assert "1, called 2 times: _softmax" == notes["not repeated alone"]


def test_they_are_measured_with_the_yardstick_of_their_step():
    """Which of the two it is goes by FLOPs and bytes."""
    for operation in APART:
        whole = TorchBackend().build(MMOE, "float32", computed(operation))
        found = apart(operation=operation)
        assert (whole.flops, whole.bytes) == (found.flops, found.bytes)


def test_asv_gets_seconds_and_the_record_what_they_are_of(monkeypatch):
    monkeypatch.setenv("DEEPBENCH_FRAMEWORK", "torch")
    kernel_measurement._backend.cache_clear()
    written = []
    monkeypatch.setattr(record_handover, "write", written.append)
    prepared = kernel_measurement.prepare("model", "mmoe_b1", "float32", "forward_operations")
    kernel_measurement._backend.cache_clear()
    answer = kernel_measurement.timed(
        prepared, "model.InferenceServer.kernel_forward_operations", ()
    )
    assert min(answer["samples"]) > 0
    assert "16, called 27 times" == written[0]["notes"]["operations"]


def test_batches_at_once_are_refused():
    with pytest.raises(Unsupported, match="not for 2 batches at once"):
        apart(replace(MMOE, threads=2))


@pytest.mark.parametrize("operation", APART)
def test_compiled_steps_are_not_taken_apart(operation):
    backend = TorchBackend()
    backend.execution = "compiled"
    with pytest.raises(Unsupported, match=f"a model {operation} is run eager alone"):
        backend.build(MMOE, "float32", operation)


def test_cold_caches_are_refused(monkeypatch):
    """They would be filed as cold, and were not."""
    monkeypatch.setenv("DEEPBENCH_CACHE", "cold")
    with pytest.raises(Unsupported, match="not measured with cold caches"):
        apart()


def test_other_frameworks_say_that_they_cannot():
    with pytest.raises(Unsupported, match="numpy cannot list the operations of a training_step"):
        NumpyBackend().build(MMOE, "float32", "training_step_operations")


def test_operands_that_stay_are_counted_before_they_are_allocated():
    kept = MARGIN * 4 * MMOE.network.kept * MMOE.items
    for whole, operations in zip(Model.operations, APART, strict=True):
        more = memory_needed(MMOE, operations) - memory_needed(MMOE, whole)
        assert pytest.approx(kept) == more


@pytest.mark.parametrize(("alone", "expected"), [(0.75, 0.25), (1.25, -0.25), (1.6, None)])
def test_an_overhead_that_no_quiet_machine_shows_is_unknown(alone, expected):
    operation = SimpleNamespace(calls=1)

    assert expected == StepBreakdown(1.0, (OperationShare(operation, 1.0, alone),)).overhead
