"""Quantised linear layers: a table over frameworks and precisions, and the number formats."""

import math
import re
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import loaded, needed
from kernel_checks import agrees, distinguishes

from deepbench_ops.backends import output_check
from deepbench_ops.backends.families import low_precision as formats
from deepbench_ops.backends.families import quantised_linear as family
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems import size_checks
from deepbench_ops.problems.quantisation import Quantisation
from deepbench_ops.problems.quantised_linear import QuantisedLinear

PRECISIONS = QuantisedLinear.precisions
HAD = {
    ("numpy", "cpu"): {"dequantised_forward": ("float32_int4", "float32_mxfp4")},
    ("torch", "cpu"): {
        "forward": ("int8_row", "float32_int4", "bfloat16_int4"),
        "dequantised_forward": PRECISIONS,
        "fused_forward": ("int8_row",),
        "library_forward": ("int8_row",),
    },
    ("torch", "cuda"): {
        "forward": ("int8_row", "bfloat16_int4", "fp8_row", "fp8_block", "mxfp8", "mxfp4"),
        "dequantised_forward": PRECISIONS,
        "library_forward": ("int8_row",),
    },
    ("jax", "cpu"): {"forward": ("int8_row",), "dequantised_forward": PRECISIONS},
    ("onnxruntime", "cpu"): {
        "forward": ("int8_row", "float32_int4"),
        "fused_forward": ("int8_row",),
    },
    ("openvino", "cpu"): {"forward": ("float32_int4",)},
}
"""Precisions of each framework, by operation."""

CASES = [
    (*place, operation, precision)
    for place in HAD
    for operation in QuantisedLinear.operations
    for precision in PRECISIONS
]
PROBLEM = QuantisedLinear(16, 2112, 7168, 128)


def backend_of(name, device="cpu"):
    """Return a backend, or skip where it or a package that it needs is missing."""
    if name in ("onnxruntime", "openvino"):
        needed("onnx")
    return loaded(name, device)


@pytest.mark.parametrize(("name", "device", "operation", "precision"), CASES)
def test_every_layer_passes_its_check_or_is_refused(name, device, operation, precision):
    """Each format is right to the bit that it allows, or lacking with a reason."""
    backend = backend_of(name, device)
    had = precision in HAD[name, device].get(operation, ())
    if not had:
        with pytest.raises(Unsupported):
            output_check.check(backend, PROBLEM, precision, operation)
        return
    try:
        found = output_check.check(backend, PROBLEM, precision, operation)
    except Unsupported as reason:
        if device == "cpu" and not re.search("VNNI|not installed", str(reason)):
            raise
        pytest.skip(str(reason))  # an older GPU or processor
    assert (True, True) == (found.ok, found.error <= found.tolerance)


@pytest.mark.parametrize("precision", ["int8_row", "bfloat16_int4", "fp8_block", "mxfp4"])
@settings(max_examples=12, deadline=None)
@given(
    m=st.integers(1, 20), n=st.integers(1, 9), k=st.integers(1, 4),
    group=st.sampled_from((32, 64, 128)), seed=st.integers(0, 99),
)  # fmt: skip
def test_any_size_is_computed_right(precision, m, n, k, group, seed):
    """y is right for any number of tokens, outputs and groups."""
    backend = loaded("torch")
    operation = "forward" if precision == "bfloat16_int4" else "dequantised_forward"
    kernel = backend.build(QuantisedLinear(m, 16 * n, 128 * k, group), precision, operation, seed)
    kernel.reset()
    kernel.run()
    expected, allowed = kernel.reference.everywhere()
    assert np.all(np.abs(kernel.result() - expected) <= allowed)
    assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize("precision", PRECISIONS)
def test_reference_at_some_entries_is_the_whole_reference(precision):
    """Judging a few entries applies the same values and tolerances as judging all."""
    problem = QuantisedLinear(7, 150, 256, 64)
    for operation in ("forward", "dequantised_forward"):
        assert agrees(problem, operation, precision)


def products(drawn, change_x=lambda x: x, change_w=lambda w: w):
    """Return y of operands that a mistake has changed; each mistake sees what is quantised."""
    left, right = change_x(drawn.x), change_w(drawn.w)
    x = left.rows() if isinstance(left, formats.Quantised) else left.astype(np.float64)
    return x @ right.rows().T


def moved(operand, axis):
    """Return an operand whose scales are those of the next row or group."""
    return replace(operand, scales=np.roll(operand.scales, 1, axis=axis))


def unscaled(operand):
    """Return an operand with the mean scale everywhere."""
    return replace(operand, scales=np.full_like(operand.scales, operand.scales.mean()))


