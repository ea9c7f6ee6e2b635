"""Modern networks: published numbers of parameters, FLOPs written out, tokens per second."""

import numpy as np
import pytest

from deepbench_ops import problems
from deepbench_ops.backends import families
from deepbench_ops.backends.families.model import memory_needed
from deepbench_ops.distributed.training.training_request import TrainingRequest
from deepbench_ops.errors import DeepbenchError, Unsupported
from deepbench_ops.measure import kernel_measurement
from deepbench_ops.models.network_catalogue import NETWORKS
from deepbench_ops.problems.model import Model, network_sizes
from deepbench_ops.problems.selections import select

torch = pytest.importorskip("torch")

from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

from deepbench_ops.backends.torch_backend.backend import TorchBackend  # noqa: E402
from deepbench_ops.backends.torch_backend.model_reference import InferenceReference  # noqa: E402
from deepbench_ops.models import grouped_product, mixture_of_experts, transformer_layers  # noqa: E402
from deepbench_ops.models.mixture_of_experts import Experts  # noqa: E402
from deepbench_ops.models.torch_weights import filled  # noqa: E402

TODAY = [name for name in NETWORKS if any(p.name == name for p in problems.load("model", "modern"))]

LAYERS, WIDTH, HEADS, KV_HEADS, INSIDE, WORDS = 16, 2048, 32, 8, 8192, 128_256
"""Of Llama-3.2-1B: meta-llama/Llama-3.2-1B, config.json."""

HEAD = WIDTH // HEADS
MATRICES = WIDTH * HEADS * HEAD * 2 + WIDTH * KV_HEADS * HEAD * 2 + 3 * WIDTH * INSIDE
"""Weights of the products of one of its layers."""


def test_llama_has_the_published_number_of_parameters():
    """1,235,814,400, as the model's page counts them, words' vectors once."""
    counted = WORDS * WIDTH + LAYERS * (MATRICES + 2 * WIDTH) + WIDTH
    assert 1_235_814_400 == counted
    for name in ("llama_1b_prefill_128", "llama_1b_decode_512"):
        assert counted == network_sizes()[name].parameters
        assert counted == network_sizes()[name].dense


def test_the_trained_llama_has_four_of_the_layers_and_fits_in_24_gib():
    size = network_sizes()["llama_1b_4layers_128"]
    assert WORDS * WIDTH + 4 * (MATRICES + 2 * WIDTH) + WIDTH == size.parameters
    assert 24 * 2**30 > memory_needed(Model("llama_1b_4layers_128", 4), "training_step")
    whole = Model("llama_1b_4layers_128", 1)
    more = network_sizes()["llama_1b_prefill_128"].parameters - size.parameters
    assert 24 * 2**30 < memory_needed(whole, "training_step") + 1.5 * 4 * 5 * more


def test_48_of_the_mixture_layers_and_the_words_have_qwens_number_of_parameters():
    """30.5 billion, 29.9 without the words' vectors at both ends: Qwen/Qwen3-30B-A3B's page."""
    layer = network_sizes()["qwen3_30b_a3b_layer_128"].parameters
    assert 29.9e9 == pytest.approx(48 * layer, rel=0.002)
    assert 30.5e9 == pytest.approx(48 * layer + 2 * 151_936 * 2048, rel=0.002)


def test_vit_has_the_published_number_of_parameters():
    """86,567,656, as torchvision's and transformers' ViT-B/16 of 1000 classes have."""
    assert 86_567_656 == network_sizes()["vit_b16"].parameters


def test_a_prompts_flops_are_those_of_its_products_written_out():
    """The scores of the last token alone, and of attention the pairs that are not masked."""
    pairs = 128 * 129 // 2
    products = 128 * LAYERS * MATRICES + LAYERS * 2 * WIDTH * pairs + WORDS * WIDTH
    assert 2 * products == network_sizes()["llama_1b_prefill_128"].flops


