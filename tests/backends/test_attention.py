"""Attention of many queries and of a decoding step: tables over frameworks, and wrong kernels."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from installed_frameworks import PLACES, lacking_precisions, loaded, needed, skip_without
from kernel_runs import accepts, agrees_with_itself, built, judged, ran

from deepbench_ops.backends import families, functional, output_check
from deepbench_ops.backends.families import attention as family
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.problems import load, size_checks
from deepbench_ops.problems.attention import FORCED, FORCED_FORWARD, Attention
from deepbench_ops.problems.attention_decode import AttentionDecode
from deepbench_ops.problems.linear_layer import LinearLayer
from deepbench_ops.problems.problem_ids import problem_of

PRECISIONS = Attention.precisions
WITHOUT_GRADIENT = ("onnxruntime", "openvino")
LACKING = {
    "numpy": {"tf32", "bfloat16"},
    "onnxruntime": {"tf32", "bfloat16"},
    "openvino": {"tf32"},
}
JAX_FLOAT16 = ("jax", "float16")
"""Some releases of jax say, when they run it, that they have no such product on processors."""
KINDS = {
    "all keys": Attention(2, 4, 4, 5, 9, 16, 16),
    "causal, groups": Attention(1, 6, 2, 11, 11, 16, 16, causal=True),
    "causal, more keys": Attention(1, 2, 1, 5, 12, 16, 16, causal=True),
    "values of another size": Attention(1, 2, 2, 7, 7, 24, 8, causal=True),
}


def problems(most=9):
    """Attention of any sizes that can exist."""
    size, heads = st.integers(1, most), st.integers(1, 3)

    def made(b, kv, group, queries, more, d, dv, causal):
        return Attention(b, kv * group, kv, queries, queries + more, d, dv, causal)

    more = st.integers(0, most)
    return st.builds(made, heads, heads, heads, size, more, size, size, st.booleans())


def of_one_head_size(problem):
    """Return the problem with values as long as keys, as some frameworks demand."""
    return replace(problem, dv=problem.d)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(("name", "device"), PLACES)
def test_forward_and_gradients_are_right(name, device, precision, kind):
    """Every entry of every output is within the precision's tolerance, where there is a kernel."""
    skip_without(loaded(name, device), Attention.family)
    problem = KINDS[kind]
    lacking = lacking_precisions(name, LACKING, {"tf32"} if device == "cpu" else set())
    for operation in ("forward", "backward"):
        kernel = built(name, problem, precision, operation, device)
        none = precision in lacking or (operation == "backward" and name in WITHOUT_GRADIENT)
        none = none or (name == "jax" and problem.d != problem.dv)
        assert none == (kernel is None) or (name, precision) == JAX_FLOAT16
        if kernel is not None:
            assert judged(ran(kernel))
            assert output_check.spot_check(kernel).ok


@pytest.mark.parametrize("latent", [False, True])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(("name", "device"), PLACES)
def test_a_decoding_step_is_right(name, device, precision, latent):
    """One query and several, with grouped heads and with values that are part of the keys."""
    skip_without(loaded(name, device), AttentionDecode.family)
    lacking = lacking_precisions(name, LACKING, {"tf32"})
    for queries in (1, 4):
        sizes = (24, 16) if latent else (16, 16)
        problem = AttentionDecode(2, 6, 1 if latent else 2, queries, 33, *sizes, latent)
        kernel = built(name, problem, precision, "forward", device)
        if kernel is not None:
            assert judged(ran(kernel))
            assert output_check.spot_check(kernel).ok
        assert kernel is not None or precision in lacking or name == "jax"


EARLIER = {
    "all keys": KINDS["all keys"],
    "causal": Attention(2, 4, 4, 11, 11, 16, 16, causal=True),
    "causal, groups": KINDS["causal, groups"],
    "causal, more keys": KINDS["causal, more keys"],
    "values of another size": Attention(1, 2, 2, 5, 7, 24, 8),
    "a step": AttentionDecode(2, 6, 2, 1, 33, 16, 16),
    "a step of several": AttentionDecode(2, 6, 6, 4, 33, 16, 16),
    "a latent step": AttentionDecode(2, 6, 1, 1, 33, 24, 16, latent=True),
}
BY_ONNX_ALONE = {("onnxruntime", "causal, more keys"), ("onnxruntime", "a latent step")}