def shifted(operand):
    """Return an operand whose codes stand for the neighbouring numbers."""
    return replace(operand, codes=operand.codes ^ operand.codes.dtype.type(1))


def swapped(operand):
    """Return an operand with the two codes of each byte in the wrong order."""
    return replace(
        operand, codes=operand.codes.reshape(-1, 2)[:, ::-1].reshape(operand.codes.shape)
    )


MISTAKES = {
    "the scales of the next row": lambda w: moved(w, 0),
    "the scales of the next group": lambda w: moved(w, 1),
    "one scale for all": unscaled,
    "codes off by one": shifted,
    "the halves of a byte swapped": swapped,
}


@pytest.mark.parametrize("precision", [each for each in PRECISIONS if each != "int8_row"])
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_wrong_weights_are_found_out(precision, mistake):
    """Each mistake fails, at sampled entries too, while the right product passes."""
    problem = QuantisedLinear(6, 256, 512, 64)
    drawn = family.inputs(problem, precision)
    wrong = mistake(drawn.w)
    if np.array_equal(wrong.rows(), drawn.w.rows(), equal_nan=True):
        pytest.skip("a row has one group alone")
    judge = family.reference(problem, drawn, precision, "dequantised_forward")
    assert distinguishes(judge, products(drawn), products(drawn, change_w=mistake))


@pytest.mark.parametrize("operation", ["forward", "fused_forward", "library_forward"])
def test_activations_that_are_not_quantised_are_found_out(operation):
    """int8_row asks for activations in 8 bits: the product of unrounded ones fails."""
    problem = QuantisedLinear(6, 256, 512)
    drawn = family.inputs(problem, "int8_row")
    expected, allowed = family.reference(problem, drawn, "int8_row", operation).everywhere()
    assert not np.all(np.abs(products(drawn) - expected) <= allowed)


