"""Frameworks that compile their kernels: the kernels of each, judged by float64, and its gaps."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from installed_frameworks import functional, skip_without

from deepbench_ops import backends
from deepbench_ops.backends import backend_check_table, output_check
from deepbench_ops.backends.latest_output import LatestOutput
from deepbench_ops.errors import Unsupported
from deepbench_ops.problems.conv import Conv
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.rnn import GATES, Rnn
from deepbench_ops.problems.sparse_gemm import SparseGemm

EVERY = ("jax", "onnxruntime", "openvino", "tensorflow", "mindspore")
"""Frameworks that have the kernels in HAS. Others are not listed: a new one needs no entry."""

GEMMS = [
    Gemm(m=m, n=n, k=33, a_transposed=a, b_transposed=b)
    for m, n, a, b in (
        (17, 9, False, False),
        (17, 9, True, False),
        (17, 9, False, True),
        (17, 9, True, True),
        (17, 1, False, False),
        (1, 9, True, True),
    )
]
CONVS = [
    Conv(w=12, h=9, c=5, n=2, k=6, r=3, s=3, pad_w=1, pad_h=1),
    Conv(w=23, h=11, c=1, n=1, k=4, r=5, s=7, stride_w=2, stride_h=3),
    Conv(w=14, h=14, c=8, n=3, k=4, r=1, s=1, stride_w=2, stride_h=2),
    Conv(w=16, h=13, c=4, n=1, k=8, r=3, s=5, pad_w=2, pad_h=0, stride_w=1, stride_h=2),
]
RNNS = [Rnn(cell, hidden=13, batch=4, timesteps=6) for cell in GATES]
RNNS += [Rnn(cell, hidden=8, batch=1, timesteps=1) for cell in GATES]
SPARSE = [
    SparseGemm(m=40, n=7, k=60, sparsity=0.9),
    SparseGemm(m=40, n=1, k=60, sparsity=0.9),
]
PROBLEMS = {"gemm": GEMMS, "conv": CONVS, "rnn": RNNS, "sparse_gemm": SPARSE}

HAS = {
    ("gemm", "forward", "float32"): EVERY,
    ("gemm", "forward", "bfloat16"): ("jax", "tensorflow"),
    ("gemm", "forward", "int8"): ("jax", "onnxruntime", "tensorflow"),
    ("conv", "forward", "float32"): EVERY,
    ("conv", "forward", "int8"): ("onnxruntime",),
    ("conv", "backward_data", "float32"): ("jax", "mindspore"),
    ("conv", "backward_weights", "float32"): ("jax", "mindspore"),
    ("rnn", "forward", "float32"): EVERY,
    ("rnn", "backward", "float32"): ("jax", "tensorflow", "mindspore"),
    ("rnn", "fused_forward", "float32"): ("onnxruntime", "openvino", "tensorflow"),
    ("rnn", "fused_backward", "float32"): ("tensorflow",),
    ("sparse_gemm", "forward", "float32"): ("jax", "onnxruntime", "tensorflow"),
    ("sparse_gemm", "dense_forward", "float32"): EVERY,
    ("sparse_gemm", "conversion", "float32"): ("jax", "tensorflow"),
}
"""Precisions that each must have in every release; others it may have, right, or refuse."""


def kernels():
    for family, some in PROBLEMS.items():
        for operation in some[0].operations:
            for precision in PRECISIONS:
                yield family, operation, precision


@pytest.mark.parametrize(("family", "operation", "precision"), list(kernels()))
@pytest.mark.parametrize("name", backends.NAMES)
def test_a_kernel_is_right_or_refused_with_a_reason(name, family, operation, precision):
    """On every small problem the output is within the precision's tolerance, or there is none."""
    backend = functional(name)
    skip_without(backend, family)
    refused = Counter()
    for problem in PROBLEMS[family]:
        try:
            found = output_check.check(backend, problem, precision, operation)
        except Unsupported as reason:
            refused[str(reason)] += 1
        else:
            assert found.ok, (problem.id, found)
    must = name in HAS.get((family, operation, precision), ())
    if must:
        assert sum(refused.values()) < len(PROBLEMS[family]), refused
    if refused:
        assert all(len(reason) > 20 for reason in refused)


@pytest.mark.parametrize("name", backends.NAMES)
def test_what_runs_forward_has_a_first_call(name):
    """In every family and precision that the framework must have."""
    backend = functional(name)
    if not backend.compiles:
        pytest.skip(f"{name} compiles nothing")
    for (family, operation, precision), names in HAS.items():
        if operation == "forward" and name in names:
            problem = PROBLEMS[family][0]
            assert output_check.check(backend, problem, precision, "first_call").ok, (
                family,
                precision,
            )