@pytest.mark.parametrize("kind", EARLIER)
@pytest.mark.parametrize("name", WITHOUT_GRADIENT)
def test_operators_of_the_runtimes_are_right(name, kind):
    """OpenVINO always uses its own, onnxruntime without ONNX's Attention; the record names it."""
    needed("onnx")
    from deepbench_ops.backends.onnx_models import attention as of_onnx
    from deepbench_ops.backends.onnx_models import runtime

    make = functional.builder(partial(runtime.function, (of_onnx.OWN | of_onnx.OTHERWISE)[name]))
    backend = loaded(name)
    if (name, kind) in BY_ONNX_ALONE:
        with pytest.raises(Unsupported, match="this release has no ONNX Attention"):
            make(backend, EARLIER[kind], "float32", "forward", 0)
        return
    kernel = ran(make(backend, EARLIER[kind], "float32", "forward", 0))
    assert judged(kernel)
    assert kernel.notes["route"].startswith(("com.microsoft.", "OpenVINO's"))
    assert "Attention" in kernel.implementation() or name == "openvino"


STEP = AttentionDecode(2, 6, 2, 1, 33, 16, 16)
LATENT = AttentionDecode(2, 6, 1, 2, 33, 24, 16, latent=True)


@pytest.mark.parametrize("name", WITHOUT_GRADIENT)
def test_runtimes_read_a_latent_cache_once(name):
    """Values are no input of their own: they are cut out of the keys in the graph."""
    needed("onnx")
    from deepbench_ops.backends.onnx_models import attention as of_onnx

    drawn = family.inputs(LATENT, "float32")
    made = of_onnx.OWN.get(name, of_onnx.model)(LATENT, drawn, "float32", "forward")
    assert ["q", "k"] == list(made.feeds)


def test_onnxruntime_writes_a_step_into_its_cache():
    """Also in releases without ONNX's Attention; the rest of the cache is not copied."""
    needed("onnx")
    from deepbench_ops.backends.onnx_models import microsoft_attention

    backend, drawn = loaded("onnxruntime"), family.inputs(STEP, "float32")
    made = microsoft_attention.model(STEP, drawn, "float32", "forward")
    assert not made.feeds["past_k"][:, :, -1].any()
    call = backend.loaded(made)
    for _ in range(2):
        backend.arrays(call())
        for name in "kv":
            np.testing.assert_array_equal(made.feeds[f"past_{name}"], getattr(drawn, name))


def test_the_record_names_a_mask_that_is_fed():
    """OpenVINO's operator adds it to every score where heads share keys; else it has its own."""
    needed("onnx")
    from deepbench_ops.backends.onnx_models import openvino_attention

    def route(kind):
        problem = EARLIER[kind]
        drawn = family.inputs(problem, "float32")
        return openvino_attention.model(problem, drawn, "float32", "forward").notes["route"]

    assert "a mask of 0.00138 MiB is fed" in route("causal, groups")
    assert not [kind for kind in ("causal", "all keys", "a step") if "mask" in route(kind)]


def test_openvino_has_one_route_in_all_releases():
    """Also in those that read ONNX's Attention: a change of route would look like one of speed."""
    needed("onnx")
    kernel = built("openvino", KINDS["causal, groups"], "float32", "forward")
    assert kernel.notes["route"].startswith("OpenVINO's")


def test_a_release_without_an_operator_takes_its_other_model():
    """The route in the record is that of the model that runs."""
    needed("onnx")
    name = "onnxruntime"
    from deepbench_ops.backends.onnx_models import attention as of_onnx
    from deepbench_ops.backends.onnx_models import graph, runtime

    def unknown(problem, drawn, precision, operation):
        made = graph.Graph()
        output = made.node("NoSuchOperator", made.input("q", drawn.q))
        serialised = made.serialised({output: (drawn.q.dtype, drawn.q.shape)})
        return graph.OnnxModel(serialised, made.feeds, np.asarray, {"route": "none"})

    makes = (unknown, of_onnx.OTHERWISE[name])
    make = functional.builder(partial(runtime.readable, makes))
    kernel = ran(make(loaded(name), KINDS["all keys"], "float32", "forward", 0))
    assert judged(kernel)
    assert "none" != kernel.notes["route"]