@settings(max_examples=30, deadline=None)
@given(
    rows=st.integers(1, 9), groups=st.integers(1, 5), seed=st.integers(0, 99),
    kind=st.sampled_from(("int8", "int4", "fp8", "fp4")), down=st.sampled_from((1, 4)),
)  # fmt: skip
def test_no_number_is_off_by_more_than_half_a_step(rows, groups, seed, kind, down):
    """Each value lies within half a step of its format at the scale of its block."""
    values = np.random.default_rng(seed).standard_normal((rows, 32 * groups)).astype(np.float32)
    found = formats.quantised(values, kind, (down, 32))
    scales = found.expanded_scales(np.arange(rows))
    size = np.abs(values / scales)
    step = {
        "int8": 1,
        "int4": 1,
        "fp8": np.maximum(2.0 ** (np.floor(np.log2(size + 1e-30)) - 3), 2.0**-9),
        "fp4": np.where(size < 2, 0.5, np.where(size < 4, 1, 2)),
    }[kind]
    assert np.all(np.abs(found.rows() - values) <= (step / 2 + 1e-4 * size) * scales)
    assert (-(-rows // down), groups) == found.scales.shape


@pytest.mark.parametrize(("kind", "count"), [("fp8", 254), ("fp4", 16)])
def test_every_number_of_a_format_is_its_own_code(kind, count):
    """Rounding a number of the format changes nothing, and NaN has the remaining codes."""
    values = formats.VALUES[kind]
    numbers = ~np.isnan(values)
    assert count == np.count_nonzero(numbers)
    assert np.array_equal(
        np.flatnonzero(numbers), formats.codes_of(values[numbers], kind).astype(int)
    )


def test_formats_are_those_of_another_implementation():
    """ml_dtypes, which jax and onnx use, rounds a million numbers to the same codes."""
    theirs = pytest.importorskip("ml_dtypes")
    random = np.random.default_rng(0)
    values = random.standard_normal(2**18) * np.exp(random.uniform(-12, 7, 2**18))
    values = np.concatenate([values, np.arange(-4480, 4481) / 16]).astype(np.float32)
    for kind, dtype in (("fp8", theirs.float8_e4m3fn), ("fp4", theirs.float4_e2m1fn)):
        largest = formats.LARGEST[kind]
        expected = np.clip(values, -largest, largest).astype(dtype).view(np.uint8)
        assert np.array_equal(expected, formats.codes_of(values, kind))


def test_exponents_keep_the_largest_number_below_overflow():
    """The MX scale of a block is the power of two of its largest number over the format's."""
    largest = np.array([448, 449, 1, 0.99, 6, 2**-120], np.float32)
    assert [1, 1, 2**-8, 2**-9, 2**-6, 2**-127] == formats.powers(
        formats.exponents(largest, "fp8")
    ).tolist()
    assert [0] == formats.exponents(np.zeros(1, np.float32), "fp4").tolist()


def test_two_codes_lie_in_a_byte_the_first_in_the_lower_half():
    """-8 to 7 become 8 to 15 and 0 to 7, as int4 of ONNX and float4_e2m1fn_x2 of torch lie."""
    assert [0x21, 0xF8] == formats.packed_pairs(np.array([1, 2, -8, -1], np.int8)).tolist()


def test_scales_are_swizzled_as_the_gpu_reads_them():
    """Scale (r, b) of a tile of 128 x 4 lies at 16·(r % 32) + 4·(r // 32) + b of its 512."""
    torch = pytest.importorskip("torch")
    from deepbench_ops.backends.torch_backend.quantised_linear import swizzled

    rows, blocks = 130, 8
    given = torch.arange(rows * blocks).to(torch.uint8).view(rows, blocks)
    found = swizzled(given.view(torch.float8_e8m0fnu)).view(torch.uint8)
    assert 2 * 2 * 512 == found.numel()
    for r, b in ((0, 0), (1, 0), (33, 2), (127, 3), (129, 5)):
        tile = (r // 128) * 2 + b // 4
        at = 512 * tile + 16 * (r % 32) + 4 * (r % 128 // 32) + b % 4
        assert int(given[r, b]) == int(found[at])


@pytest.mark.parametrize(("n", "k"), [(128, 128), (200, 512), (4096, 7168)])
def test_scales_of_tiles_lie_as_the_gpu_reads_them(n, k):
    """Scale (i, j) of W lies at padded·i + j, where padded is the blocks of k rounded up to 4."""
    torch = pytest.importorskip("torch")
    from deepbench_ops.backends.torch_backend.quantised_linear import of_tiles

    down, across = -(-n // 128), -(-k // 128)
    padded = -(-across // 4) * 4
    given = torch.arange(1.0, 1 + down * across).view(down, across)
    found = of_tiles(given)
    assert ((padded, down), (1, padded)) == (tuple(found.shape), found.stride())
    assert torch.equal(given, found.t()[:, :across])
    assert not found[across:].any()


@pytest.mark.parametrize(("m", "blocks"), [(1, 56), (13, 1), (64, 2)])
def test_scales_of_rows_lie_as_the_gpu_reads_them(m, blocks):
    """Scales of x are m x blocks with strides (1, m), for a single row or block too."""
    torch = pytest.importorskip("torch")
    from deepbench_ops.backends.torch_backend.quantised_linear import column_major

    given = torch.arange(float(m * blocks)).view(m, blocks)
    found = column_major(given)
    assert ((m, blocks), (1, m)) == (tuple(found.shape), found.stride())
    assert torch.equal(given, found)


def test_sums_that_a_processor_cuts_off_are_refused(monkeypatch):
    """ONNX Runtime's fused operator gives wrong results on x86 processors without VNNI."""
    backend = backend_of("onnxruntime")
    monkeypatch.setattr("deepbench_ops.backends.vnni.adds_in_32_bits", lambda: False)
    with pytest.raises(Unsupported, match="without VNNI"):
        backend.build(QuantisedLinear(13, 208, 256), "int8_row", "fused_forward")


def test_few_tokens_are_padded_where_the_device_demands_more_rows(monkeypatch):
    """As on CUDA, int8 products of 13 tokens have 24 rows; y has 13, and the record says so."""
    backend = loaded("torch")
    module = "deepbench_ops.backends.torch_backend.quantised_linear"
    monkeypatch.setattr(f"{module}.vnni.adds_in_32_bits", lambda: True)

    def run():
        kernel = backend.build(QuantisedLinear(13, 208, 256), "int8_row")
        kernel.reset()
        kernel.run()
        return kernel.notes["padding"], kernel.result()

    note, expected = run()
    assert "none" == note
    monkeypatch.setattr(f"{module}.INT8_LEAST_N", {"cpu": 24})
    monkeypatch.setattr(f"{module}.INT8_MULTIPLE", {"cpu": 8})
    note, found = run()
    assert note.startswith("m 13 to 24 ")
    assert np.array_equal(expected, found)
    with pytest.raises(Unsupported, match="multiples of 8, not n = 204"):
        backend.build(QuantisedLinear(13, 204, 256), "int8_row")


def test_work_and_traffic_are_counted_with_the_scales():
    """Bytes are those of codes, scales and result: 4-bit weights of 4096 x 4096 in groups of 32."""
    problem = QuantisedLinear(1, 4096, 4096, 32)
    weights = 4096 * 4096
    assert 2 * weights == problem.flops
    assert 4096 * 2 + weights / 2 + weights / 32 * 2 + 4096 * 2 == problem.bytes("bfloat16_int4")
    assert 4096 + weights + (1 + 32) * 32 * 4 + 4096 * 2 == problem.bytes("fp8_block")
    assert 4096 / 2 + weights / 2 + (4096 + weights) / 32 + 4096 * 2 == problem.bytes("mxfp4")


def test_a_last_block_that_is_not_full_has_a_whole_scale():
    """Rows of 40 have two blocks of 32 in the MX formats."""
    problem = QuantisedLinear(3, 5, 40, 8)
    scales = {"float32_mxfp4": 5 * 2, "bfloat16_mxfp4": 5 * 2, "mxfp8": 8 * 2, "mxfp4": 8 * 2}
    assert scales == {name: problem.scale_bytes(name) for name in scales}


def test_a_frameworks_own_layer_takes_and_returns_float32():
    """Its bytes count x and y as such; the other layers of int8_row have bfloat16."""
    problem = QuantisedLinear(2, 8, 32)
    weights = 8 * 32 + 8 * 4
    forward, fused = (problem.bytes_of("int8_row", f"{each}forward") for each in ("", "fused_"))
    assert (weights + 2 * (32 + 8) * 2, weights + 2 * (32 + 8) * 4) == (forward, fused)


@pytest.mark.parametrize(
    ("problem", "operation"),
    [(QuantisedLinear(2, 32, 32), "forward"), (Quantisation(2, 64), "forward")],
    ids=lambda value: getattr(value, "family", value),
)
def test_onnxruntime_is_given_bfloat16(problem, operation, monkeypatch):
    """As the other frameworks are; it converts in the call."""
    backend, models = loaded("onnxruntime"), []
    own = backend.loaded

    def noted(model):
        models.append(model)
        return own(model)

    monkeypatch.setattr(backend, "loaded", noted)
    backend.build(problem, "int8_row", operation)
    (given,) = pytest.importorskip("onnx").load_from_string(models[0].serialised).graph.input
    assert ("x", 16) == (given.name, given.type.tensor_type.elem_type)


def test_openvino_needs_an_onnx_with_int4(monkeypatch):
    """openvino before 2024.1 is installed with an older onnx, and lacks the layer with a reason."""
    backend = backend_of("openvino")
    module = import_module("deepbench_ops.backends.openvino_backend.quantised_linear")
    monkeypatch.setattr(module, "TensorProto", SimpleNamespace(FLOAT=1))
    with pytest.raises(Unsupported, match="has no int4, the type of the weights"):
        backend.build(QuantisedLinear(4, 16, 128, 32), "float32_int4")


def test_what_quantising_loses_is_a_note_of_its_own():
    """Notes name the errors of weights, activations and product; 4 bits lose more than 8."""
    problem = QuantisedLinear(16, 128, 512, 32)
    lost = {
        precision: family.inputs(problem, precision).notes["quantisation error"]
        for precision in ("bfloat16_int4", "mxfp8", "mxfp4")
    }
    assert "activations" not in lost["bfloat16_int4"]
    first = {name: float(text.split("%")[0].split()[-1]) for name, text in lost.items()}
    assert first["mxfp8"] < 4 < first["bfloat16_int4"] < first["mxfp4"] < 15


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"k": 4096, "group": 48}, "the group size 48 does not divide k = 4096"),
        ({"k": 4096, "group": 0}, "group is '0': write a whole number from 1"),
    ],
)
def test_impossible_groups_are_one_clear_line(given, reason):
    """A group size must divide k, and be at least 1."""
    text = {"m": "1", "n": "64", **given}
    with pytest.raises(DeepbenchError) as found:
        size_checks.problem(
            "quantised_linear",
            {name: size_checks.size(name, value, QuantisedLinear) for name, value in text.items()},
        )
    assert reason in str(found.value)
    assert "\n" not in str(found.value)


def test_blocks_that_do_not_fill_k_are_refused():
    """fp8 in blocks of 128 needs k in whole blocks; int4 in groups of 32 does not mind."""
    problem = QuantisedLinear(2, 16, 160, 32)
    with pytest.raises(Unsupported, match=r"128 does not divide k = 160"):
        family.refuse(problem, "fp8_block", "forward")
    family.refuse(problem, "bfloat16_int4", "forward")


def test_every_operation_is_a_finite_amount_of_work():
    """FLOPs and bytes of the published list are positive at every precision."""
    from deepbench_ops import problems

    for problem in problems.load("quantised_linear"):
        assert problem.flops > 0
        assert all(math.isfinite(problem.bytes(name)) for name in PRECISIONS)
