"""Backends: one table over frameworks, precisions and transposes, judged by float64."""

import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, eager, loaded

from deepbench_ops import backends
from deepbench_ops.backends import families, output_check
from deepbench_ops.backends.families.gemm import GemmReference
from deepbench_ops.backends.families.gemm import inputs as gemm_inputs
from deepbench_ops.backends.numpy_backend import loaded_blas
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.backends.run_cache import RunCache
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.all_reduce import AllReduce
from deepbench_ops.problems.gemm import Gemm
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.problem_lists import TYPES
from deepbench_ops.problems.softmax import Softmax
from deepbench_ops.random_operands import ALIGNMENT, PART, floats, round_to

TRANSPOSES = list(product((False, True), repeat=2))
NEVER_ON_CPU = {
    ("numpy", "tf32"): "numpy has no tf32",
    ("numpy", "bfloat16"): "numpy has no bfloat16",
    ("torch", "tf32"): "tf32 exists only on NVIDIA GPUs",
}
CASES = [
    (name, device, precision)
    for name, device in PLACES
    for precision in PRECISIONS
    if device == "cuda" or (name, precision) not in NEVER_ON_CPU
]
SIZES = st.integers(min_value=1, max_value=70)


def built(backend, problem, precision, **more):
    """Return a kernel, or skip where this release or processor has no right one."""
    try:
        kernel = backend.build(problem, precision, **more)
    except Unsupported as reason:
        pytest.skip(str(reason))
    if (backend.name, precision) == ("torch", "int8") and int8_may_saturate(backend):
        pytest.skip("int8 products saturate on an x86 processor without VNNI instructions")
    return kernel


@cache
def int8_may_saturate(backend):
    """Return whether the processor, and not the code under test, makes int8 sums wrong."""
    flags = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or not flags.exists() or "vnni" in flags.read_text():
        return False
    return not output_check.check(backend, Gemm(m=61, n=53, k=131), "int8").ok


def judged(kernel):
    """Return (computed - expected) / allowed at the worst entry, 0 where exact."""
    expected, allowed = kernel.reference.everywhere()
    error = np.abs(kernel.result() - expected)
    return np.max(np.divide(error, allowed, out=1e300 * (error > 0), where=allowed > 0))


@pytest.mark.parametrize(("a_transposed", "b_transposed"), TRANSPOSES)
@pytest.mark.parametrize(("name", "device", "precision"), CASES)
def test_every_kernel_passes_its_check(name, device, precision, a_transposed, b_transposed):
    """Every entry of a small problem is within the precision's tolerance."""
    backend = eager(name, device)
    problem = Gemm(m=1760, n=7000, k=2048, a_transposed=a_transposed, b_transposed=b_transposed)
    built(backend, families.small(problem), precision)
    found = output_check.check(backend, problem, precision)
    assert (True, True) == (found.ok, found.error <= found.tolerance)


@pytest.mark.parametrize(("name", "device", "precision"), CASES)
@settings(max_examples=12, deadline=None)
@given(m=SIZES, n=SIZES, k=SIZES, turned=st.sampled_from(TRANSPOSES), seed=st.integers(0, 99))
def test_any_shape_is_computed_right(name, device, precision, m, n, k, turned, seed):
    """C becomes C + op(A)·op(B) for all sizes, 1 included."""
    backend = eager(name, device)
    problem = Gemm(m=m, n=n, k=k, a_transposed=turned[0], b_transposed=turned[1])
    kernel = built(backend, problem, precision, seed=seed)
    kernel.run()
    kernel.synchronise()
    assert judged(kernel) <= 1
    assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize(("name", "device", "precision"), CASES)
def test_single_rows_and_columns_are_computed_right(name, device, precision):
    """Every mix of one and many along m, n and k, where libraries take other paths, is right."""
    backend = eager(name, device)
    for (m, n, k), turned in product(product((1, 40), repeat=3), TRANSPOSES):
        problem = Gemm(m=m, n=n, k=k, a_transposed=turned[0], b_transposed=turned[1])
        kernel = built(backend, problem, precision)
        kernel.run()
        kernel.synchronise()
        assert (problem.id, True) == (problem.id, bool(judged(kernel) <= 1))


