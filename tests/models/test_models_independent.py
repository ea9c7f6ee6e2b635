"""Our networks and those of transformers and MONAI: the same scores from the same weights."""

import re

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from deepbench_ops.models.bert import Answering, Classifier, Pretraining  # noqa: E402
from deepbench_ops.models.densenet import DenseNet  # noqa: E402
from deepbench_ops.models.llama import Decoder, DecodeStep, Prefill  # noqa: E402
from deepbench_ops.models.mixture_of_experts import MixtureLayer  # noqa: E402
from deepbench_ops.models.mobilenet import MobileNetV2  # noqa: E402
from deepbench_ops.models.resnet import ResNet  # noqa: E402
from deepbench_ops.models.torch_weights import filled  # noqa: E402
from deepbench_ops.models.vision_transformer import VisionTransformer  # noqa: E402
from deepbench_ops.models.xlnet import XLNet  # noqa: E402

pytestmark = pytest.mark.slow

WORDS, WIDTH, HEADS, LAYERS, LENGTH = 211, 32, 4, 2, 13


def _bert(kind):
    sizes = (LAYERS, WIDTH, HEADS, WORDS)
    config = transformers.BertConfig(
        vocab_size=WORDS,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
    )
    return filled(lambda: kind(*sizes)).double().eval(), config


def _sentences():
    made = torch.Generator().manual_seed(3)
    words = torch.randint(WORDS, (3, LENGTH), generator=made)
    return words, torch.randint(2, (3, LENGTH), generator=made)


def _in_order(ours, theirs):
    """Copy parameters in the order in which both list them; shapes must agree."""
    mine, others = list(ours.parameters()), list(theirs.parameters())
    assert [p.shape for p in mine] == [p.shape for p in others]
    with torch.no_grad():
        for own, other in zip(mine, others, strict=True):
            other.copy_(own)


def _renamed(ours, patterns):
    """Return the parameters of a network by name, after each pattern of a name is replaced."""
    found = {}
    for name, values in ours.state_dict().items():
        for pattern, text in patterns:
            name = re.sub(pattern, text, name)
        found[name] = values
    return found


def _by_name(ours, theirs, renamed, unused=()):
    """Copy parameters whose names agree once `renamed` was applied to ours."""
    state = theirs.state_dict()
    copied = set()
    for name, values in _renamed(ours, renamed).items():
        assert state[name].shape == values.shape, name
        state[name].copy_(values)
        copied.add(name)
    assert {name for name in state if name not in copied} <= set(unused)
    theirs.load_state_dict(state)


def test_bert_classifies_as_the_reference_does():
    ours, config = _bert(Classifier)
    theirs = transformers.BertForSequenceClassification(config).double().eval()
    _in_order(ours, theirs)
    words, segments = _sentences()
    expected = theirs(input_ids=words, token_type_ids=segments).logits
    assert torch.allclose(expected, ours(words, segments))


def test_bert_answers_as_the_reference_does():
    ours, config = _bert(Answering)
    theirs = transformers.BertForQuestionAnswering(config).double().eval()
    _in_order(ours, theirs)
    words, segments = _sentences()
    found = theirs(input_ids=words, token_type_ids=segments)
    expected = torch.stack([found.start_logits, found.end_logits], 2)
    assert torch.allclose(expected, ours(words, segments))