@pytest.mark.parametrize(
    ("problem", "operation"),
    [
        *((KINDS["causal, groups"], operation) for operation in FORCED),
        *((STEP, operation) for operation in FORCED_FORWARD),
    ],
)
def test_torch_runs_the_implementation_that_is_asked_for(problem, operation):
    """The record names it, or the operation is skipped; each of flash and math is there."""
    kernel = built("torch", problem, "float32", operation)
    assert operation.startswith(("flash", "math")) == (kernel is not None)
    if kernel is not None:
        assert FORCED[operation] == kernel.notes["implementation"]
        assert judged(ran(kernel))


def test_torch_has_no_flash_attention_with_values_of_another_size():
    """On processors it is skipped, and is no fault."""
    kernel = built("torch", KINDS["values of another size"], "float32", "flash_forward")
    assert kernel is None


def test_torch_chooses_again_after_a_forced_implementation():
    """The switches of one kernel do not hold for the next."""
    problem = KINDS["causal, groups"]
    built("torch", problem, "float32", "math_forward").reset()
    assert "flash" == built("torch", problem, "float32", "forward").notes["implementation"]
    assert (
        "math"
        == built("torch", KINDS["values of another size"], "float32", "forward").notes[
            "implementation"
        ]
    )


def test_jax_before_it_had_attention_is_skipped(monkeypatch):
    """With the release in the reason."""
    needed("jax")
    monkeypatch.delattr("jax.nn.dot_product_attention")
    with pytest.raises(Unsupported, match=r"jax [\d.]+ has no jax\.nn\.dot_product_attention"):
        loaded("jax").build(KINDS["causal, groups"], "float32", "forward")


@settings(max_examples=40)
@given(problems(), st.sampled_from(("forward", "backward")))
def test_any_mask_and_group_is_computed_right(problem, operation):
    """Of all sizes, in numpy; and the reference says the same at single entries."""
    kernel = ran(built("numpy", problem, "float32", operation))
    assert judged(kernel)
    assert all(agrees_with_itself(output.reference) for output in kernel.outputs.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "operation"),
    [("torch", "forward"), ("torch", "backward"), ("torch", "math_backward"),
     ("jax", "forward"), ("jax", "backward"), ("onnxruntime", "forward")],
)  # fmt: skip
@settings(max_examples=10, deadline=None)
@given(problems())
def test_any_mask_and_group_is_computed_right_by_libraries(name, operation, problem):
    """Of all sizes; jax has heads of one size for keys and values."""
    if name != "torch":
        problem = of_one_head_size(problem)
    kernel = built(name, problem, "float32", operation)
    assert kernel is not None
    assert judged(ran(kernel))


@given(problems())
def test_pairs_are_those_of_the_mask(problem):
    """The FLOPs count each pair of a query and a key that it sees, once."""
    seen = np.ones((problem.sq, problem.skv), bool)
    if problem.causal:
        seen = family.mask(problem.sq, problem.skv)
        assert (problem.skv, problem.skv - problem.sq + 1) == (seen[-1].sum(), seen[0].sum())
    assert seen.sum() == problem.pairs
    unit = 2 * problem.b * problem.hq * problem.pairs
    assert unit * (problem.d + problem.dv) == problem.flops
    assert unit * (3 * problem.d + 2 * problem.dv) == problem.flops_of("backward")


@given(problems())
def test_a_small_twin_is_of_the_same_kind(problem):
    """It can exist, keeps groups and mask, and is its own twin."""
    twin = family.small(problem)
    assert "" == twin.impossible()
    assert (problem.causal, problem.sq == problem.skv) == (twin.causal, twin.sq == twin.skv)
    assert (problem.hq == problem.hkv, problem.d == problem.dv) == (
        twin.hq == twin.hkv,
        twin.d == twin.dv,
    )
    assert twin == family.small(twin)