@pytest.mark.parametrize(("name", "device", "precision"), CASES)
def test_output_accumulates_and_reset_restores_it(name, device, precision):
    """Three runs add the product three times, and reset gives back exactly the initial C."""
    backend = eager(name, device)
    kernel = built(backend, Gemm(m=23, n=9, k=31), precision)
    initial = gemm_inputs(Gemm(m=23, n=9, k=31), precision).c.astype(float)
    for _ in range(3):
        kernel.run()
    kernel.synchronise()
    expected, allowed = kernel.reference.everywhere()
    thrice = initial + 3 * (expected - initial)
    assert np.all(np.abs(kernel.result() - thrice) <= 9 * allowed)
    kernel.reset()
    np.testing.assert_array_equal(initial, kernel.result())


@pytest.mark.parametrize(("name", "device", "precision"), CASES)
def test_output_stays_finite_however_often_it_is_added_to(name, device, precision):
    """A sample of very many runs without a reset does not turn C into infinities."""
    kernel = built(eager(name, device), Gemm(m=5, n=4, k=64), precision)
    for _ in range(20000):
        kernel.run()
    kernel.synchronise()
    assert np.isfinite(kernel.result()).all()


@pytest.mark.parametrize(
    ("name", "device"), [("numpy", "cpu"), ("torch", "cpu"), ("torch", "cuda")]
)
def test_int8_extremes_are_summed_without_saturation(name, device, monkeypatch):
    """Products of -128 by -128, which overflow 16 bits when two are added, come out exact."""
    backend = eager(name, device)
    extremes = gemm_inputs(Gemm(m=40, n=48, k=2560), "int8")
    extremes.a[...] = -128
    extremes.b[...] = -128
    monkeypatch.setattr("deepbench_ops.backends.families.gemm.inputs", lambda *_: extremes)
    kernel = built(backend, Gemm(m=40, n=48, k=2560), "int8")
    kernel.run()
    kernel.synchronise()
    np.testing.assert_array_equal(extremes.c.astype(np.int64) + 2560 * 2**14, kernel.result())


@pytest.mark.parametrize(("name", "device", "precision"), CASES)
def test_work_and_traffic_are_those_of_the_unpadded_problem(name, device, precision):
    """A kernel reports the published FLOPs and bytes, whatever it had to pad."""
    problem = Gemm(m=35, n=3, k=129, b_transposed=True)
    kernel = built(eager(name, device), problem, precision)
    assert (problem.flops, problem.bytes(precision)) == (kernel.flops, kernel.bytes)
    assert {"inputs", "layout", "padding", "route"} <= set(kernel.notes)
    assert "column-major, A stored m x k, B stored n x k" == kernel.notes["layout"]


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_frameworks_get_the_same_operands(precision):
    """Two frameworks start from the same C and have the same result within the tolerance."""
    problem = Gemm(m=33, n=21, k=65, a_transposed=True)
    ours = loaded("numpy").build(problem, precision, seed=5)
    theirs = built(loaded("torch"), problem, precision, seed=5)
    np.testing.assert_array_equal(ours.result(), theirs.result())
    for kernel in (ours, theirs):
        kernel.run()
    allowed = ours.reference.everywhere()[1]
    assert np.all(np.abs(ours.result() - theirs.result()) <= 2 * allowed)


def wrong(kernel, compute):
    """Return `kernel` with an operation of ours in place of the framework's."""
    inputs = kernel.reference.inputs
    a, b, initial = (x.astype(np.float64) for x in (inputs.a, inputs.b, inputs.c))
    state = {"c": initial}
    return replace(
        kernel,
        run=lambda: state.update(c=compute(a, b, state["c"])),
        reset=lambda: state.update(c=initial),
        result=lambda: state["c"],
        peek=lambda index: state["c"][index],
    )


def with_one_entry_off(a, b, c):
    c = a @ b + c
    c[-1, -1] += 0.01
    return c


MISTAKES = {
    "beta is zero": lambda a, b, c: a @ b,
    "beta is two": lambda a, b, c: a @ b + 2 * c,
    "one product is dropped": lambda a, b, c: a[:, :-1] @ b[:-1] + c,
    "a product is counted twice": lambda a, b, c: a @ b + np.outer(a[:, 0], b[0]) + c,
    "A is not transposed": lambda a, b, c: a.T @ b + c,
    "B is not transposed": lambda a, b, c: a @ b.T + c,
    "rows are shifted": lambda a, b, c: np.roll(a @ b, 1, axis=0) + c,
    "operands are rounded to tf32": lambda a, b, c: rounded(a, "tf32") @ rounded(b, "tf32") + c,
    "operands are rounded to bfloat16": lambda a, b, c: (
        rounded(a, "bfloat16") @ rounded(b, "bfloat16") + c
    ),
    "nothing is done": lambda a, b, c: c,
    "zeros": lambda a, b, c: np.zeros_like(c),
    "not a number": lambda a, b, c: np.full_like(c, np.nan),
    "only a corner is wrong": with_one_entry_off,
}