def test_bert_guesses_masked_words_as_the_reference_does():
    ours, config = _bert(Pretraining)
    theirs = transformers.BertForPreTraining(config).double().eval()
    renamed = [
        (r"^encoder\.words", "bert.embeddings.word_embeddings"),
        (r"^encoder\.places", "bert.embeddings.position_embeddings"),
        (r"^encoder\.segments", "bert.embeddings.token_type_embeddings"),
        (r"^encoder\.normalised", "bert.embeddings.LayerNorm"),
        (r"^encoder\.layers\.(\d+)\.normalised", r"bert.encoder.layer.\1.output.LayerNorm"),
        (r"^encoder\.layers", "bert.encoder.layer"),
        (r"attention\.(query|key|value)", r"attention.self.\1"),
        (r"attention\.projected", "attention.output.dense"),
        (r"attention\.normalised", "attention.output.LayerNorm"),
        (r"widened", "intermediate.dense"),
        (r"narrowed", "output.dense"),
        (r"^pooled", "bert.pooler.dense"),
        (r"^following", "cls.seq_relationship"),
        (r"^guessing", "cls.predictions.transform.dense"),
        (r"^guess_normalised", "cls.predictions.transform.LayerNorm"),
        (r"^guess_bias", "cls.predictions.bias"),
    ]
    tied = ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")
    _by_name(ours, theirs, renamed, (*tied, "bert.embeddings.position_ids"))
    words, segments = _sentences()
    masked = torch.tensor([[0, 3], [5, 1], [12, 7]])
    found = theirs(input_ids=words, token_type_ids=segments)
    guessed, following = ours(words, segments, masked)
    picked = torch.stack([found.prediction_logits[i, masked[i]] for i in range(3)])
    assert torch.allclose(picked.reshape(6, WORDS), guessed)
    assert torch.allclose(found.seq_relationship_logits, following)


def test_xlnet_classifies_as_the_reference_does():
    ours = filled(lambda: XLNet(LAYERS, WIDTH, HEADS, WORDS)).double().eval()
    config = transformers.XLNetConfig(
        vocab_size=WORDS,
        d_model=WIDTH,
        n_layer=LAYERS,
        n_head=HEADS,
        d_inner=4 * WIDTH,
        num_labels=2,
    )
    theirs = transformers.XLNetForSequenceClassification(config).double().eval()
    renamed = [
        (r"^words", "transformer.word_embedding"),
        (r"^layers", "transformer.layer"),
        (r"attention\.query", "rel_attn.q"),
        (r"attention\.key", "rel_attn.k"),
        (r"attention\.value", "rel_attn.v"),
        (r"attention\.distance_bias", "rel_attn.r_r_bias"),
        (r"attention\.distance", "rel_attn.r"),
        (r"attention\.projected", "rel_attn.o"),
        (r"attention\.word_bias", "rel_attn.r_w_bias"),
        (r"attention\.segment_bias", "rel_attn.r_s_bias"),
        (r"attention\.segments", "rel_attn.seg_embed"),
        (r"attention\.normalised", "rel_attn.layer_norm"),
        (r"widened", "ff.layer_1"),
        (r"narrowed", "ff.layer_2"),
        (r"(\d)\.normalised", r"\1.ff.layer_norm"),
        (r"^summary", "sequence_summary.summary"),
        (r"^scores", "logits_proj"),
    ]
    _by_name(ours, theirs, renamed, ("transformer.mask_emb",))
    words, segments = _sentences()
    expected = theirs(input_ids=words, token_type_ids=segments).logits
    assert torch.allclose(expected, ours(words, segments), atol=1e-6)


@pytest.mark.parametrize("bottleneck", [False, True])
@pytest.mark.parametrize("stride_first", [False, True])
def test_resnet_scores_as_the_reference_does(bottleneck, stride_first):
    form = {"bottleneck": bottleneck, "stride_first": stride_first, "classes": 11}
    ours = filled(lambda: ResNet((2, 1), **form)).double().eval()
    wide = 4 if bottleneck else 1
    config = transformers.ResNetConfig(
        hidden_sizes=[64 * wide, 128 * wide],
        depths=[2, 1],
        layer_type="bottleneck" if bottleneck else "basic",
        downsample_in_bottleneck=stride_first,
        num_labels=11,
    )
    theirs = transformers.ResNetForImageClassification(config).double().eval()
    last = 2 if bottleneck else 1
    renamed = [
        (r"^stem", "resnet.embedder.embedder"),
        (r"^stages\.([01])\.", r"resnet.encoder.stages.0.layers.\1."),
        (r"^stages\.2\.", "resnet.encoder.stages.1.layers.0."),
        (r"\.first\.", ".layer.0."),
        (r"\.middle\.", ".layer.1."),
        (r"\.last\.", f".layer.{last}."),
        (r"^scores", "classifier.1"),
        (r"(embedder|shortcut|layer\.\d)\.0\.", r"\1.convolution."),
        (r"(embedder|shortcut|layer\.\d)\.1\.", r"\1.normalization."),
    ]
    _by_name(ours, theirs, renamed)
    images = torch.rand(2, 3, 48, 48, generator=torch.Generator().manual_seed(1)).double()
    assert torch.allclose(theirs(pixel_values=images).logits, ours(images))