def test_a_decoding_steps_flops_are_those_of_one_token_that_sees_513():
    products = LAYERS * MATRICES + LAYERS * 2 * WIDTH * 513 + WORDS * WIDTH
    assert 2 * products == network_sizes()["llama_1b_decode_512"].flops


def test_a_training_steps_flops_are_three_times_those_of_four_layers():
    """Every token is scored; the gradient of no product is left out."""
    pairs = 128 * 129 // 2
    forward = 2 * (128 * (4 * MATRICES + WORDS * WIDTH) + 4 * 2 * WIDTH * pairs)
    size = network_sizes()["llama_1b_4layers_128"]
    assert (forward, 3 * forward) == (size.flops, size.step)


def test_the_mixture_layers_flops_are_those_of_eight_experts_a_token():
    attention = 2048 * 128 * (32 + 4 + 4 + 32)
    experts = 2048 * 128 + 8 * 3 * 2048 * 768
    pairs = 128 * 129 // 2
    products = 128 * (attention + experts) + 2 * 32 * 128 * pairs
    assert 2 * products == network_sizes()["qwen3_30b_a3b_layer_128"].flops


def test_vits_flops_are_those_of_its_products_written_out():
    patches, width = 14 * 14, 768
    layer = (patches + 1) * 12 * width**2 + 2 * (patches + 1) ** 2 * width
    products = patches * 3 * 16 * 16 * width + 12 * layer + width * 1000
    assert 2 * products == network_sizes()["vit_b16"].flops


@pytest.mark.parametrize(
    ("id", "items"),
    [
        ("llama_1b_prefill_128_b4", 4 * 128),
        ("llama_1b_decode_512_b8", 8),
        ("llama_1b_4layers_128_b1", 128),
        ("qwen3_30b_a3b_layer_128_b1", 128),
        ("vit_b16_b8", 8),
    ],
)
def test_throughput_is_in_tokens_or_images(id, items):
    """Whatever the batch counts: over the seconds these are tokens, or images, a second."""
    problem = problems.find("model", id)
    assert items == problem.items
    assert ("images" if "vit" in id else "tokens") == problem.network.item


def test_a_cache_is_read_once():
    """Keys and values of 512 tokens in each layer, with the token's own vector."""
    cache = 2 * LAYERS * KV_HEADS * 512 * HEAD
    assert cache + WIDTH == network_sizes()["llama_1b_decode_512"].reads


def test_every_network_of_today_is_selected_once():
    chosen = select("models-modern")
    assert sorted(TODAY) == sorted(each.problem.name for each in chosen)
    assert {"modern"} == {each.set for each in chosen}


@pytest.mark.parametrize("name", TODAY)
def test_problems_of_today_say_where_they_are_from_and_what_is_timed(name):
    for problem in problems.load("model"):
        if problem.name == name:
            assert problem.source and problem.application and problem.note
            trained = "training_step" in problem.timed_operations
            assert not (trained and NETWORKS[name].untrained)


def test_the_suite_measures_each_network_of_today_once():
    suite = pytest.importorskip("deepbench_ops.suite.model")
    found = [
        (problem, name)
        for kind in (suite.Modern, suite.ModernFull)
        for name in ("forward", "training_step")
        for problem in getattr(kind, f"kernel_{name}").params[0]
    ]
    expected = [
        (problem.id, operation)
        for problem in problems.load("model", "modern_full")
        for operation in problem.timed_operations
    ]
    assert sorted(expected) == sorted(found)


@pytest.mark.parametrize("name", [name for name in TODAY if NETWORKS[name].untrained])
def test_a_network_that_is_not_trained_says_why(name):
    """To asv, and to ranks that would share the training."""
    with pytest.raises(Unsupported, match=f"{name} is not trained: it is"):
        TorchBackend().build(Model(name, 1, whole=False), "float32", "training_step")
    with pytest.raises(DeepbenchError, match=f"{name} is not trained: it is"):
        TrainingRequest(name, 1)