def rounded(values, precision):
    return round_to(values.astype(np.float32), precision).astype(np.float64)


@pytest.mark.parametrize("size", [61, 300])
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_wrong_kernels_are_found_out(mistake, size):
    """Each mistake fails both looks, while the right operation in the same guise passes."""
    problem = Gemm(m=size, n=size, k=size, a_transposed=True)

    class Wrong(NumpyBackend):
        def build(self, *what):
            return wrong(super().build(*what), self.compute)

    Wrong.compute = staticmethod(lambda a, b, c: a @ b + c)
    assert output_check.check(Wrong(), problem, "float32").ok
    assert output_check.spot_check(Wrong().build(problem, "float32")).ok
    Wrong.compute = staticmethod(mistake)
    square = replace(problem, m=53, n=53, k=53)
    assert not output_check.check(Wrong(), square, "float32").ok
    found = output_check.spot_check(Wrong().build(problem, "float32"))
    assert not found.ok
    with pytest.raises(DeepbenchError, match="m53_n53_k53_TN computes a wrong"):
        output_check.verify(Wrong(), square, "float32")
    message = f"numpy cpu float32 forward {problem.id} computes a wrong"
    with pytest.raises(DeepbenchError, match=message):
        output_check.verify_output(Wrong().build(problem, "float32"))


@pytest.mark.parametrize("off", [-1, 1])
def test_an_int8_sum_off_by_one_is_found_out(off):
    """Integers have no tolerance."""
    kernel = NumpyBackend().build(Gemm(m=20, n=10, k=3000), "int8")
    assert output_check.spot_check(wrong(kernel, lambda a, b, c: a @ b + c)).ok
    assert not output_check.spot_check(wrong(kernel, lambda a, b, c: a @ b + c + off)).ok


def test_a_reset_that_restores_nothing_is_found_out():
    """The check runs a kernel twice, so that a reset without effect shows."""

    class Wrong(NumpyBackend):
        def build(self, *what):
            return replace(super().build(*what), reset=lambda: None)

    assert not output_check.check(Wrong(), Gemm(m=30, n=30, k=30), "float32").ok


def test_an_output_of_another_shape_is_found_out():
    """numpy would repeat its entries along the missing axis, and find all of them right."""

    class Flat(NumpyBackend):
        def build(self, *what):
            kernel = super().build(*what)
            return replace(kernel, result=lambda: kernel.result()[0])

    with pytest.raises(DeepbenchError, match=r"the shape \(9,\) where \(1, 9\) is right"):
        output_check.check(Flat(), Softmax(1, 9), "float32")


def test_a_verified_kind_is_not_checked_again(monkeypatch):
    """A second problem of the same kind costs no run."""
    calls = []
    monkeypatch.setattr(output_check, "_passed", RunCache("here"))
    monkeypatch.setattr(
        output_check, "check", lambda *_: calls.append(1) or output_check.Check(0.0, 1.0, ok=True)
    )
    for problem in (Gemm(m=512, n=700, k=900), Gemm(m=513, n=701, k=5000), Gemm(m=512, n=1, k=900)):
        output_check.verify(NumpyBackend(), problem, "float32")
    assert 2 == len(calls)


def test_what_was_found_wrong_is_checked_again(monkeypatch):
    """Only a pass is remembered: a kernel that is wrong once has to show that it is right."""
    verdicts = iter([False, True])
    monkeypatch.setattr(output_check, "_passed", RunCache("here"))
    monkeypatch.setattr(
        output_check, "check", lambda *_: output_check.Check(2.0, 1.0, ok=next(verdicts))
    )
    with pytest.raises(DeepbenchError, match="computes a wrong"):
        output_check.verify(NumpyBackend(), Gemm(m=8, n=8, k=8), "float32")
    assert output_check.verify(NumpyBackend(), Gemm(m=8, n=8, k=8), "float32").ok


@pytest.mark.parametrize(("name", "precision"), NEVER_ON_CPU)
def test_what_cannot_be_done_is_refused_with_the_reason(name, precision):
    """A precision that a framework lacks raises Unsupported, which says why."""
    with pytest.raises(Unsupported, match=NEVER_ON_CPU[name, precision]):
        loaded(name).build(Gemm(m=8, n=8, k=8), precision)


