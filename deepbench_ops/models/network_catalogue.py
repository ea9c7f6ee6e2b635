"""The networks of the published tables, and modern ones: sizes, inputs, loss and optimiser.

Where a table leaves something open, it is decided here and the network's note says so. Two networks
of the same name in two tables are one entry if no difference between them is known.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from deepbench_ops.errors import Unsupported
from deepbench_ops.models import batches
from deepbench_ops.models.batches import Form
from deepbench_ops.problems.suggestions import unknown

RECIPE_NOTES = {
    "momentum": "SGD, momentum 0.9, weight decay 1e-4",
    "descent": "SGD without momentum",
    "adam": "Adam",
    "adamw": "AdamW, weight decay 0.01 but for biases and normalisations",
    "lamb": "LAMB, weight decay 0.01 but for biases and normalisations",
    "ftrl_adam": "FTRL for the wide part, Adam for the deep one",
}
STATES = {"momentum": 1, "descent": 0, "adam": 2, "adamw": 2, "lamb": 2, "ftrl_adam": 2}
"""Numbers of optimiser state for each weight, by recipe."""


@dataclass(frozen=True)
class Network:
    """One network of the tables.

    module, builder: module and name of its class. whole, small: its form of full size, and that of
    the small twin which is checked against float64. loss: key of `models.training_steps.LOSSES`.
    recipe: training of its source, key of RECIPE_NOTES. item: unit of throughput; items: number of
    these in one input. note: the choice where its table leaves it open, and its reason. untrained:
    reason why it is not trained, "" if it is.
    """

    name: str
    module: str
    builder: str
    whole: Form
    small: Form
    loss: str = "classes"
    recipe: str = "momentum"
    item: str = "images"
    note: str = ""
    items: int = 1
    untrained: str = ""

    def demand_trained(self) -> None:
        """Raise Unsupported, with the reason, for a network that is not trained."""
        if self.untrained:
            raise Unsupported(f"{self.name} is not trained: {self.untrained}")

    def make(self, form: Form, within: str = "") -> Any:
        """Return the network in torch, in one of its two forms; imports torch.

        within: "mindspore" for the network in MindSpore. Raises Unsupported where this project does
        not have it in that framework.
        """
        place = (
            f"{__package__}.{within}.{self.module}" if within else f"{__package__}.{self.module}"
        )
        kind = getattr(import_module(place), self.builder, None) if find_spec(place) else None
        if kind is None:
            raise Unsupported(f"{self.name} is available in torch only, not in {within}")
        return kind(**form.options)


GUESSED = 20
"""Number of masked words in a sentence of 128 words: max_predictions_per_seq of BERT's code."""

_SMALL_IMAGE, _SMALL_CLASSES, _SMALL_WORDS = 48, 11, 211
_BERT_BASE = {"layers": 12, "width": 768, "heads": 12}
_BERT_LARGE = {"layers": 24, "width": 1024, "heads": 16}
_BERT_SMALL = {"layers": 2, "width": 32, "heads": 4}
_DLRM = {"bottom": (512, 512, 64), "top": (1024, 1024, 1024, 1)}
_SMALL_DLRM = {"bottom": (19, 16, 8), "top": (31, 1)}
_CRITEO_HIDDEN = (1024, 512, 256, 128)
_GOOGLENET = (
    ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)),
    (
        (192, 96, 208, 16, 48, 64),
        (160, 112, 224, 24, 64, 64),
        (128, 128, 256, 24, 64, 64),
        (112, 144, 288, 32, 64, 64),
        (256, 160, 320, 32, 128, 128),
    ),
    ((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)),
)
"""The paper's table 1, modules 3a to 5b: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj."""
_GOOGLENET_SMALL = (((8, 6, 8, 4, 8, 8),), ((8, 6, 16, 4, 8, 8), (16, 6, 8, 4, 8, 8)))
_MOBILENET_SMALL = ((1, 8, 1, 1), (6, 16, 2, 2), (6, 24, 2, 1))