@pytest.mark.parametrize("operation", Conv.operations)
@pytest.mark.parametrize("name", ("jax", "tensorflow"))
def test_channels_last_is_the_same_convolution(name, operation):
    """With channels inside, the output is that of the published layout, by its logical axes."""
    backend = functional(name)
    backend.layout = "channels_last"
    for problem in CONVS:
        try:
            assert output_check.check(backend, problem, "float32", operation).ok, problem.id
        except Unsupported as reason:
            assert "first layer" in str(reason)


@pytest.mark.parametrize("name", ("onnxruntime", "openvino", "mindspore"))
def test_some_have_no_channels_last(name):
    """A layout that ONNX does not describe, or a framework does not have, is refused in words."""
    backend = functional(name)
    backend.layout = "channels_last"
    with pytest.raises(Unsupported, match="in NCHW only"):
        backend.build(CONVS[0], "float32")


@pytest.mark.parametrize("operation", ("forward", "backward"))
@pytest.mark.parametrize("cell", GATES)
@pytest.mark.parametrize("name", backends.NAMES)
def test_entries_of_a_recurrence_are_judged_step_by_step(name, cell, operation):
    """Of a size that is too large for float64 as a whole, a few entries are still compared."""
    backend = functional(name)
    problem = Rnn(cell, hidden=96, batch=8, timesteps=40)
    try:
        kernel = backend.build(problem, "float32", operation)
    except Unsupported as reason:
        assert operation == "backward", reason
        return
    assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize("name", backends.NAMES)
def test_an_output_is_that_of_the_newest_run(name):
    """Nothing can be read before a run or after a reset, and runs do not add up."""
    kernel = functional(name).build(GEMMS[0], "float32")
    kernel.reset()
    with pytest.raises(AssertionError, match="has not run"):
        kernel.result()
    kernel.run()
    once = kernel.result()
    kernel.run()
    np.testing.assert_array_equal(once, kernel.result())


@pytest.mark.parametrize("name", backends.NAMES)
def test_notes_tell_layout_route_and_operands(name):
    """A record says how a kernel was set up, without anybody having to read the code."""
    backend = functional(name)
    for some in PROBLEMS.values():
        notes = backend.build(some[0], "float32", "dense_forward" if some is SPARSE else "forward")
        assert {"inputs", "layout", "padding", "route", "output"} <= set(notes.notes)


CORES = """
import sys, time
from deepbench_ops import backends, problems
backend = backends.load(sys.argv[1])
backend.set_threads(int(sys.argv[2]))
kernel = backend.build(problems.find("gemm", "m1760_n128_k1760_NN"), "float32")
began, spent = time.perf_counter(), time.process_time()
for _ in range(60):
    kernel.run()
kernel.synchronise()
print((time.process_time() - spent) / (time.perf_counter() - began))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", backends.NAMES)
def test_one_thread_is_one_thread(name):
    """Asked for one, a framework keeps no more than one core busy with a large product."""
    functional(name)
    command = [sys.executable, "-c", CORES, name, "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout.split()[-1]) < 1.2


@pytest.mark.parametrize("name", backends.NAMES)
def test_threads_are_settled_by_the_first_kernel(name):
    """Asked for another number later, a framework says that it keeps its threads."""
    backend = functional(name)
    count = backend.threads()
    backend.build(GEMMS[0], "float32")
    backend.set_threads(count)
    with pytest.raises(Unsupported, match="start a new process"):
        backend.set_threads(count + 1)


@pytest.mark.parametrize("name", EVERY[1:])
def test_a_framework_of_the_cpu_refuses_other_devices(name):
    """The reason names the framework and the device."""
    pytest.importorskip(name)
    with pytest.raises(Unsupported, match=f"{name} runs on the cpu only, not on cuda"):
        backends.load(name, "cuda")


def test_the_newest_output_replaces_the_last():
    """Each run's output is kept until the next, and a reset lets it go."""
    numbers = iter(range(3))
    newest = LatestOutput(lambda: next(numbers))
    newest.run()
    newest.run()
    assert (1, 2) == (newest.output, newest.calls)
    newest.reset()
    assert newest.output is None


@pytest.mark.parametrize("name", backends.NAMES)
def test_the_sweep_shows_no_wrong_kernel(name):
    """`deepbench backends`, which asks for one kind of each family, finds none wrong."""
    functional(name)
    found = backend_check_table.rows([name], ["cpu"], list(PROBLEMS), ["float32"], kinds=1)
    assert [] == [row for row in found if row.verdict == backend_check_table.WRONG]
