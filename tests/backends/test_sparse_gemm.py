"""Sparse products: one table over frameworks, precisions and operations, judged by float64."""

import hashlib
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from framework_table import refusals_of_others
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, eager, loaded, skip_without

from deepbench_ops import problems
from deepbench_ops.backends import families, output_check
from deepbench_ops.backends.families import sparse_gemm as family
from deepbench_ops.backends.families.sparse_gemm import Csr, concatenated, inputs
from deepbench_ops.backends.numpy_backend.backend import NumpyBackend
from deepbench_ops.backends.run_cache import RunCache
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems.precision import PRECISIONS
from deepbench_ops.problems.sparse_gemm import SparseGemm
from deepbench_ops.random_operands import ALIGNMENT, round_to

sparse = pytest.importorskip("scipy.sparse")
OPERATIONS = SparseGemm.operations
TRANSPOSES = list(product((False, True), repeat=2))
LACKING = {
    ("numpy", "tf32"): "numpy has no tf32",
    ("numpy", "bfloat16"): "numpy has no bfloat16",
    ("numpy", "float16"): "scipy.sparse does not support float16",
    ("numpy", "int8"): "adds int8 products up in int8, which overflows",
    ("torch", "tf32"): "tf32 exists only on NVIDIA GPUs",
    ("torch", "int8"): "no product of compressed rows with int8 values",
}
CASES = [
    (name, device, precision)
    for name, device in PLACES
    for precision in (PRECISIONS if any(name == known for known, _ in LACKING) else ("float32",))
    if (name, precision) not in LACKING
]
SIZES = st.integers(min_value=1, max_value=60)
SPARSITIES = st.sampled_from((0.0, 0.5, 0.9, 0.95, 0.99))


def backend_of(name, device="cpu"):
    """Return a backend that writes into arrays of its own and has sparse products, or skip."""
    backend = eager(name, device)
    skip_without(backend, SparseGemm.family)
    return backend


def ran(kernel):
    """Return the kernel after one run from its initial state."""
    kernel.reset()
    kernel.run()
    kernel.synchronise()
    return kernel


def judged(kernel):
    """Return whether every entry of the output is within the tolerance."""
    expected, allowed = kernel.reference.everywhere()
    return bool(np.all(np.abs(kernel.result() - expected) <= allowed))


@pytest.mark.parametrize("n", [1, 2, 1500])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("name", "device", "precision"), CASES)
def test_every_kernel_passes_its_check(name, device, precision, operation, n):
    """Every entry of a small problem is within the precision's tolerance."""
    problem = SparseGemm(m=7680, n=n, k=2560, sparsity=0.95)
    with refusals_of_others(name):
        found = output_check.check(backend_of(name, device), problem, precision, operation)
    assert (True, True) == (found.ok, found.error <= found.tolerance)


@pytest.mark.parametrize(("name", "device", "precision"), CASES)
@settings(max_examples=15, deadline=None)
@given(
    m=SIZES, n=SIZES, k=SIZES, sparsity=SPARSITIES, turned=st.sampled_from(TRANSPOSES),
    operation=st.sampled_from(OPERATIONS), seed=st.integers(0, 99),
)  # fmt: skip
def test_any_shape_is_computed_right(
    name, device, precision, m, n, k, sparsity, turned, operation, seed
):
    """The outputs are right for all sizes and numbers of values, none included."""
    backend = backend_of(name, device)
    problem = SparseGemm(m, n, k, *turned, sparsity)
    try:
        with refusals_of_others(name):
            kernel = backend.build(problem, precision, operation, seed)
    except Unsupported:
        assert ("torch", "forward", True) == (name, operation, problem.a_transposed)
        return
    assert judged(ran(kernel))
    assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("name", "device", "precision"), CASES)
def test_single_rows_and_columns_are_computed_right(name, device, precision, operation):
    """Every mix of one and many along m, n and k, where libraries take other paths, is right."""
    backend = backend_of(name, device)
    for m, n, k in product((1, 40), repeat=3):
        problem = SparseGemm(m, n, k, sparsity=0.9)
        with refusals_of_others(name):
            kernel = ran(backend.build(problem, precision, operation))
        assert (problem.id, True) == (problem.id, judged(kernel))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("name", "device", "precision"), CASES)