def _resnet(name: str, blocks: tuple[int, ...], note: str = "", **options: object) -> Network:
    return Network(
        name,
        "resnet",
        "ResNet",
        whole=batches.images(224, 1000, blocks=blocks, **options),
        small=batches.images(_SMALL_IMAGE, _SMALL_CLASSES, blocks=(1, 2), **options),
        note=note,
    )


def _bert(
    name: str,
    length: int,
    builder: str = "Classifier",
    large: bool = False,
    vocabulary: int = 30522,
    recipe: str = "adamw",
    note: str = "",
) -> Network:
    size = _BERT_LARGE if large else _BERT_BASE
    if builder == "Pretraining":
        whole = batches.masked_sentences(length, vocabulary, GUESSED, **size)
        least = batches.masked_sentences(13, _SMALL_WORDS, 5, **_BERT_SMALL)
    else:
        form = batches.answers if builder == "Answering" else batches.sentences
        whole = form(length, vocabulary, **size)
        least = form(13, _SMALL_WORDS, **_BERT_SMALL)
    return Network(
        name,
        "bert",
        builder,
        whole=whole,
        small=least,
        loss={"Answering": "answer", "Pretraining": "pretraining"}.get(builder, "classes"),
        recipe=recipe,
        item="sentences",
        note=note,
    )


_CLASSIFIED = (
    "The table names the length alone: BERT base, uncased vocabulary, with the original's head for"
    " two classes; sentences fill the whole length"
)


def _dlrm(name: str, rows: int, note: str) -> Network:
    return Network(
        name,
        "recommenders",
        "DLRM",
        whole=batches.lookups(8, rows, 100, **_DLRM),
        small=batches.lookups(3, 50, 4, **_SMALL_DLRM),
        loss="clicked",
        recipe="descent",
        item="samples",
        note=note,
    )


_Sizes = dict[str, Any]
_LLAMA_1B: _Sizes = {
    "layers": 16,
    "width": 2048,
    "heads": 32,
    "kv_heads": 8,
    "inside": 8192,
}
_LLAMA_SMALL: _Sizes = {"layers": 2, "width": 32, "heads": 4, "kv_heads": 2, "inside": 48}
_LLAMA: _Sizes = {"vocabulary": 128_256, "theta": 500_000.0}
_LLAMA_TWIN: _Sizes = {"vocabulary": _SMALL_WORDS, "theta": 500_000.0}
_LLAMA_NOTE = (
    "Sizes of meta-llama/Llama-3.2-1B, config.json; positions without that model's scaling of low"
    " frequencies, which changes no amount of work"
)
_SERVED = "it is a part of inference; llama_1b_4layers_128 is trained"
_QWEN_LAYER: _Sizes = {
    "heads": 32,
    "kv_heads": 4,
    "size": 128,
    "experts": 128,
    "chosen": 8,
    "inside": 768,
    "theta": 1_000_000.0,
}
_QWEN_SMALL: _Sizes = {
    "heads": 4,
    "kv_heads": 2,
    "size": 8,
    "experts": 6,
    "chosen": 2,
    "inside": 24,
    "theta": 1_000_000.0,
}