def test_densenet_scores_as_the_reference_does():
    """Both begin with twice the growth in channels."""
    nets = pytest.importorskip("monai.networks.nets")
    ours = filled(lambda: DenseNet((2, 3), 8, 11)).double().eval()
    theirs = nets.DenseNet(2, 3, 11, init_features=16, growth_rate=8, block_config=(2, 3))
    theirs = theirs.double().eval()
    _in_order(ours, theirs)
    images = torch.rand(2, 3, 64, 64, generator=torch.Generator().manual_seed(1)).double()
    assert torch.allclose(theirs(images), ours(images))


def test_mobilenet_scores_as_the_reference_does():
    ours = filled(lambda: MobileNetV2()).double().eval()
    config = transformers.MobileNetV2Config(
        tf_padding=False, num_labels=1000, layer_norm_eps=1e-5, image_size=64
    )
    theirs = transformers.MobileNetV2ForImageClassification(config).double().eval()
    _in_order(ours, theirs)
    images = torch.rand(2, 3, 64, 64, generator=torch.Generator().manual_seed(1)).double()
    assert torch.allclose(theirs(pixel_values=images).logits, ours(images))


ATTENTION = [
    (r"attention\.query\.", "self_attn.q_proj."),
    (r"attention\.key\.", "self_attn.k_proj."),
    (r"attention\.value\.", "self_attn.v_proj."),
    (r"attention\.projected\.", "self_attn.o_proj."),
    (r"attention\.query_norm\.", "self_attn.q_norm."),
    (r"attention\.key_norm\.", "self_attn.k_norm."),
    (r"attention_norm\.", "input_layernorm."),
    (r"(mlp|experts)_norm\.", "post_attention_layernorm."),
]
"""Names of a decoder layer's attention and normalisations."""

DECODER = [
    *ATTENTION,
    (r"^words\.", "model.embed_tokens."),
    (r"^normalised\.", "model.norm."),
    (r"^layers\.", "model.layers."),
    (r"mlp\.(gate|up|down)\.", r"mlp.\1_proj."),
]
THETA = 500_000.0


def _llama(kind, **options):
    """Our decoder and that of transformers, of the same weights, in float64."""
    sizes = {"layers": LAYERS, "width": WIDTH, "heads": HEADS, "kv_heads": 2, "inside": 48}
    options = {**sizes, "vocabulary": WORDS, "theta": THETA, **options}
    ours = filled(lambda: kind(**options)).double().eval()
    config = transformers.LlamaConfig(
        vocab_size=WORDS,
        hidden_size=WIDTH,
        intermediate_size=48,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=2,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": THETA},
        tie_word_embeddings=True,
    )
    theirs = transformers.LlamaForCausalLM(config).double().eval()
    _by_name(ours, theirs, DECODER, ("lm_head.weight",))
    return ours, theirs


@torch.no_grad()
def test_llama_scores_every_word_as_the_reference_does():
    ours, theirs = _llama(Decoder)
    words, _ = _sentences()
    assert torch.allclose(theirs(input_ids=words).logits, ours(words), atol=1e-6)


@torch.no_grad()
def test_llama_scores_the_word_behind_a_prompt_as_the_reference_does():
    ours, theirs = _llama(Prefill)
    words, _ = _sentences()
    assert torch.allclose(theirs(input_ids=words).logits[:, -1], ours(words), atol=1e-6)


@torch.no_grad()
def test_llama_decodes_a_word_behind_a_cache_as_the_reference_does():
    """With the keys and values that transformers keeps of the earlier words."""
    ours, theirs = _llama(DecodeStep, start=LENGTH - 1)
    words, _ = _sentences()
    cache = theirs(input_ids=words[:, :-1], use_cache=True).past_key_values
    keys, values = (
        torch.stack([getattr(layer, name).clone() for layer in cache.layers], 1)
        for name in ("keys", "values")
    )
    expected = theirs(input_ids=words[:, -1:], past_key_values=cache).logits[:, -1]
    assert torch.allclose(expected, ours(words[:, -1:], keys, values), atol=1e-6)