def test_a_second_run_gives_the_same_and_a_reset_takes_it_away(name, device, precision, operation):
    """C is written again in every run, and after a reset nothing of it is left to pass a check."""
    problem = SparseGemm(23, 9, 31, sparsity=0.9)
    with refusals_of_others(name):
        kernel = ran(backend_of(name, device).build(problem, precision, operation))
    once = kernel.result()
    kernel.run()
    kernel.synchronise()
    np.testing.assert_array_equal(once, kernel.result())
    kernel.reset()
    assert (True, False) == (bool(np.isnan(kernel.result()).all()), judged(kernel))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("name", "device", "precision"), CASES)
def test_work_and_traffic_are_those_of_the_operation(name, device, precision, operation):
    """A kernel reports the operation's own FLOPs and bytes, and notes how it was set up."""
    problem = SparseGemm(35, 3, 129, sparsity=0.9)
    with refusals_of_others(name):
        kernel = backend_of(name, device).build(problem, precision, operation)
    expected = problem.flops_of(operation), problem.bytes_of(precision, operation)
    assert expected == (kernel.flops, kernel.bytes)
    assert {"inputs", "layout", "padding", "route"} <= set(kernel.notes)
    assert ("int32 positions" in kernel.notes["layout"]) == (operation == "forward")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_frameworks_get_the_same_operands(operation):
    """Two frameworks have the same output within the tolerance, the same CSR exactly."""
    problem = SparseGemm(33, 21, 65, sparsity=0.9)
    ours, theirs = (
        ran(loaded(name).build(problem, "float32", operation, seed=5))
        for name in ("numpy", "torch")
    )
    allowed = ours.reference.everywhere()[1]
    assert np.all(np.abs(ours.result() - theirs.result()) <= 2 * allowed)


def wrong(kernel, compute):
    """Return `kernel` with an operation of ours in place of the framework's."""
    judge = kernel.reference
    a, b = judge.a.dense().astype(np.float64), judge.b.astype(np.float64)
    state = {}
    return replace(
        kernel,
        run=lambda: state.update(c=compute(a, b, state["c"])),
        reset=lambda: state.update(c=np.zeros(judge.shape)),
        result=lambda: state["c"],
        peek=lambda index: state["c"][index],
    )


def without_the_last_value(a):
    """Return A without the last value of each row."""
    a = a.copy()
    for row in a:
        row[np.flatnonzero(row)[-1:]] = 0
    return a


def values_first(a):
    """Return A with the values of each row in its first columns."""
    moved = np.zeros_like(a)
    for to, row in zip(moved, a, strict=True):
        values = row[row != 0]
        to[: values.size] = values
    return moved


def rounded(values, precision):
    return round_to(values.astype(np.float32), precision).astype(np.float64)


def summed_in_bfloat16(a, b):
    """Return A·B with every partial sum rounded to bfloat16."""
    total = np.zeros((a.shape[0], b.shape[1]))
    for column, row in zip(a.T, b, strict=True):
        total = rounded(total + np.outer(column, row), "bfloat16")
    return total


MISTAKES = {
    "C is added to": lambda a, b, c: a @ b + c + 1,
    "nothing is done": lambda a, b, c: c,
    "not a number": lambda a, b, c: np.full_like(c, np.nan),
    "the last value of each row is dropped": lambda a, b, c: without_the_last_value(a) @ b,
    "columns are off by one": lambda a, b, c: np.roll(a, 1, axis=1) @ b,
    "rows are off by one": lambda a, b, c: np.roll(a @ b, 1, axis=0),
    "the last row is missing": lambda a, b, c: np.vstack([(a @ b)[:-1], 0 * c[-1:]]),
    "the last column is missing": lambda a, b, c: np.hstack([(a @ b)[:, :-1], 0 * c[:, -1:]]),
    "positions are ignored": lambda a, b, c: values_first(a) @ b,
    "A is transposed": lambda a, b, c: a.T @ b,
    "B is transposed": lambda a, b, c: a @ b.T,
    "A is negative": lambda a, b, c: -a @ b,
    "operands are rounded to tf32": lambda a, b, c: rounded(a, "tf32") @ rounded(b, "tf32"),
    "operands are rounded to bfloat16": lambda a, b, c: (
        rounded(a, "bfloat16") @ rounded(b, "bfloat16")
    ),
    "sums are rounded to bfloat16": lambda a, b, c: summed_in_bfloat16(a, b),
}