def test_gradients_are_those_of_autograd_in_float64():
    """The reference's three gradients are torch's own."""
    torch = pytest.importorskip("torch")
    problem = Attention(2, 6, 2, 5, 9, 8, 4, causal=True)
    drawn = family.inputs(problem, "float32")
    q, k, v = (torch.tensor(each, dtype=torch.float64, requires_grad=True)
               for each in (drawn.q, drawn.k, drawn.v))  # fmt: skip
    scores = q @ k.repeat_interleave(3, 1).transpose(2, 3) / 8**0.5
    hidden = torch.tensor(~family.mask(5, 9))
    output = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v.repeat_interleave(3, 1)
    output.backward(torch.tensor(drawn.gradient, dtype=torch.float64))
    judges = families.references(problem, drawn, "float32", "backward")
    for name, operand in (
        (family.QUERY_GRADIENT, q),
        (family.KEY_GRADIENT, k),
        (family.VALUE_GRADIENT, v),
    ):
        np.testing.assert_allclose(operand.grad.numpy(), judges[name].everywhere()[0], atol=1e-12)
    forward = families.references(problem, drawn, "float32", "forward")[""]
    np.testing.assert_allclose(output.detach().numpy(), forward.everywhere()[0], atol=1e-12)


def computed(problem, drawn, scale=1.0, hidden=None, order=None, skip_last=False):
    """Attention in float64 with the mistakes that are asked for."""
    group = problem.hq // problem.hkv
    heads = np.arange(problem.hq) // group if order is None else order
    q, k, v = (each.astype(np.float64) for each in (drawn.q, drawn.k, drawn.v))
    scores = scale * problem.d**-0.5 * q @ k[:, heads].swapaxes(2, 3)
    seen = family.mask(problem.sq, problem.skv) if hidden is None else ~hidden
    scores = np.where(seen, scores, -np.inf)
    if skip_last:
        scores[..., -1] = np.where(seen[:, -1], -np.inf, scores[..., -1])
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v[:, heads]


WRONG = {
    "the mask hides a key too many": {"hidden": ~np.tri(24, 32, 7, dtype=bool)},
    "the mask shows a key too many": {"hidden": ~np.tri(24, 32, 9, dtype=bool)},
    "the first query sees the first key alone": {"hidden": ~np.tri(24, 32, dtype=bool)},
    "no scale": {"scale": 16**0.5},
    "the scale of the other size": {"scale": (16 / 20) ** 0.5},
    "heads of keys in turns": {"order": np.array([0, 1, 0, 1])},
    "heads swapped": {"order": np.array([1, 1, 0, 0])},
    "the last key is left out": {"skip_last": True},
}


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_kernel_is_caught(mistake, precision):
    """The check of a small problem refuses it at every precision, and takes the right one."""
    problem = Attention(2, 4, 2, 24, 32, 16, 16, causal=True)
    drawn = family.inputs(problem, precision)
    judge = families.references(problem, drawn, precision, "forward")[""]
    assert accepts(judge, computed(problem, drawn))
    assert not accepts(judge, computed(problem, drawn, **WRONG[mistake]))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_wrong_gradients_are_caught(precision):
    """Scaled twice, of one query head of a group alone, or without the sum of do·o."""
    problem = Attention(1, 4, 2, 24, 24, 16, 16, causal=True)
    drawn = family.inputs(problem, precision)
    judges = families.references(problem, drawn, precision, "backward")
    truth = {name: judge.everywhere()[0] for name, judge in judges.items()}
    assert all(accepts(judge, truth[name]) for name, judge in judges.items())
    for name, judge in judges.items():
        assert not accepts(judge, truth[name] / 4)
        assert not accepts(judge, np.roll(truth[name], 1, axis=2))
    alone = Attention(1, 2, 2, 24, 24, 16, 16, causal=True)
    one = family.inputs(alone, precision)
    for name in ("q", "k", "v", "gradient"):
        values = getattr(drawn, name)
        one.__dict__[name] = values if name in "kv" else values[:, ::2]
    of_one = families.references(alone, one, precision, "backward")
    for name in (family.KEY_GRADIENT, family.VALUE_GRADIENT):
        assert not accepts(judges[name], of_one[name].everywhere()[0])