def test_numpy_refuses_a_gpu():
    """numpy on cuda is unsupported rather than quietly run on the cpu."""
    with pytest.raises(Unsupported, match="numpy runs on the cpu only, not on cuda"):
        backends.load("numpy", "cuda")


def test_torch_without_a_gpu_says_so():
    """torch on cuda without CUDA or a GPU names its release and the missing part."""
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(Unsupported, match=r"^torch \S+ (is built with|finds no usable GPU)"):
        backends.load("torch", "cuda")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (NotImplementedError("Could not run 'aten::_int_mm' with arguments"), Unsupported),
        (RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Char'"), Unsupported),
        (AttributeError("module 'torch' has no attribute '_int_mm'"), Unsupported),
        (RuntimeError("an illegal memory access was encountered"), RuntimeError),
    ],
)
def test_a_missing_operation_is_distinguished_from_a_fault(monkeypatch, error, expected):
    """An operation that a release lacks is Unsupported with its words; a fault is passed on."""
    backend = loaded("torch")

    def fails(*_, **__):
        raise error

    monkeypatch.setattr("torch._int_mm", fails, raising=False)
    with pytest.raises(expected) as raised:
        output_check.check(backend, Gemm(m=8, n=8, k=8), "int8")
    assert type(raised.value) is expected
    assert str(error) in str(raised.value)


def test_the_name_of_a_call_is_no_part_of_a_reason():
    """It differs from call to call, so that equal reasons would look different."""
    error = RuntimeError("{{function_node lambda_5}} The op has no kernel here")
    said = output_check._missing_reason(
        loaded("numpy"), Gemm(m=8, n=8, k=8), "float32", "forward", error
    )
    assert said.endswith("has no float32 gemm forward on cpu: The op has no kernel here")


def test_a_reason_is_the_error_without_the_lines_of_torchscript():
    """These lines fill a reason before the error itself, which comes last."""
    torch = pytest.importorskip("torch")

    def loop(x: torch.Tensor) -> torch.Tensor:
        return torch.mm(x, x)

    with pytest.raises(RuntimeError, match="TorchScript interpreter") as raised:
        torch.jit.script(loop)(torch.ones(1))
    said = output_check._missing_reason(
        loaded("torch"), Gemm(m=8, n=8, k=8), "float16", "forward", raised.value
    )
    assert said.endswith("has no float16 gemm forward on cpu: self must be a matrix")


@pytest.mark.parametrize(("a_transposed", "b_transposed"), TRANSPOSES)
def test_padding_changes_neither_result_nor_flops(monkeypatch, a_transposed, b_transposed):
    """The padding that a GPU demands, applied on the cpu, is noted and leaves C exact."""
    backend = loaded("torch")
    monkeypatch.setattr("deepbench_ops.backends.torch_backend.gemm.INT8_MULTIPLE", {"cpu": 8})
    monkeypatch.setattr("deepbench_ops.backends.torch_backend.gemm.INT8_LEAST_N", {"cpu": 24})
    problem = Gemm(m=35, n=1, k=129, a_transposed=a_transposed, b_transposed=b_transposed)
    kernel = built(backend, problem, "int8")
    kernel.run()
    assert kernel.notes["padding"].startswith("m 35 to 40, n 1 to 24, k 129 to 136")
    assert 2 * 35 * 1 * 129 == kernel.flops
    assert 0 == judged(kernel)
    assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize(("a_transposed", "b_transposed"), TRANSPOSES)
def test_float32_numpy_multiplies_without_a_copy(a_transposed, b_transposed):
    """No run allocates anything near the size of an operand, so BLAS got them as they lie."""
    problem = Gemm(m=300, n=200, k=400, a_transposed=a_transposed, b_transposed=b_transposed)
    kernel = NumpyBackend().build(problem, "float32")
    kernel.run()
    tracemalloc.start()
    kernel.run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4096


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_torch_writes_a_column_major_output_in_place(precision):
    """addmm_ is called on C itself, whose columns are contiguous."""
    kernel = built(loaded("torch"), Gemm(m=12, n=7, k=5), precision)
    first, second = kernel.run(), kernel.run()
    assert ((1, 12), first.data_ptr()) == (first.stride(), second.data_ptr())


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(("a_transposed", "b_transposed"), TRANSPOSES)
def test_operands_lie_column_major_and_aligned(precision, a_transposed, b_transposed):
    """op(A) has unit stride along rows, along columns when its storage is transposed."""
    problem = Gemm(m=7, n=5, k=3, a_transposed=a_transposed, b_transposed=b_transposed)
    drawn = gemm_inputs(problem, precision)
    unit = [x.itemsize for x in (drawn.a, drawn.b, drawn.c)]
    along = [drawn.a.strides[a_transposed], drawn.b.strides[b_transposed], drawn.c.strides[0]]
    assert [(7, 3), (3, 5), (7, 5)] == [x.shape for x in (drawn.a, drawn.b, drawn.c)]
    assert unit == along
    assert [0, 0, 0] == [x.ctypes.data % ALIGNMENT for x in (drawn.a, drawn.b, drawn.c)]