class Wrong(NumpyBackend):
    """Computes the values that the test gives."""

    def build(self, *what):
        return wrong(super().build(*what), self.compute)


@pytest.mark.parametrize("operation", ["forward", "dense_forward"])
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_wrong_products_are_found_out(monkeypatch, mistake, operation):
    """Each mistake fails both looks, while the right operation in the same guise passes."""
    monkeypatch.setattr(output_check, "_passed", RunCache("here"))
    small = SparseGemm(53, 53, 53, sparsity=0.9)
    large = SparseGemm(300, 300, 300, sparsity=0.95)
    monkeypatch.setattr(Wrong, "compute", staticmethod(lambda a, b, c: a @ b), raising=False)
    assert output_check.check(Wrong(), small, "float32", operation).ok
    assert output_check.spot_check(Wrong().build(large, "float32", operation)).ok
    monkeypatch.setattr(Wrong, "compute", staticmethod(mistake))
    assert not output_check.check(Wrong(), small, "float32", operation).ok
    assert not output_check.spot_check(Wrong().build(large, "float32", operation)).ok
    with pytest.raises(DeepbenchError, match=r"_NN_sparsity0\.9 computes a wrong result"):
        output_check.verify(Wrong(), small, "float32", operation)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_sums_in_16_bits_are_found_out(precision):
    """A 16-bit product that also adds up in 16 bits fails at the length of a published row."""
    backend = loaded("torch")
    problem = SparseGemm(50, 40, 2560, sparsity=0.95)
    kernel = backend.build(problem, precision)
    assert output_check.spot_check(wrong(kernel, lambda a, b, c: rounded(a @ b, precision))).ok
    assert not output_check.spot_check(wrong(kernel, lambda a, b, c: summed_in_bfloat16(a, b))).ok


def swapped(a):
    """Return A with the first two values of its first full row in the wrong order."""
    row = np.flatnonzero(np.diff(a.offsets) > 1)[0]
    order = np.arange(a.values.size)
    at = a.offsets[row]
    order[[at, at + 1]] = order[[at + 1, at]]
    return Csr(a.offsets, a.columns[order], a.values[order], a.shape)


CONVERSION_MISTAKES = {
    "a value is dropped": lambda a: Csr(a.offsets, a.columns[:-1], a.values[:-1], a.shape),
    "a zero is stored": lambda a: Csr(
        a.offsets, np.append(a.columns, 0), np.append(a.values, 0), a.shape
    ),
    "offsets are off by one": lambda a: Csr(a.offsets + 1, a.columns, a.values, a.shape),
    "columns are out of order": swapped,
    "A is transposed": lambda a: a.transposed(),
    "values are rounded": lambda a: Csr(
        a.offsets, a.columns, round_to(a.values.copy(), "tf32"), a.shape
    ),
    "all is zero": lambda a: Csr(a.offsets * 0, a.columns * 0, a.values * 0, a.shape),
}


@pytest.mark.parametrize("mistake", CONVERSION_MISTAKES.values(), ids=CONVERSION_MISTAKES)
def test_wrong_conversions_are_found_out(mistake):
    """Each mistake in offsets, columns or values fails the check; compressed rows as such pass."""

    class Converting(NumpyBackend):
        convert = staticmethod(lambda a: a)

        def build(self, *what):
            kernel = super().build(*what)
            original = kernel.reference.a
            made = self.convert(original)
            values = concatenated(original, made.offsets, made.columns, made.values)
            return replace(kernel, result=lambda: values, peek=lambda index: values[index])

    problem = SparseGemm(53, 1, 53, sparsity=0.9)
    assert output_check.check(Converting(), problem, "float32", "conversion").ok
    Converting.convert = staticmethod(mistake)
    assert not output_check.check(Converting(), problem, "float32", "conversion").ok


