"""Our networks and those of transformers and MONAI: the same scores from the same weights."""

import re

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from deepbench_ops.models.bert import Answering, Classifier, Pretraining  # noqa: E402
from deepbench_ops.models.densenet import DenseNet  # noqa: E402
from deepbench_ops.models.mobilenet import MobileNetV2  # noqa: E402
from deepbench_ops.models.resnet import ResNet  # noqa: E402
from deepbench_ops.models.torch_weights import filled  # noqa: E402
from deepbench_ops.models.xlnet import XLNet  # noqa: E402

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


def _by_name(ours, theirs, renamed, unused=()):
    """Copy parameters whose names agree once `renamed` was applied to ours."""
    state = theirs.state_dict()
    copied = set()
    for name, values in ours.state_dict().items():
        for pattern, text in renamed:
            name = re.sub(pattern, text, name)
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