@pytest.mark.parametrize(
    ("id", "reason"),
    [
        ("attention_b1_h6_kv4_q8_s8_d16_v16", "6 query heads are no multiple of 4 heads"),
        ("attention_b1_h4_kv4_q8_s7_d16_v16_causal", "8 causal queries need as many keys, not 7"),
        ("attention_b1_h4_kv0_q8_s7_d16_v16", "hkv is '0'"),
        ("attention_decode_b1_h4_kv2_q4_s3_d8_v8", "a cache of 3 tokens is shorter than the 4"),
        ("attention_decode_b1_h4_kv3_q1_s3_d8_v8", "4 query heads are no multiple of 3 heads"),
        ("attention_decode_b1_h4_kv1_q1_s3_d8_v9_latent", "values of 9 numbers are no part of"),
    ],
)
def test_what_cannot_exist_is_one_line(id, reason):
    """The line names the id and its fault."""
    name = "attention_decode" if "decode" in id else "attention"
    with pytest.raises(DeepbenchError, match=reason) as caught:
        problem_of(name, id)
    assert 1 == len(str(caught.value).splitlines())


def test_listed_problems_can_exist_and_read_well():
    """A title as a reader would write it."""
    every = (*load("attention"), *load("attention_decode"))
    listed = {problem.id: problem for problem in every}
    assert {""} == {problem.impossible() for problem in listed.values()}
    titles = {
        "attention_b1_h64_kv8_q1024_s1024_d128_v128_causal":
            "attention 64 heads of 128, 8 KV heads, 1024 x 1024, causal",
        "attention_decode_b2_h128_kv1_q1_s2048_d576_v512_latent":
            "attention 128 heads of 576 (values 512), 1 KV head, 1 x 2048, batch 2, from a latent"
            " cache",
    }  # fmt: skip
    assert titles == {id: listed[id].title for id in titles}


def test_bytes_of_a_step_are_those_of_its_cache():
    """Each key and value is read once; a latent cache holds no values of its own."""
    step = AttentionDecode(2, 4, 2, 1, 100, 8, 8)
    assert 2 * (2 * 2 * 100 * 16 + 2 * 4 * 8 + 2 * 4 * 8) == step.bytes("bfloat16")
    latent = AttentionDecode(2, 4, 1, 1, 100, 12, 8, latent=True)
    assert 2 * (2 * 100 * 12 + 2 * 4 * 12 + 2 * 4 * 8) == latent.bytes("bfloat16")


def test_bytes_of_a_gradient():
    """q, k, v and the gradient of o are read, the gradients of q, k and v written."""
    problem = Attention(2, 4, 2, 3, 5, 8, 6)
    q, k, v, o = 2 * 4 * 3 * 8, 2 * 2 * 5 * 8, 2 * 2 * 5 * 6, 2 * 4 * 3 * 6
    assert 4 * (q + k + v + o) == problem.bytes_of("float32", "flash_forward")
    for operation in ("backward", "flash_backward"):
        assert 4 * (2 * (q + k + v) + o) == problem.bytes_of("float32", operation)
        assert problem.flops_of("backward") == problem.flops_of(operation)
    assert "math" not in size_checks.problem("attention", problem.sizes()).title


def test_the_next_kernel_has_every_implementation_of_attention():
    """A kernel of one implementation disables the others for the whole process."""
    torch = pytest.importorskip("torch")
    built("torch", Attention(1, 1, 1, 4, 4, 8, 8), "float32", "math_forward").reset()
    assert not torch.backends.cuda.flash_sdp_enabled()
    built("torch", LinearLayer(2, 3, 4), "float32", "forward").reset()
    assert torch.backends.cuda.flash_sdp_enabled()