@pytest.mark.parametrize(("name", "precision"), LACKING)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_cannot_be_multiplied_is_refused_with_the_reason(name, precision, operation):
    """No operation is measured at a precision in which the sparse product does not exist."""
    with pytest.raises(Unsupported, match=LACKING[name, precision]):
        loaded(name).build(SparseGemm(8, 8, 8, sparsity=0.5), precision, operation)


def test_scipy_still_overflows_in_int8():
    """The reason given for having no int8 holds: 100 times 100 does not come out as 10000."""
    hundred = np.full((1, 1), 100, dtype=np.int8)
    assert 10000 != (sparse.csr_array(hundred) @ hundred)[0, 0]


def test_numpy_without_scipy_says_so(monkeypatch):
    """Where scipy is missing the sparse kernels are skipped, and nothing else fails."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(Unsupported, match="scipy is not installed, and numpy"):
        NumpyBackend().build(SparseGemm(8, 8, 8, sparsity=0.5), "float32")


def test_scipy_is_named_and_left_alone_until_needed():
    """versions() has scipy's release without importing it."""
    code = (
        "import sys; from deepbench_ops import backends;"
        "print(backends.load('numpy').versions()['scipy'], 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (f"{sys.modules['scipy'].__version__} False\n", "") == (done.stdout, done.stderr)


def test_torch_refuses_what_it_would_convert_in_every_call():
    """A transposed A would be turned into new compressed rows each time, which is no product."""
    problem = SparseGemm(8, 8, 8, a_transposed=True, sparsity=0.5)
    with pytest.raises(Unsupported, match="new ones in every call"):
        loaded("torch").build(problem, "float32")


def product_of_torch_2_0(a, b, reduction):
    """Return A·B, each addition rounded to the type of both."""
    total = b.new_zeros(a.shape[0], b.shape[1])
    for column, row in zip(a.to_dense().t(), b, strict=True):
        total += column[:, None] * row
    return total


OLD_PRODUCTS = {
    "adds up products of compressed rows in bfloat16 on cpu, not in 32 bits": product_of_torch_2_0,
    "has no product of compressed rows in bfloat16 on cpu": lambda a, b: None,
}
"""torch.sparse.mm of torch 2.0 and of torch 1.13, by the reason for refusing it."""


@pytest.mark.parametrize("reason", OLD_PRODUCTS)
def test_torch_without_32_bit_sums_of_compressed_rows_says_so(monkeypatch, reason):
    """A release whose own loop is missing or adds up in 16 bits is no product here."""
    pytest.importorskip("torch")
    from deepbench_ops.backends.torch_backend.sparse_gemm import adds_up_exactly

    adds_up_exactly.cache_clear()
    monkeypatch.setattr("torch.sparse.mm", OLD_PRODUCTS[reason])
    with pytest.raises(Unsupported, match=rf"^torch \S+ {reason}"):
        loaded("torch").build(SparseGemm(8, 8, 8, sparsity=0.5), "bfloat16")
    adds_up_exactly.cache_clear()


def peak(call):
    """Return the bytes that one call held at most on top of those before."""
    call()
    tracemalloc.start()
    made = call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del made
    return most


@pytest.mark.parametrize("n", [1, 200])
@pytest.mark.parametrize("a_transposed", [False, True])
def test_scipy_multiplies_without_a_copy(a_transposed, n):
    """A product allocates the new C, 4·m·n bytes, and nothing near the size of an operand."""
    problem = SparseGemm(300, n, 4000, a_transposed, sparsity=0.95)
    kernel = NumpyBackend().build(problem, "float32")
    assert peak(lambda: (kernel.reset(), kernel.run())) < 4 * 300 * n + 4096


def test_scipy_would_copy_a_column_major_operand():
    """The reason for a row-major B holds: the same call with the other order copies all of it."""
    drawn = inputs(SparseGemm(300, 200, 400, sparsity=0.95), "float32")
    a = sparse.csr_array((drawn.a.values, drawn.a.columns, drawn.a.offsets), shape=drawn.a.shape)
    assert drawn.b.flags.f_contiguous
    assert peak(lambda: a @ drawn.b) > 4 * 300 * 200 + drawn.b.nbytes


@pytest.mark.parametrize("n", [1, 200])
@pytest.mark.parametrize("turned", TRANSPOSES)
def test_numpy_multiplies_the_dense_without_a_copy(turned, n):
    """The dense product is handed to BLAS as its operands lie and written into C."""
    problem = SparseGemm(300, n, 400, *turned, sparsity=0.95)
    assert peak(NumpyBackend().build(problem, "float32", "dense_forward").run) < 4096


def called(run):
    """Return the names of torch's operators that one call goes through."""
    torch = pytest.importorskip("torch")
    run()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        run()
    return {event.key for event in profile.key_averages()}


COPIES = {"aten::clone", "aten::_to_copy", "aten::empty", "aten::empty_strided", "aten::zeros"}


@pytest.mark.parametrize("operation", ["forward", "dense_forward"])
@pytest.mark.parametrize("n", [1, 20])
def test_torch_multiplies_without_a_copy(operation, n):
    """No float32 call makes a tensor: neither operands nor positions are converted in it."""
    kernel = loaded("torch").build(SparseGemm(30, n, 400, sparsity=0.95), "float32", operation)
    assert set() == called(kernel.run) & COPIES


def test_torch_would_copy_column_major_operands_and_wide_positions():
    """The reasons for row-major operands and 32-bit positions hold."""
    torch = pytest.importorskip("torch")
    kernel = loaded("torch").build(SparseGemm(30, 20, 400, sparsity=0.95), "float32")
    a, b = kernel.run.args[1:]
    columns = torch.zeros(20, 30).t()
    wide = torch.sparse_csr_tensor(
        a.crow_indices().long(), a.col_indices().long(), a.values(), a.shape
    )
    turned = called(lambda: torch.addmm(columns, a, b.t().contiguous().t(), beta=0, out=columns))
    assert "aten::clone" in turned
    assert "aten::_to_copy" in called(lambda: torch.addmm(columns, wide, b, beta=0, out=columns))


def test_one_column_is_a_vector_to_torch():
    """With n=1 torch's matrix-vector operators run, sparse and dense."""
    backend, problem = loaded("torch"), SparseGemm(30, 1, 400, sparsity=0.95)
    assert "aten::addmv" in called(backend.build(problem, "float32").run)
    assert "aten::mv" in called(backend.build(problem, "float32", "dense_forward").run)


def test_one_column_is_a_vector_to_scipy():
    """With n=1 scipy goes its way for vectors, and its way for several with n=2."""
    for n, expected in ((1, "vector"), (2, "multivector")):
        kernel = NumpyBackend().build(SparseGemm(30, n, 400, sparsity=0.95), "float32")
        names = set()
        sys.setprofile(lambda frame, event, _, names=names: names.add(frame.f_code.co_name))
        kernel.run()
        sys.setprofile(None)
        assert {expected} == {name.split("_")[-1] for name in names if name.endswith("vector")}


@pytest.mark.parametrize(
    ("precision", "expected"),
    [
        ("float32", "59daf6ee52"),
        ("tf32", "c2ab07f153"),
        ("bfloat16", "c0071745a0"),
        ("float16", "cc45f15ccc"),
        ("int8", "4d27fcd2d8"),
    ],
)
def test_inputs_are_the_same_for_ever(precision, expected):
    """A seed gives these very values, positions and B in every release of numpy."""
    drawn = inputs(SparseGemm(33, 17, 65, sparsity=0.9), precision, seed=7)
    a = drawn.a
    stored = (a.offsets, a.columns, a.values, np.ascontiguousarray(drawn.b.T))
    digest = hashlib.sha1(b"".join(each.tobytes() for each in stored)).hexdigest()
    assert expected == digest[:10]


@given(m=SIZES, k=SIZES, sparsity=st.floats(0, 1), turned=st.booleans(), seed=st.integers(0, 9))
def test_a_has_exactly_the_published_number_of_values(m, k, sparsity, turned, seed):
    """As many values as the sparsity says are stored, in ascending and distinct positions."""
    problem = SparseGemm(m, 1, k, turned, sparsity=round(sparsity, 3))
    a = inputs(problem, "float32", seed).a
    assert ((k, m) if turned else (m, k)) == a.shape
    assert problem.nonzeros == a.values.size == a.columns.size == a.offsets[-1]
    assert np.all(np.diff(a.rows * np.int64(a.shape[1]) + a.columns) > 0)
    assert np.count_nonzero(a.dense()) == problem.nonzeros
    np.testing.assert_array_equal(a.dense().T, a.transposed().dense())


@pytest.mark.parametrize("precision", PRECISIONS)
def test_no_stored_value_is_zero(precision):
    """Not even where 8 bits would make one of 256 zero."""
    drawn = inputs(SparseGemm(200, 3, 200, sparsity=0.5), precision)
    assert 20000 == np.count_nonzero(drawn.a.values)
    assert 20000 == np.count_nonzero(drawn.a.dense())


def test_values_lie_everywhere_alike():
    """Each quarter of the matrix holds a quarter of the values, and seeds differ."""
    a = inputs(SparseGemm(400, 1, 400, sparsity=0.9), "float32").a.dense() != 0
    quarters = [half.sum() for rows in np.split(a, 2) for half in np.split(rows, 2, axis=1)]
    assert 16000 == sum(quarters)
    assert max(abs(each - 4000) for each in quarters) < 5 * 60
    other = inputs(SparseGemm(400, 1, 400, sparsity=0.9), "float32", seed=1).a.dense() != 0
    assert (a & other).sum() == pytest.approx(1600, abs=200)


def test_products_have_unit_variance():
    """Entries of A·B spread about as wide as 1, however few values a row has."""
    kernel = NumpyBackend().build(SparseGemm(200, 90, 2560, sparsity=0.95), "float32")
    assert ran(kernel).result().std() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("turned", TRANSPOSES)
def test_operands_lie_as_published(turned):
    """B has unit stride along its columns, along its rows if stored transposed, and is aligned."""
    drawn = inputs(SparseGemm(7, 5, 40, *turned, sparsity=0.5), "float32")
    assert (40, 5) == drawn.b.shape
    assert 4 == drawn.b.strides[turned[1]]
    assert [0, 0] == [each.ctypes.data % ALIGNMENT for each in (drawn.b, drawn.a.values)]
    assert [np.int32, np.int32] == [drawn.a.offsets.dtype, drawn.a.columns.dtype]


@settings(max_examples=25)
@given(m=SIZES, n=SIZES, k=SIZES, sparsity=SPARSITIES, precision=st.sampled_from(PRECISIONS),
       operation=st.sampled_from(OPERATIONS), turned=st.booleans())  # fmt: skip
def test_reference_at_some_entries_is_the_whole_reference(
    m, n, k, sparsity, precision, operation, turned
):
    """Judging a few entries applies the same values and tolerances as judging all."""
    problem = SparseGemm(m, n, k, turned, sparsity=sparsity)
    judge = family.reference(problem, inputs(problem, precision), precision, operation)
    index = output_check._entries(judge.shape, 5, seed=1)
    for whole, some in zip(judge.everywhere(), judge.at(index), strict=True):
        np.testing.assert_allclose(whole[index], some, rtol=1e-9, atol=1e-12)


def test_small_twins_keep_sparsity_and_vectors():
    """The twins of the published list are six: one, two, four and many columns, two sparsities."""
    twins = {families.small(one).id for one in problems.load("sparse_gemm")}
    expected = {f"m61_n{n}_k131_NN_sparsity{share}" for n in (1, 2, 4, 53) for share in (0.95, 0.9)}
    assert expected == twins