@pytest.mark.parametrize(
    ("precision", "expected"),
    [
        ("float32", "41c25ba813"),
        ("tf32", "086ad427cb"),
        ("bfloat16", "e065d4baf5"),
        ("float16", "71b2db48a8"),
        ("int8", "8c243e1566"),
    ],
)
def test_inputs_are_the_same_for_ever(precision, expected):
    """A seed gives these very operands in every release of numpy."""
    drawn = gemm_inputs(Gemm(m=33, n=17, k=65), precision, seed=7)
    stored = b"".join(np.ascontiguousarray(x.T).tobytes() for x in (drawn.a, drawn.b, drawn.c))
    assert expected == hashlib.sha1(stored).hexdigest()[:10]


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_floats_are_uniform_and_products_have_unit_variance(precision):
    """Operands fill their interval evenly and A·B spreads about as wide as C itself does."""
    drawn = gemm_inputs(Gemm(m=90, n=80, k=900), precision)
    half_width = 0.1**0.5
    spread = drawn.a.astype(float).std() * np.sqrt(3) / half_width
    assert spread == pytest.approx(1, abs=0.01)
    assert np.abs(drawn.a).max() <= half_width * 1.01
    assert np.std(drawn.a.astype(float) @ drawn.b.astype(float)) == pytest.approx(1, abs=0.05)


def test_operands_are_the_same_whatever_the_number_of_processors(monkeypatch):
    """Of a large operand each part is a sequence of its own, and no two are alike."""
    shape = (3 * PART // 1000 + 1, 1000)
    drawn = floats(shape, "float32", 1.0, seed=1, stream=2)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    np.testing.assert_array_equal(drawn, floats(shape, "float32", 1.0, seed=1, stream=2))
    first, second, third, _ = np.split(drawn.ravel(), [PART, 2 * PART, 3 * PART])
    for one, other in ((first, second), (second, third), (first, third)):
        assert 0.01 > abs(np.corrcoef(one, other)[0, 1])
    np.testing.assert_array_equal(first, floats((PART,), "float32", 1.0, seed=1, stream=2))


def test_int8_covers_its_whole_range_evenly():
    """All 256 values occur, -128 among them, each about as often as the others."""
    drawn = gemm_inputs(Gemm(m=512, n=8, k=512), "int8").a
    counts = np.bincount(drawn.ravel().astype(int) + 128, minlength=256)
    assert 256 == np.count_nonzero(counts)
    assert counts.max() < 1.3 * counts.mean()


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=20))
def test_rounding_to_bfloat16_is_to_nearest(values):
    """The rounding of our own agrees bit for bit with torch's."""
    torch = pytest.importorskip("torch")
    original = np.array(values, dtype=np.float32)
    expected = torch.from_numpy(original.copy()).to(torch.bfloat16).to(torch.float32).numpy()
    np.testing.assert_array_equal(expected, round_to(original.copy(), "bfloat16"))


@given(st.floats(2.0**-100, 2.0**100, width=32), st.booleans())
def test_rounding_to_tf32_keeps_ten_bits(value, negative):
    """The result has ten fraction bits and is off by at most half of the last one."""
    value = np.float32(-value if negative else value)
    nearest = round_to(np.array([value]), "tf32")[0]
    scale = 2.0 ** (np.floor(np.log2(abs(float(value)))) - 10)
    assert 0 == float(nearest) % scale
    assert abs(float(nearest) - float(value)) <= scale / 2