@torch.no_grad()
def test_a_qwen3_mixture_of_experts_computes_as_the_reference_does():
    """In float32 by torch's grouped product, and in float64 one expert after the other."""
    modeling = pytest.importorskip("transformers.models.qwen3_moe.modeling_qwen3_moe")
    sizes = {"width": WIDTH, "heads": 4, "kv_heads": 2, "size": 16}
    ours = filled(
        lambda: MixtureLayer(**sizes, experts=6, chosen=2, inside=24, theta=1_000_000.0)
    ).eval()
    config = transformers.Qwen3MoeConfig(
        hidden_size=WIDTH,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        moe_intermediate_size=24,
        num_experts=6,
        num_experts_per_tok=2,
        norm_topk_prob=True,
        rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "default", "rope_theta": 1_000_000.0},
        attn_implementation="eager",
        experts_implementation="eager",
    )
    theirs = modeling.Qwen3MoeDecoderLayer(config, 0).eval()
    state = _renamed(ours, [*ATTENTION, (r"experts\.router\.", "mlp.gate.")])
    gate, up, down = (
        state.pop(f"experts.{name}").unflatten(0, (6, -1)) for name in ("gate", "up", "down")
    )
    state["mlp.experts.gate_up_proj"] = torch.cat((gate, up), 1)
    state["mlp.experts.down_proj"] = down
    theirs.load_state_dict(state)
    given = torch.rand(3, LENGTH, WIDTH, generator=torch.Generator().manual_seed(2)) - 0.5
    places = torch.arange(LENGTH)[None]
    hidden = torch.full((LENGTH, LENGTH), -torch.inf).triu(1)[None, None]
    for dtype, within in ((torch.float32, 1e-5), (torch.float64, 2e-6)):
        ours, theirs, typed = ours.to(dtype), theirs.to(dtype), given.to(dtype)
        tables = modeling.Qwen3MoeRotaryEmbedding(config)(typed, places)
        expected = theirs(typed, position_embeddings=tables, attention_mask=hidden.to(dtype))
        expected = expected[0] if isinstance(expected, tuple) else expected
        assert torch.allclose(expected, ours(typed), atol=within)


@torch.no_grad()
def test_a_vision_transformer_scores_as_the_reference_does():
    sizes = {"layers": LAYERS, "width": WIDTH, "heads": HEADS, "patch": 16, "picture": 48}
    ours = filled(lambda: VisionTransformer(**sizes, classes=11)).double().eval()
    config = transformers.ViTConfig(
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
        image_size=48,
        patch_size=16,
        layer_norm_eps=1e-6,
        num_labels=11,
    )
    theirs = transformers.ViTForImageClassification(config).double().eval()
    renamed = [
        (r"^patches\.", "vit.embeddings.patch_embeddings.projection."),
        (r"^places", "vit.embeddings.position_embeddings"),
        (r"^first", "vit.embeddings.cls_token"),
        (r"^normalised\.", "vit.layernorm."),
        (r"^layers\.", "vit.layers."),
        (r"attention_norm\.", "layernorm_before."),
        (r"mlp_norm\.", "layernorm_after."),
        (r"\.(q|k|v)(uery|ey|alue)\.", r".attention.\1_proj."),
        (r"projected\.", "attention.o_proj."),
        (r"widened\.", "mlp.fc1."),
        (r"narrowed\.", "mlp.fc2."),
        (r"^scores\.", "classifier."),
    ]
    names = {name for name, _ in theirs.named_parameters()}
    state = {
        name: values[None] if "_token" in name or "position_" in name else values
        for name, values in _renamed(ours, renamed).items()
    }
    assert names == set(state)
    theirs.load_state_dict(state, strict=False)
    images = torch.rand(2, 3, 48, 48, generator=torch.Generator().manual_seed(1)).double()
    assert torch.allclose(theirs(pixel_values=images).logits, ours(images))