def test_a_network_that_does_not_fit_is_refused_before_it_is_built(monkeypatch):
    backend = TorchBackend()
    monkeypatch.setattr(backend, "memory_available", lambda: 8e9)
    problem = problems.find("model", "llama_1b_prefill_128_b1")
    with pytest.raises(
        Unsupported, match=r"needs about 2\.\d+e\+10 bytes of memory on cpu, and 8e\+09"
    ):
        kernel_measurement.demand_memory(backend, problem, "float32", "forward")


def test_torch_counts_a_mixture_that_runs_as_its_formula_does():
    """On a twin in float64, whose experts are products one after the other."""
    form = NETWORKS["qwen3_30b_a3b_layer_128"].small
    module = filled(lambda: NETWORKS["qwen3_30b_a3b_layer_128"].make(form)).double().eval()
    (given,) = (torch.from_numpy(each).double() for each in form.inputs(2))
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        module(given)
    attention = 32 * 8 * (4 + 2 + 2 + 4)
    experts = 32 * 6 + 2 * 3 * 32 * 24
    assert 2 * 2 * 13 * (attention + experts) == counter.get_total_flops() - _seen(2, 4, 13, 8)


def _seen(n, heads, length, size):
    """FLOPs of attention without a mask, which torch counts on this device, or not at all."""
    with FlopCounterMode(display=False) as counter:
        given = torch.rand(n, heads, length, size, dtype=torch.float64)
        torch.nn.functional.scaled_dot_product_attention(given, given, given, is_causal=True)
    return counter.get_total_flops()


@pytest.mark.parametrize("chosen", [1, 2, 5])
def test_experts_add_up_what_the_chosen_ones_make(chosen):
    """Also those that no row goes to, in the order of the rows."""
    layer = filled(lambda: Experts(16, 6, chosen, 8)).double()
    rows = torch.rand(7, 16, generator=torch.Generator().manual_seed(5)).double() - 0.5
    gate, up, down = (each.unflatten(0, (6, -1)) for each in (layer.gate, layer.up, layer.down))
    taken, experts = layer.router(rows).topk(chosen)
    expected = torch.zeros_like(rows)
    for row in range(len(rows)):
        for share, expert in zip(taken[row].softmax(0), experts[row].tolist(), strict=True):
            hidden = torch.nn.functional.silu(gate[expert] @ rows[row]) * (up[expert] @ rows[row])
            expected[row] += share * (down[expert] @ hidden)
    assert torch.allclose(expected, layer(rows))


def test_another_expert_is_allowed_only_where_rounding_decides():
    """In bfloat16 tokens whose last two experts score nearly alike; in float32 hardly any."""
    twin = families.small(Model("qwen3_30b_a3b_layer_128", 2))
    allowed = (
        InferenceReference("bfloat16", TorchBackend(), twin).everywhere()[1].reshape(2, 13, 32)
    )
    usual = allowed.min((1, 2), keepdims=True)  # of each item, which may have larger outputs
    unsettled = allowed > usual
    assert np.array_equal(unsettled.all(2), unsettled.any(2))
    assert 0 < unsettled.mean() < 0.5
    exact = InferenceReference("float32", TorchBackend(), twin).everywhere()[1].reshape(2, -1)
    assert np.array_equal(exact.min(1), exact.max(1))


def test_releases_without_their_operations_are_refused(monkeypatch):
    """By name, before anything is allocated."""
    known = NETWORKS["llama_1b_decode_512"]
    monkeypatch.setattr(transformer_layers.torch, "__version__", "2.4.1")
    with pytest.raises(Unsupported, match=r"torch 2\.4\.1 .*from torch 2\.5 on"):
        known.make(known.whole)
    monkeypatch.undo()
    monkeypatch.setattr(mixture_of_experts, "grouped_product", _missing)
    layer = NETWORKS["qwen3_30b_a3b_layer_128"]
    with pytest.raises(Unsupported, match="no grouped product"):
        layer.make(layer.whole)


def _missing():
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patched:
        patched.delattr(torch.nn.functional, "grouped_mm", raising=False)
        patched.delattr(torch, "_grouped_mm", raising=False)
        return grouped_product.grouped_product()