@settings(deadline=None, max_examples=25)
@given(m=SIZES, n=SIZES, k=SIZES, precision=st.sampled_from(PRECISIONS))
def test_reference_at_some_entries_is_the_whole_reference(m, n, k, precision):
    """Judging a few entries applies the same values and tolerances as judging all."""
    kernel = GemmReference(gemm_inputs(Gemm(m=m, n=n, k=k), precision), precision)
    index = output_check._entries(kernel.shape, 5, seed=1)
    for whole, some in zip(kernel.everywhere(), kernel.at(index), strict=True):
        np.testing.assert_allclose(whole[index], some, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", backends.NAMES)
def test_thread_count_is_what_was_set(name):
    """After set_threads every later operation may use that many."""
    backend = loaded(name)
    before = backend.threads()
    if name == "numpy" and loaded_blas.of_numpy() is None:
        pytest.skip("numpy's BLAS cannot be asked")
    try:
        backend.set_threads(1)
    except Unsupported as settled:
        assert "start a new process" in str(settled)
        pytest.skip(str(settled))
    assert 1 == backend.threads()
    backend.set_threads(before)
    assert before == backend.threads()


@pytest.mark.parametrize("name", backends.NAMES)
def test_versions_name_the_release_and_its_libraries(name):
    """The fingerprint holds the framework's release and the parts of its build, as text."""
    backend = loaded(name)
    found = backend.versions()
    release = importlib.metadata.version(name)
    assert f"{name} {release}" == found["framework"]
    assert {"numpy"} <= set(found)
    assert backend.compiles or name == "mindspore" or "blas" in found
    assert [] == [key for key, value in found.items() if not isinstance(value, str) or not value]


def test_loading_numpy_leaves_torch_alone():
    """A process that measures numpy never imports torch; nor does reading the names."""
    code = (
        "import sys; from deepbench_ops import backends;"
        "assert 'numpy' not in sys.modules;"
        "from deepbench_ops.backends import output_check; backends.load('numpy');"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ("False\n", "") == (done.stdout, done.stderr)


@pytest.mark.parametrize("call", ["load", "preload"])
def test_a_framework_that_is_not_installed_is_named(call):
    """The error says which framework is missing and how to get it."""
    code = (
        "import sys; sys.modules['torch'] = None;"
        "from deepbench_ops import backends; from deepbench_ops.errors import DeepbenchError\n"
        f"try: backends.{call}('torch')\n"
        "except DeepbenchError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert re.search(r"torch is not installed .* 'pip install torch'", done.stdout), done


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("torchh", "cpu"), "unknown framework 'torchh': choose one of numpy, torch"),
        (("numpy", "tpu"), "unknown device 'tpu': choose one of cpu, cuda"),
    ],
)
def test_unknown_names_are_refused(arguments, message):
    """An unknown framework or device is named together with the known ones."""
    with pytest.raises(DeepbenchError, match=message):
        backends.load(*arguments)


def test_unknown_precision_operation_and_family_are_refused():
    """An unknown name raises DeepbenchError, a family without kernels Unsupported."""
    backend = NumpyBackend()
    with pytest.raises(DeepbenchError, match="float33"):
        backend.build(Gemm(m=2, n=2, k=2), "float33")
    with pytest.raises(DeepbenchError, match="unknown gemm operation 'forwards'"):
        backend.build(Gemm(m=2, n=2, k=2), "float32", "forwards")
    with pytest.raises(Unsupported, match="this project has no all_reduce kernels for numpy"):
        backend.build(AllReduce(elements=9), "float32", "sum")


def test_a_framework_states_why_it_lacks_a_family():
    """The reason takes the place of the usual one."""

    class Stating(NumpyBackend):
        lacking_families: ClassVar = {"all_reduce": "numpy runs in one process"}

    with pytest.raises(Unsupported, match="numpy runs in one process"):
        Stating().build(AllReduce(elements=9), "float32", "sum")


@pytest.mark.parametrize("name", backends.NAMES)
def test_no_family_with_kernels_is_stated_to_be_lacking(name):
    """A reason is stated for families of this project that have no module in the framework."""
    backend = loaded(name)
    for family, reason in backend.lacking_families.items():
        assert backend.builder(family) is None
        assert family in TYPES
        assert reason.startswith(name)


@pytest.mark.parametrize("name", sorted({*backends.NAMES} - {"mindspore"}))
def test_the_reason_is_stated_for_each_lacking_family(name):
    """Users read why; of mindspore they read that this project has not written the kernels."""
    backend = loaded(name)
    in_one_process = [family for family, kind in TYPES.items() if not kind.ranks]
    lacking = {family for family in in_one_process if backend.builder(family) is None}
    assert lacking == {*backend.lacking_families}