_ALL = (
    _resnet("resnet34", (3, 4, 6, 3), bottleneck=False),
    _resnet(
        "resnet50",
        (3, 4, 6, 3),
        "Version 1: the first 1x1 convolution of a stage strides",
        stride_first=True,
    ),
    _resnet("resnet50_v1p5", (3, 4, 6, 3), "Version 1.5: the 3x3 convolution of a stage strides"),
    _resnet(
        "resnet101",
        (3, 4, 23, 3),
        "Version 1, which the Keras application of that name is",
        stride_first=True,
    ),
    Network(
        "densenet101",
        "densenet",
        "DenseNet",
        whole=batches.images(224, 1000, blocks=(6, 12, 24, 16)),
        small=batches.images(_SMALL_IMAGE, _SMALL_CLASSES, blocks=(2, 3), growth=8),
        note="DenseNet-121: neither the paper nor Keras has a DenseNet of 101 layers (121, 169, 201"
        " and 264 exist), 121 is the smallest and the nearest, and its throughput next to that of"
        " ResNet-101 in the table fits its FLOPs",
    ),
    Network(
        "mobilenet_v2",
        "mobilenet",
        "MobileNetV2",
        whole=batches.images(224, 1000),
        small=batches.images(_SMALL_IMAGE, _SMALL_CLASSES, stages=_MOBILENET_SMALL),
        note="Width 1.0",
    ),
    Network(
        "googlenet",
        "googlenet",
        "GoogLeNet",
        whole=batches.images(224, 10, stages=_GOOGLENET),
        small=batches.images(_SMALL_IMAGE, _SMALL_CLASSES, stages=_GOOGLENET_SMALL),
        note="CIFAR-10's pictures enlarged to 224 x 224, as MindSpore's model collection does: the"
        " published 126.87 minutes on a V100 are far too long for 32 x 32; batch normalisation, no"
        " auxiliary outputs",
    ),
    Network(
        "lstm",
        "sentiment_lstm",
        "SentimentLSTM",
        whole=batches.words(500, 100_000),
        small=batches.words(9, _SMALL_WORDS, width=20, hidden=12),
        recipe="momentum",
        item="reviews",
        note="As in MindSpore's model collection: reviews of 500 words, two layers of 100 in both"
        " directions, given word vectors of 300 that are not trained. The number of words is our"
        " own: it is not stated, and only those that are read cost time",
    ),
    _bert("bert_128", 128, note=_CLASSIFIED),
    _bert("bert_256", 256, note=_CLASSIFIED),
    _bert("bert_512", 512, note=_CLASSIFIED),
    _bert(
        "bert_pretraining_128",
        128,
        "Pretraining",
        vocabulary=21128,
        note="BERT base on Chinese Wikipedia: 21128 words, 20 of 128 masked; the paper names length"
        " and data alone",
    ),
    _bert(
        "bert_large_128",
        128,
        "Pretraining",
        large=True,
        vocabulary=21128,
        recipe="lamb",
        note="Pretraining, 20 of 128 words masked",
    ),
    _bert(
        "bert_large_384",
        384,
        "Answering",
        large=True,
        note="Question answering, for which a length of 384 is used; uncased vocabulary",
    ),
    Network(
        "xlnet",
        "xlnet",
        "XLNet",
        whole=batches.sentences(128, 32000, layers=24, width=1024, heads=16),
        small=batches.sentences(13, _SMALL_WORDS, layers=2, width=32, heads=4),
        recipe="adamw",
        item="sentences",
        note="XLNet-Large as a classifier of 128 words: size and length are not in the table, and"
        " its batch of 8 is that of the original's example of this form",
    ),
    Network(
        "deepfm",
        "recommenders",
        "DeepFM",
        whole=batches.features(39, 184_965, width=10, hidden=(400, 400, 400)),
        small=batches.features(7, 101, width=6, hidden=(16, 8)),
        loss="clicked",
        recipe="adam",
        item="samples",
        note="Layers and vectors as the paper has them for Criteo's 39 fields; 184965 features, as"
        " MindSpore's model collection prepares that data",
    ),
    _dlrm(
        "dlrm",
        10_000,
        "The network of dlrm_1m with tables of 10000 rows: their size is our own, since the table"
        " says no more than that dlrm_1M's are larger",
    ),
    _dlrm(
        "dlrm_1m",
        1_000_000,
        "Eight tables of a million rows of 64, 100 looked up in each: the sizes of the original's"
        " benchmark script",
    ),
    Network(
        "dssm",
        "recommenders",
        "DSSM",
        whole=batches.texts(30_000, 50, 5),
        small=batches.texts(101, 7, 3, hidden=20, width=8),
        loss="first",
        recipe="descent",
        item="samples",
        note="A query with five documents, as the paper trains it; 30000 letter trigrams, 50 a"
        " text, which is our own figure",
    ),
    Network(
        "mmoe",
        "recommenders",
        "MMoE",
        whole=batches.tasks(499, 2, experts=8, width=4, tower=8),
        small=batches.tasks(23, 2, experts=3, width=4, tower=5),
        loss="clicked",
        recipe="adam",
        item="samples",
        note="Sizes of the census-income example that is commonly used: 499 features, eight experts"
        " of 4, two tasks",
    ),
    Network(
        "wide_deep",
        "recommenders",
        "WideDeep",
        whole=batches.features(39, 200_000, width=80, hidden=_CRITEO_HIDDEN),
        small=batches.features(7, 101, width=6, hidden=(16, 8)),
        loss="clicked",
        recipe="ftrl_adam",
        item="samples",
        note="As MindSpore's model collection has it for Criteo: 39 fields of 200000 features,"
        " vectors of 80",
    ),
    Network(
        "llama_1b_prefill_128",
        "llama",
        "Prefill",
        whole=batches.prompts(128, **_LLAMA, **_LLAMA_1B),
        small=batches.prompts(13, **_LLAMA_TWIN, **_LLAMA_SMALL),
        item="tokens",
        items=128,
        note=f"A prompt of 128 tokens to the scores of the next one. {_LLAMA_NOTE}",
        untrained=_SERVED,
    ),
    Network(
        "llama_1b_decode_512",
        "llama",
        "DecodeStep",
        whole=batches.decoding(512, **_LLAMA, **_LLAMA_1B),
        small=batches.decoding(13, **_LLAMA_TWIN, **_LLAMA_SMALL),
        item="tokens",
        note=f"One token behind 512 whose keys and values are given. {_LLAMA_NOTE}",
        untrained=_SERVED,
    ),
    Network(
        "llama_1b_4layers_128",
        "llama",
        "Decoder",
        whole=batches.prompts(128, trained=True, **_LLAMA, **_LLAMA_1B | {"layers": 4}),
        small=batches.prompts(13, trained=True, **_LLAMA_TWIN, **_LLAMA_SMALL),
        loss="words",
        recipe="adamw",
        item="tokens",
        items=128,
        note="4 of 16 layers, which is our own size: with AdamW in float32 all 16 need more than 24"
        f" GiB. Each of 128 tokens guesses the next. {_LLAMA_NOTE}",
    ),
    Network(
        "qwen3_30b_a3b_layer_128",
        "mixture_of_experts",
        "MixtureLayer",
        whole=batches.vectors(128, 2048, **_QWEN_LAYER),
        small=batches.vectors(13, 32, **_QWEN_SMALL),
        item="tokens",
        items=128,
        note="One of the 48 layers, attention and 8 of 128 experts, on 128 tokens. Sizes of"
        " Qwen/Qwen3-30B-A3B, config.json",
        untrained="it is one layer, without a loss",
    ),
    Network(
        "vit_b16",
        "vision_transformer",
        "VisionTransformer",
        whole=batches.images(224, 1000, picture=224, layers=12, width=768, heads=12, patch=16),
        small=batches.images(
            _SMALL_IMAGE,
            _SMALL_CLASSES,
            picture=_SMALL_IMAGE,
            layers=2,
            width=32,
            heads=4,
            patch=16,
        ),
        recipe="adamw",
        note="ViT-B/16 on pictures of 224 x 224, table 1 of arXiv:2010.11929; no dropout, and AdamW"
        " as the optimiser, which is our own choice",
    ),
)
NETWORKS = {network.name: network for network in _ALL}


def network(name: str) -> Network:
    """Return the network of this name; raise DeepbenchError with similar names if none exists."""
    if name not in NETWORKS:
        raise unknown("model", name, tuple(NETWORKS))
    return NETWORKS[name]
